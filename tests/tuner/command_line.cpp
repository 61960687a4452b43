// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of a tuner.
#include <ago/tuner/command_line.hpp>
#include <doctest/doctest.h>

#include "process.hpp"

namespace {

using namespace ago::tuner;

flags parsed(std::vector<char const*> words) {
  words.insert(words.begin(), "tune");
  return parse(int(words.size()), words.data());
}
std::string complaint(std::vector<char const*> const& words) {
  try {
    parsed(words);
  } catch (usage_error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("every flag is accepted") {
  flags const f = parsed({"--output",
                          "boards/my_board.hpp",
                          "--name=other",
                          "--device",
                          "Raspberry Pi 5",
                          "--budget",
                          "12",
                          "--seed",
                          "18446744073709551615",
                          "--method",
                          "random",
                          "--variant",
                          "ago-nr",
                          "--log",
                          "l",
                          "--resume",
                          "--plot=p.svg",
                          "--time-limit",
                          "1.5",
                          "--share",
                          "2/3"});
  CHECK(f.output == "boards/my_board.hpp");
  CHECK(f.name == "other");
  CHECK(f.device == "Raspberry Pi 5");
  CHECK(f.search.budget == 12);
  CHECK(f.search.seed == 18446744073709551615u);
  CHECK(f.search.how == method::random);
  CHECK(f.search.what == variant::ago_nr);
  CHECK(f.log == "l");
  CHECK(f.resume);
  CHECK(f.plot == "p.svg");
  CHECK(f.time_limit == 1.5);
  CHECK((f.search.share.number == 2 && f.search.share.count == 3));
  CHECK(parsed({"--output", "a.hpp", "--combine", "x", "--combine=y"}).combined == std::vector<std::string>{"x", "y"});
}

TEST_CASE("flags have defaults, and the table has the name of its file") {
  flags const f = parsed({"--output", "boards/my_board.hpp"});
  CHECK(f.name == "my_board");
  CHECK(f.search.budget == 300);
  CHECK(f.search.how == method::evolutionary);
  CHECK(f.search.what == variant::ago);
  CHECK(!f.resume);
  CHECK(parsed({"--help"}).help);
  CHECK(parsed({"--version"}).version);
}

TEST_CASE("every flag is in the help") {
  std::string const help = usage;
  for (char const* flag : {"--output", "--name", "--device", "--budget", "--time-limit", "--method", "--variant",
                           "--seed", "--log", "--share", "--combine", "--resume", "--plot", "--help", "--version"}) {
    CAPTURE(std::string(flag));
    CHECK(help.find(std::string(" ") + flag) != help.npos);
  }
}

TEST_CASE("invalid values are refused with a sentence") {
  CHECK(complaint({}) == "--output FILE.hpp is missing: the header to write the tuned schedules to");
  CHECK(complaint({"--output"}) == "--output needs a value");
  CHECK(complaint({"--bugdet", "3"}) == "unknown flag '--bugdet'; --help lists all flags");
  CHECK(complaint({"board.hpp"}) == "unknown flag 'board.hpp'; --help lists all flags");
  for (char const* n : {"0", "-1", "3x", "", "1e3", "99999999999"})
    CHECK(complaint({"--budget", n}) == std::string("--budget needs a whole number of at least 1, not '") + n + "'");
  for (char const* s : {"0", "-1", "3x", "", "nan", "inf"})
    CHECK(complaint({"--time-limit", s}) ==
          std::string("--time-limit needs a number of seconds above 0, not '") + s + "'");
  for (char const* s : {"", "2", "0/2", "3/2", "1/2x", "1/", "/2", "1/1001"})
    CHECK(complaint({"--share", s}) ==
          std::string("--share needs K/N, share K of N with 1 <= K <= N <= 1000, not '") + s + "'");
  CHECK(complaint({"--output", "a.hpp", "--share", "1/2", "--combine", "x"})
            .starts_with("--share and --combine exclude each other"));
  CHECK(complaint({"--output", "a.hpp", "--plot", "b", "--combine", "b"}) ==
        "--plot and --combine are the same file: b");
  CHECK(complaint({"--output", "a.hpp", "--combine", "b", "--combine", "b"}) ==
        "--combine and --combine are the same file: b");
  CHECK(complaint({"--method", "best"}) == "--method is evolutionary, random or exhaustive, not 'best'");
  CHECK(complaint({"--variant", "ni"}) == "--variant is ago, ago-nr or ago-ni, not 'ni'");
  CHECK(complaint({"--resume=yes"}) == "--resume takes no value");
  CHECK(complaint({"--output", "my-board.hpp"}) ==
        "the table needs a --name: 'my-board', from the file name, is not a valid C++ name");
  for (char const* name : {"int", "_x", "a__b", "2d", "xor_eq", "a b", "alignas"})
    CHECK(complaint({"--output", "a.hpp", "--name", name}) ==
          std::string("--name '") + name + "' is not a valid C++ name");
  CHECK(complaint({"--output", "a.hpp", "--log", "a.hpp"}) == "--output and --log are the same file: a.hpp");
  CHECK(complaint({"--output", "a.hpp", "--log", "b", "--plot", "b"}) == "--log and --plot are the same file: b");
  for (char const* name : {"linux", "errno"})  // macros
    CHECK(complaint({"--output", "a.hpp", "--name", name}) ==
          std::string("--name '") + name + "' is not a valid C++ name");
}

TEST_CASE("files are distinguished by location, not by spelling") {
  testing::scratch_folder here;
  namespace fs = std::filesystem;
  fs::create_directory(here / "folder");
  fs::create_symlink("folder", here / "link");
  fs::create_symlink("board.hpp", here / "to_board");  // which does not exist yet
  testing::put(here / "log", "");
  fs::create_hard_link(here / "log", here / "same_log");
  std::string const board = here / "board.hpp";
  for (std::string const spelling : {"./board.hpp", "folder/../board.hpp", ".//folder/.././board.hpp", "to_board"}) {
    CAPTURE(spelling);
    CHECK(complaint({"--output", board.c_str(), "--plot", (here / spelling).c_str()}).find("are the same file: ") !=
          std::string::npos);
  }
  CHECK(complaint({"--output", "board.hpp", "--log", "./board.hpp"}) ==
        "--output and --log are the same file: board.hpp and ./board.hpp");
  CHECK(complaint({"--output", (here / "folder/b.hpp").c_str(), "--log", (here / "link/b.hpp").c_str()})
            .starts_with("--output and --log are the same file"));
  CHECK(complaint({"--output", "a.hpp", "--log", (here / "log").c_str(), "--plot", (here / "same_log").c_str()})
            .starts_with("--log and --plot are the same file"));
  CHECK(complaint({"--output", board.c_str(), "--log", (here / "board.jsonl").c_str()}).empty());
  CHECK(complaint({"--output", board.c_str(), "--log", (here / "folder/board.hpp").c_str()}).empty());
}
