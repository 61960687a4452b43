// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logs: appended records are found again, bit-identical, even after interruptions.
#include <ago/tuner/log.hpp>
#include <doctest/doctest.h>

#include <ago/tuner/generator.hpp>

#include <cmath>
#include <memory>

#include "process.hpp"

namespace {

using namespace ago::tuner;
using testing::contents, testing::put, testing::scratch_folder;

identity const mine = {{"network", "a \"b\" \\ c\n"}, {"seed", "1"}};

record any_record(generator& random) {
  auto const time = [&] { return std::exp(-20 * random.unit()); };
  auto const any = [&] {
    candidate c;
    for (int i = 0; i < 5; ++i) c.push_back(std::uint8_t(random.below(256)));
    return c;
  };
  return {"block \"1\"", any(), any(), int(random.below(99)), {time(), time(), time(), time(), random.unit(), 7},
          time()};
}

bool same(record const& a, record const& b) {
  comparison const &x = a.result, &y = b.result;
  return a.region == b.region && a.contender == b.contender && a.incumbent == b.incumbent &&
         a.runs_at_most == b.runs_at_most && a.seconds == b.seconds && x.contender == y.contender &&
         x.incumbent == y.incumbent && x.contender_least == y.contender_least &&
         x.incumbent_least == y.incumbent_least && x.confidence == y.confidence && x.runs == y.runs;
}

struct opened {
  explicit opened(std::string const& path, bool resume = true, identity const& id = mine)
      : log(path, id, resume, [this](std::string const& w) { warnings += w; }) {}
  std::string warnings;
  log_file log;
};

std::string complaint(std::string const& path, bool resume = true, identity const& id = mine) {
  try {
    opened(path, resume, id);
  } catch (failure const& f) { return f.what(); }
  return "";
}

}  // namespace

TEST_CASE("appended records are found again, bit-identical") {
  scratch_folder here;
  generator random(3);
  std::vector<record> made;
  for (int sitting = 0; sitting < 4; ++sitting) {
    opened o(here / "log");
    REQUIRE(o.log.found().size() == made.size());
    for (std::size_t i = 0; i < made.size(); ++i) CHECK(same(o.log.found()[i], made[i]));
    for (int i = 0; i < 5; ++i) o.log.append(made.emplace_back(any_record(random)));
    CHECK(o.warnings.empty());
  }
}

TEST_CASE("a truncated last line is dropped with a warning, wherever it was truncated") {
  scratch_folder here;
  generator random(4);
  {
    opened o(here / "log");
    for (int i = 0; i < 3; ++i) o.log.append(any_record(random));
  }
  std::string const text = contents(here / "log");
  for (std::size_t length = 1; length <= text.size(); ++length) {
    put(here / "log", text.substr(0, length));
    auto o = std::make_unique<opened>(here / "log");
    auto const lines = std::count(text.begin(), text.begin() + std::ptrdiff_t(length), '\n');
    CHECK(o->log.found().size() == std::size_t(std::max<std::ptrdiff_t>(0, lines - 1)));
    CHECK(o->warnings.empty() == (text[length - 1] == '\n'));
    std::size_t const before = o->log.found().size();
    o->log.append(any_record(random));
    o.reset();
    opened const again(here / "log");
    CHECK(again.warnings.empty());
    CHECK(again.log.found().size() == before + 1);
  }
}

TEST_CASE("a log of another search, a damaged log, or one in use is refused and left unchanged") {
  scratch_folder here;
  generator random(5);
  {
    opened o(here / "log");
    o.log.append(any_record(random));
    CHECK(complaint(here / "log") == here / "log" + " is being written by another tuner");
  }
  CHECK(complaint(here / "log").empty());
  CHECK(complaint(here / "log", false).find("exists: --resume continues it") != std::string::npos);
  CHECK(complaint(here / "log", true, {{"network", "other"}, {"seed", "1"}}) ==
        here / "log" + " cannot be resumed: its network is 'a \"b\" \\ c\n', that of this search is 'other'");
  CHECK(complaint(here / "log", true, {mine[0], {"seed", "2"}}).find("its seed is '1', that of this search is '2'") !=
        std::string::npos);
  for (std::string const text : {"{\"something\":1}\n", "{\"something\":1}", "{\"something\":1}\nelse",
                                 "{\"log\":\"ago tuner 2\",\"network\":\"oth"}) {
    put(here / "log", text);
    CHECK(complaint(here / "log").find("is not a log of this version of the tuner") != std::string::npos);
    CHECK(contents(here / "log") == text);
  }
}

TEST_CASE("a log of another search with a truncated last line is left unchanged") {
  scratch_folder here;
  { opened o(here / "log"); }
  put(here / "log", contents(here / "log") + "{\"region\"");
  std::string const text = contents(here / "log");
  CHECK(!complaint(here / "log", true, {{"network", "other"}, {"seed", "1"}}).empty());
  CHECK(contents(here / "log") == text);
}

TEST_CASE("impossible figures are refused") {
  scratch_folder here;
  generator random(7);
  {
    opened o(here / "log");
    for (int i = 0; i < 2; ++i) o.log.append(any_record(random));
  }
  std::string const text = contents(here / "log");
  auto const with = [&](std::string const& field, std::string const& value) {
    std::size_t const begin = text.find("\"" + field + "\":") + field.size() + 3, end = text.find_first_of(",}", begin);
    return text.substr(0, begin) + value + text.substr(end);
  };
  for (std::string const field : {"contender_s", "incumbent_s", "contender_least_s", "incumbent_least_s"})
    for (std::string const value : {"nan", "-nan", "inf", "1e999", "-inf", "0", "-0.0", "-1", "-1e-9"}) {
      CAPTURE(value);
      put(here / "log", with(field, value));
      CHECK(complaint(here / "log") == here / "log" + ":2 is damaged: impossible value of " + field);
    }
  for (std::string const field : {"running_s", "took_s", "confidence"})
    for (std::string const value : {"nan", "inf", "1e999", "-1"}) {
      CAPTURE(value);
      put(here / "log", with(field, value));
      CHECK(complaint(here / "log") == here / "log" + ":2 is damaged: impossible value of " + field);
    }
  put(here / "log", with("confidence", "1.5"));
  CHECK(complaint(here / "log") == here / "log" + ":2 is damaged: impossible value of confidence");
  put(here / "log", with("runs", "0"));
  CHECK(complaint(here / "log") == here / "log" + ":2 is damaged: impossible value of runs");
}

TEST_CASE("a damaged line other than the last is refused, whichever character is damaged") {
  scratch_folder here;
  generator random(6);
  {
    opened o(here / "log");
    for (int i = 0; i < 2; ++i) o.log.append(any_record(random));
  }
  std::string const text = contents(here / "log");
  std::size_t const first = text.find('\n') + 1;
  for (std::size_t i = text.find(",\"contender\""); i < text.find('\n', first); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i]))) continue;  // part of a number
    if (text[i] == '-' || text[i] == '.' || text[i] == 'e') continue;
    std::string damaged = text;
    damaged[i] = '~';
    put(here / "log", damaged);
    CAPTURE(damaged.substr(first, i + 1 - first));
    CHECK(complaint(here / "log") == here / "log" + ":2 is damaged: not a line of a tuner's log");
  }
}

TEST_CASE("a full disk is reported") {
  CHECK(complaint("/dev/full") == "/dev/full cannot be written: No space left on device");
}
