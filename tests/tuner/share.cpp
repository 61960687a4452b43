// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network tuned in several searches: how subgraphs are divided, and how the results come together.
#include "tuner_program.hpp"

#include <ago/tuner/share.hpp>

#include <algorithm>

#include "synthetic.hpp"

using namespace testing;
using namespace ago::tuner;

namespace {

/// Five subgraphs; the first and the last have a choice in common, and so have the last and the third.
struct linked_landscape : synthetic::landscape {
  linked_landscape() : landscape({.subgraphs = 5}), regions(landscape::subgraphs()) {
    regions[4].choices.push_back(regions[0].choices[0]);
    regions[2].choices.push_back(regions[4].choices[1]);
  }
  std::vector<region> const& subgraphs() const override { return regions; }
  std::vector<region> regions;
};

std::vector<std::string> names(problem const& p, share_of_search s) {
  std::vector<std::string> result;
  for (region const* r : subgraphs_of(p, s)) result.push_back(r->name);
  return result;
}

/// The lines of a header that are entries of its table.
std::vector<std::string> entries(std::string const& header) {
  std::vector<std::string> result;
  std::istringstream in(contents(header));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("    {0x")) result.push_back(line);
  return result;
}

}  // namespace

TEST_CASE("subgraphs with a common choice are in one share, and every subgraph is in exactly one") {
  linked_landscape const p;
  using list = std::vector<std::string>;
  CHECK(names(p, {1, 1}) == list{"block 1", "block 2", "block 3", "block 4", "block 5"});
  CHECK(names(p, {1, 2}) == list{"block 1", "block 3", "block 5"});  // weights 1 + 3 + 2
  CHECK(names(p, {2, 2}) == list{"block 2", "block 4"});             // weights 2 + 1
  CHECK(names(p, {2, 3}) == list{"block 2"});
  CHECK(names(p, {3, 3}) == list{"block 4"});
  CHECK(names(p, {4, 4}).empty());
}

TEST_CASE("the results of shares are combined into one header, confirmed by one more trial") {
  scratch_folder here;
  auto const flags = [&](std::string const& name, std::vector<std::string> const& more) {
    std::vector<std::string> f = {"--name", "board", "--budget", "80"};
    f.insert(f.end(), {"--output", here / (name + ".hpp"), "--log", here / name});
    f.insert(f.end(), more.begin(), more.end());
    return f;
  };
  REQUIRE(run(flags("first", {"--share", "1/2"})).code == 0);
  REQUIRE(run(flags("second", {"--share", "2/2"})).code == 0);
  std::vector<std::string> const both = {"--combine", here / "first", "--combine", here / "second"};
  ending const e = run(flags("all", both));
  REQUIRE(e.code == 0);
  CHECK(e.says("1 trials, 0 of them from the log"));
  CHECK(measurements(here / "all").size() == 2);
  std::string const header = contents(here / "all.hpp");
  CHECK(header.find("variant ago, 2 shares, seed 1, 161 of 161 trials\n") != header.npos);

  std::vector<std::string> of_shares = entries(here / "first.hpp"), of_second = entries(here / "second.hpp");
  CHECK(!of_shares.empty());
  CHECK(!of_second.empty());
  of_shares.insert(of_shares.end(), of_second.begin(), of_second.end());
  std::ranges::sort(of_shares);
  CHECK(entries(here / "all.hpp") == of_shares);

  SUBCASE("shares may write into one header, which their combination cleans up") {
    for (std::string const name : {"first", "second"})
      REQUIRE(run({"--name", "board", "--budget", "80", "--output", here / "one.hpp", "--log", here / name, "--resume",
                   "--share", name == "first" ? "1/2" : "2/2"})
                  .code == 0);
    CHECK(entries(here / "one.hpp") == of_shares);
    CHECK(contents(here / "one.hpp").find("// synthetic 1, share 2 of 2, neon64") != std::string::npos);
    REQUIRE(run({"--name", "board", "--budget", "80", "--output", here / "one.hpp", "--log", here / "all", "--resume",
                 "--combine", here / "first", "--combine", here / "second"})
                .code == 0);
    CHECK(contents(here / "one.hpp") == header);
  }
  SUBCASE("a result that is not faster in that trial is not used") {
    process p(tuner(flags("stubborn", both)), {{"SYNTHETIC_STUBBORN", "1"}});
    CHECK(p.wait() == 0);
    CHECK(entries(here / "stubborn.hpp").empty());
  }
  SUBCASE("logs that are missing, in another order, or not of all shares are refused") {
    ending const order = run(flags("x", {"--combine", here / "second", "--combine", here / "first"}));
    CHECK(order.code == 1);
    CHECK(order.says("its variant is 'ago, share 2 of 2', that of this search is 'ago, share 1 of 2'"));
    ending const one = run(flags("y", {"--combine", here / "first"}));
    CHECK(one.code == 1);
    CHECK(one.says("its variant is 'ago, share 1 of 2', that of this search is 'ago'"));
    CHECK(run(flags("z", {"--combine", here / "first", "--combine", here / "none"})).says("none does not exist"));
    CHECK(!std::filesystem::exists(here / "none"));
    std::string log = contents(here / "first");
    log.replace(log.rfind("\"contender\":[") + 13, 1, "9");
    put(here / "first", log);
    CHECK(run(flags("w", both)).says("its result is not a candidate of this network"));
  }
}
