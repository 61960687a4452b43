// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes that answer lines of text: those that answer, and those that fail in every way.
#include <bench/child_process.hpp>

#include <doctest/doctest.h>

using namespace bench;

namespace {

std::vector<std::string> shell(char const* script) { return {"sh", "-c", script}; }

std::string complaint(char const* script, std::chrono::seconds limit = std::chrono::seconds(60)) {
  child_process child(shell(script));
  try {
    child.ask("run", limit);
  } catch (std::runtime_error const& e) { return e.what(); }
  return "none";
}

}  // namespace

TEST_CASE("a program that answers is asked again and again") {
  child_process child(shell("while read line; do echo \"ok $line $line\"; done"));
  for (std::string const word : {"one", "two", "output /some/file"}) CHECK(child.ask(word) == word + ' ' + word);
}

TEST_CASE("an answer may arrive in parts, or before it is requested") {
  child_process slow(shell("read line; printf o; sleep 0.1; printf 'k 7'; sleep 0.1; echo 5; read line"));
  CHECK(slow.ask("run") == "75");
  child_process early(shell("echo 'ok 1'; echo ok; read line; read line"));
  CHECK(early.ask("run") == "1");
  CHECK(early.ask("run") == "");
}

TEST_CASE("errors of a program are reported") {
  CHECK(complaint("read line; echo error no such model") == "sh failed: no such model");
  CHECK(complaint("read line; echo nonsense") == "sh answered 'nonsense' to 'run'");
}

TEST_CASE("a program that ends instead of answering is reported") {
  CHECK(complaint("read line; exit 3") == "sh ended with status 3 instead of an answer to 'run'");
  CHECK(complaint("exit 0") == "sh ended with status 0 instead of an answer to 'run'");
  CHECK(complaint("read line; printf 'ok 12'; exit 0") == "sh ended with status 0 instead of an answer to 'run'");
  CHECK(complaint("kill -KILL $$") == "sh was ended by signal 9");
}

TEST_CASE("a program that ended long ago does not end this one") {
  child_process child(shell("exec true"));
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(child.ask("run"), std::runtime_error);
}

TEST_CASE("a silent program is killed") {
  CHECK(complaint("exec sleep 100", std::chrono::seconds(1)) == "sh did not answer in time");
  CHECK_THROWS_AS(run_program_to_end(shell("exec sleep 100"), std::chrono::seconds(1)), std::runtime_error);
}

TEST_CASE("a program that does not exist cannot be started") {
  CHECK_THROWS_AS(child_process({"no-such-program"}), not_started);
  CHECK_THROWS_AS(run_program_to_end({"no-such-program"}, std::chrono::seconds(1)), not_started);
}

TEST_CASE("the exit status of a program and its last line are known") {
  auto const end = [](char const* script) { return run_program_to_end(shell(script), std::chrono::seconds(60)); };
  CHECK(end("true").status == 0);
  CHECK(end("true").said == "");
  CHECK(end("echo one; echo two").said == "two");
  ending const failed = end("echo one; echo why >&2; exit 5");
  CHECK(failed.status == 5);
  CHECK(failed.said == "why");
  CHECK(end("kill -KILL $$").status == 128 + 9);
  CHECK(end("read line || echo nothing to read").said == "nothing to read");
}
