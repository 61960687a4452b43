// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of the benchmark programs: invalid ones are refused with a sentence.
#include <bench/command_line.hpp>
#include <bench/filter.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace bench;

namespace {

using words = std::vector<char const*>;

words behind_program(words given) {
  given.insert(given.begin(), "program");
  return given;
}

common_arguments parsed(words const& given) {
  words const all = behind_program(given);
  return parse<common_arguments>(int(all.size()), all.data());
}

struct thing {
  std::string name;
};

}  // namespace

TEST_CASE("arguments are read, and have defaults") {
  common_arguments const none = parsed({});
  CHECK(none.repetitions == 60);
  CHECK_FALSE((none.json || none.help || none.core));
  common_arguments const some = parsed({"--json", "--repetitions", "7", "--core", "0"});
  CHECK(some.json);
  CHECK(some.repetitions == 7);
  CHECK(some.core == 0);
}

TEST_CASE("invalid arguments are refused") {
  std::vector<words> const nonsense{{"--nonsense"},
                                    {"word"},
                                    {""},
                                    {"--core"},
                                    {"--core", "-1"},
                                    {"--core", "99999999999"},
                                    {"--repetitions", "0"},
                                    {"--repetitions", "3x"},
                                    {"--repetitions", ""}};
  for (words const& given : nonsense) CHECK_THROWS_AS(parsed(given), std::invalid_argument);
}

TEST_CASE("the exit code distinguishes invalid arguments from failure") {
  auto const ends = [](words const& given, auto run) {
    words const all = behind_program(given);
    return run_program<common_arguments>("program", "usage\n", int(all.size()), all.data(), run);
  };
  CHECK(ends({}, [](auto const&) { return 0; }) == 0);
  CHECK(ends({}, [](auto const&) { return 1; }) == 1);
  CHECK(ends({"--help"}, [](auto const&) { return 1; }) == 0);
  CHECK(ends({"--nonsense"}, [](auto const&) { return 0; }) == 2);
  CHECK(ends({}, [](auto const&) -> int { throw std::invalid_argument("no such thing"); }) == 2);
  CHECK(ends({}, [](auto const&) -> int { throw std::runtime_error("out of luck"); }) == 1);
}

TEST_CASE("a filter selects names by regular expression") {
  std::vector<thing> const all{{"one/1x1"}, {"two/1x1"}, {"two/2x2"}};
  CHECK(filtered(all, "").size() == 3);
  CHECK(filtered(all, "^two/").size() == 2);
  CHECK(filtered(all, "one|2x2").back() == &all[2]);
  CHECK_THROWS_AS(filtered(all, "three"), std::invalid_argument);
  CHECK_THROWS_AS(filtered(all, "("), std::invalid_argument);
}
