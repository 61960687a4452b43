// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner as a program: its messages and files, and that nothing is lost when it is killed.
#include "tuner_program.hpp"

using namespace testing;

TEST_CASE("a tuner writes the header, the log, the plot and the report") {
  scratch_folder here;
  ending const e =
      run({"--output", here / "board.hpp", "--budget", "120", "--plot", here / "p.svg", "--device", "A\\B"});
  CHECK(e.code == 0);
  CHECK(e.says("step"));
  CHECK(e.says("block 3"));
  CHECK(e.says("sum of the steps"));
  CHECK(e.says("120 trials, 0 of them from the log"));
  CHECK(measurements(here / "board.synthetic_1.jsonl").size() == 121);
  std::string const header = contents(here / "board.hpp");
  CHECK(header.find("device: A/B\n") != header.npos);
  CHECK(header.find("inline constexpr ago::schedule_table board{{\n") != header.npos);
  CHECK(contents(here / "p.svg").starts_with("<svg"));
  CHECK(contents(here / "p.svg").ends_with("</svg>\n"));
  CHECK(here.count() == 3);  // no temporary files
}

TEST_CASE("the same seed gives the same header and log, another seed another log") {
  scratch_folder here;
  for (std::string const name : {"a", "b"})
    CHECK(run({"--output", here / (name + ".hpp"), "--name", "same", "--budget", "100"}).code == 0);
  CHECK(run({"--output", here / "c.hpp", "--budget", "100", "--seed", "2"}).code == 0);
  CHECK(contents(here / "a.hpp") == contents(here / "b.hpp"));
  CHECK(measurements(here / "a.synthetic_1.jsonl") == measurements(here / "b.synthetic_1.jsonl"));
  CHECK(measurements(here / "a.synthetic_1.jsonl") != measurements(here / "c.synthetic_1.jsonl"));
}

TEST_CASE("a search that continues from any line of its log, truncated or whole, ends as if it had never stopped") {
  scratch_folder here;
  std::string const log = here / "board.synthetic_1.jsonl";
  std::vector<std::string> const flags = {"--output", here / "board.hpp", "--budget", "100", "--resume"};
  REQUIRE(run(flags).code == 0);
  std::string const header = contents(here / "board.hpp"), whole = contents(log);
  std::vector<std::string> const lines = measurements(log);
  std::size_t const first = whole.find('\n') + 1;
  for (std::size_t const length :
       {std::size_t(0), first / 2, first, first + 100, whole.size() / 3, whole.size() / 2 + 7,
        whole.rfind('\n', whole.size() - 2) + 1, whole.size() - 1, whole.size()}) {
    CAPTURE(length);
    std::filesystem::remove(here / "board.hpp");
    put(log, whole.substr(0, length));
    ending const e = run(flags);
    CHECK(e.code == 0);
    CHECK(e.says("warning") == (length > 0 && whole[length - 1] != '\n'));
    CHECK(contents(here / "board.hpp") == header);
    CHECK(measurements(log) == lines);
  }
}

TEST_CASE("kill -9 at any moment loses nothing that was logged") {
  scratch_folder here;
  std::vector<std::string> const all = {"--budget", "150", "--resume", "--name", "board"};
  auto flags = [&](std::string const& name) {
    std::vector<std::string> f = all;
    f.insert(f.end(), {"--output", here / (name + ".hpp"), "--log", here / (name + ".jsonl")});
    return f;
  };
  REQUIRE(run(flags("once")).code == 0);

  unsigned state = 12345;  // moments from 0 to about 60 ms
  std::vector<std::string> before;
  int kills = 0;
  for (int round = 0; round < 200; ++round) {
    process p(tuner(flags("killed")), {{"SYNTHETIC_DELAY", "2"}});
    state = state * 1664525 + 1013904223;
    ::usleep((state >> 16) % 60000);
    p.signal(SIGKILL);
    int const code = p.wait();
    kills += code == 128 + SIGKILL;
    std::vector<std::string> now = measurements(here / "killed.jsonl");
    std::string const text = contents(here / "killed.jsonl");
    if (!text.empty() && text.back() != '\n') now.pop_back();
    REQUIRE(now.size() >= before.size());
    REQUIRE(std::equal(before.begin(), before.end(), now.begin()));
    before = now;
    if (code == 0) break;
  }
  CHECK(kills > 3);
  REQUIRE(run(flags("killed")).code == 0);
  CHECK(measurements(here / "killed.jsonl") == measurements(here / "once.jsonl"));
  CHECK(contents(here / "killed.hpp") == contents(here / "once.hpp"));
}

TEST_CASE("an interrupt ends the search early; the result is written and the search can be resumed") {
  scratch_folder here;
  std::vector<std::string> const flags = {"--output", here / "board.hpp", "--budget", "400", "--resume"};
  process p(tuner(flags), {{"SYNTHETIC_DELAY", "5"}});
  while (measurements(here / "board.synthetic_1.jsonl").size() < 20) ::usleep(1000);
  p.signal(SIGINT);
  CHECK(p.wait() == 0);
  CHECK(p.text().find("interrupted") != std::string::npos);
  std::size_t const made = measurements(here / "board.synthetic_1.jsonl").size();
  CHECK(made < 400);
  CHECK(std::filesystem::exists(here / "board.hpp"));
  ending const e = run(flags);
  CHECK(e.code == 0);
  CHECK(e.says("400 trials, " + std::to_string(made - 1) + " of them from the log"));
}

TEST_CASE("only the results of an interrupted search are removed once the default is found to be as fast") {
  scratch_folder here;
  std::string const output = here / "board.hpp";
  std::vector<std::string> const flags = {"--output", output, "--budget", "150", "--resume"};
  process p(tuner(flags), {{"SYNTHETIC_DELAY", "5"}});
  while (measurements(here / "board.synthetic_1.jsonl").size() < 100) ::usleep(1000);
  p.signal(SIGINT);
  REQUIRE(p.wait() == 0);
  std::string header = contents(output);
  REQUIRE(header.find("result: not yet measured against the default\n") != header.npos);
  REQUIRE(header.find("\n    // synthetic 1, block ") != header.npos);
  std::string const others =  // of another network, and of this one for another instruction set
      "    // synthetic 2, block 1: part 1\n    {0x0000000000000001, {.pixels = 3}},\n"
      "    // synthetic 1, block 1: part 1\n    {0x0000000000000002, {.pixels = 4}},\n";
  header.insert(header.find("    // synthetic 1"), others);
  put(output, header);
  ending const e = run(flags, {{"SYNTHETIC_STUBBORN", "yes"}});
  CHECK(e.code == 0);
  CHECK(e.says("the default stays"));
  std::string const after = contents(output), table = "board{{\n";
  CHECK(after.find("result: the default, ") != after.npos);
  CHECK(after.substr(after.find(table) + table.size()).starts_with(others + "}};\n"));
}

TEST_CASE("a time limit ends the search before its budget, and leaves time to measure the result") {
  scratch_folder here;
  ending const e =
      run({"--output", here / "board.hpp", "--budget", "100000", "--time-limit", "0.5"}, {{"SYNTHETIC_DELAY", "5"}});
  CHECK(e.code == 0);
  CHECK(contents(here / "board.hpp").find("result: default ") != std::string::npos);
  std::size_t const made = measurements(here / "board.synthetic_1.jsonl").size();
  CHECK(made > 10);
  CHECK(made <= 102);
}

TEST_CASE("progress is one changing line on a terminal, and a line now and then in a pipe") {
  scratch_folder here;
  ending const piped = run({"--output", here / "a.hpp", "--budget", "100"});
  CHECK(!piped.says("\r"));
  CHECK(piped.says("\n1/100 trials, ") == false);  // it is the first line
  CHECK(piped.text.starts_with("1/100 trials, best "));
  CHECK(piped.says("\n50/100 trials, best "));
  CHECK(!piped.says("\n51/100 trials"));
  ending const shown = run({"--output", here / "b.hpp", "--budget", "100"}, {}, output::terminal);
  CHECK(shown.says("\r[.........."));
  CHECK(shown.says("\r[##########.........."));
  CHECK(shown.says("] 51/100 trials"));
  CHECK(shown.says("left"));
}

TEST_CASE("a busy machine is distinguished from a quiet one") {
  scratch_folder here;
  std::string const line = "noise: the same program took ";
  ending const quiet = run({"--output", here / "quiet.hpp", "--budget", "100"});
  CHECK(quiet.says("\n" + line));
  CHECK(!quiet.says("warning"));
  CHECK(contents(here / "quiet.hpp").find("\n//   " + line) != std::string::npos);
  ending const busy = run({"--output", here / "busy.hpp", "--budget", "100"}, {{"SYNTHETIC_BUSY", "always"}});
  CHECK(busy.says("warning: this machine was busy"));
  CHECK(contents(here / "busy.hpp").find("a busy machine\n") != std::string::npos);
}

TEST_CASE("one slow trial does not worsen the best time") {
  scratch_folder here;
  auto const best = [&](char const* name, process::environment const& more) {
    ending const e = run({"--output", here / name, "--budget", "100"}, more);
    std::string const before = "\n100/100 trials, best ";
    std::size_t const at = e.text.find(before);
    REQUIRE(at != e.text.npos);
    return std::stod(e.text.substr(at + before.size()));
  };
  double const quiet = best("a.hpp", {}), busy = best("b.hpp", {{"SYNTHETIC_BUSY", "at first"}});
  CHECK(busy == doctest::Approx(quiet).epsilon(.1));
}

TEST_CASE("another network is merged into the same header") {
  scratch_folder here;
  std::vector<std::string> const flags = {"--output", here / "board.hpp", "--budget", "60"};
  REQUIRE(run(flags).code == 0);
  REQUIRE(run(flags, {{"SYNTHETIC_NETWORK", "synthetic 2"}}).code == 0);
  std::string const header = contents(here / "board.hpp");
  CHECK(header.find("// synthetic 1, neon64, device: unnamed\n") != header.npos);
  CHECK(header.find("// synthetic 2, neon64, device: unnamed\n") != header.npos);
  CHECK(here.count() == 3);
}

TEST_CASE("every error is reported in a sentence, and no header is written or changed") {
  scratch_folder here;
  std::string const output = here / "board.hpp";
  auto const refused = [&](int code, std::string const& sentence, std::vector<std::string> flags,
                           process::environment const& more = {}) {
    CAPTURE(sentence);
    flags.insert(flags.end(), {"--budget", "20"});
    ending const e = run(flags, more);
    CHECK(e.code == code);
    CHECK_MESSAGE(e.says(sentence), e.text);
  };
  refused(2, "--output FILE.hpp is missing", {});
  refused(2, "--budget needs a whole number of at least 1, not '0'", {"--output", output, "--budget", "0"});
  refused(2, "unknown flag '--bugdet'", {"--output", output, "--bugdet", "3"});
  refused(2, "--log and --plot are the same file",
          {"--output", output, "--plot", here / "./board.synthetic_1.jsonl"});  // the default log
  refused(1, "No space left on device", {"--output", output, "--log", "/dev/full"});
  refused(1, "No such file or directory", {"--output", here / "none/board.hpp"});
  refused(1, "/proc/board.hpp cannot be written", {"--output", "/proc/board.hpp"});
  refused(1, "is not a regular file", {"--output", "/dev/full", "--name", "x"});
  CHECK(here.count() == 0);

  put(output, "int main() {}\n");
  refused(1, "was not generated by this tuner", {"--output", output});
  CHECK(contents(output) == "int main() {}\n");
  std::filesystem::remove(output);

  REQUIRE(run({"--output", output, "--budget", "20"}).code == 0);
  std::string const log = here / "board.synthetic_1.jsonl", header = contents(output), lines = contents(log);
  refused(1, "exists: --resume continues it", {"--output", output});
  refused(1, "contains the table tuned::board", {"--output", output, "--name", "other", "--resume"});
  refused(1, "its network is 'synthetic 1'", {"--output", output, "--log", log, "--resume"},
          {{"SYNTHETIC_NETWORK", "x"}});
  refused(1, "its seed is '1'", {"--output", output, "--resume", "--seed", "2"});
  std::string other = lines;
  other.replace(other.find("\"ago\":\"") + 7, 1, "9");
  put(log, other);
  refused(1, "its ago is '9", {"--output", output, "--resume"});
  other = lines;
  other.replace(other.find("neon64"), 6, "avx512");
  put(log, other);
  refused(1, "its instruction set is 'avx512'", {"--output", output, "--resume"});
  other = lines;
  other[other.size() / 2] = '?';
  put(log, other);
  refused(1, "is damaged", {"--output", output, "--resume"});
  CHECK(contents(log) == other);
  CHECK(contents(output) == header);
  CHECK(here.count() == 2);
}

TEST_CASE("a disk that fills up while the header is written leaves the old header") {
  scratch_folder here;
  std::string const output = here / "board.hpp";
  REQUIRE(run({"--output", output, "--budget", "30"}).code == 0);
  std::string const header = contents(output);
  // Files may have 300 bytes. The log is longer, so it goes to a place without this limit.
  ending const e =
      run({"--output", output, "--budget", "30", "--seed", "2", "--log", "/dev/null"}, {}, testing::output::pipe, 300);
  CHECK(e.code == 1);
  CHECK_MESSAGE(e.says("cannot be written"), e.text);
  CHECK(contents(output) == header);
  CHECK(here.count() == 2);
}

TEST_CASE("a folder without write permission is detected before anything is measured" *
          doctest::skip(::geteuid() == 0)) {
  scratch_folder here;
  std::filesystem::permissions(here / "", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  ending const e = run({"--output", here / "board.hpp"});
  CHECK(e.code == 1);
  CHECK(e.says("Permission denied"));
  CHECK(!e.says("trials"));
}
