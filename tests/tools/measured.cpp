// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured times: the program that is compiled, what it prints, and how times are shown.
#include "partition/graphs.hpp"

#include <inspect.hpp>
#include <networks.hpp>
#include <timing_program.hpp>
#include <toolchain.hpp>
#include <writers.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <sstream>

namespace {

using namespace ago::tools;
using ago::isa;
using ago::policy;
using json = nlohmann::ordered_json;

/// Two steps, in one subgraph or in two.
inspection two_steps(policy p = policy::ago_ni) {
  test::builder<8, 8> b;
  b.output(b.depthwise(b.pointwise(b.input({1, 2, 2, 4}), 8)));
  return inspect(b.g, {.target = isa::avx2, .policy = p});
}

std::string const depthwise = R"({"kernels":"depthwise 14x1 2x2x8 > 2x2x8","median_us":3.5,"least_us":3})";

std::string printed(std::string const& steps) {
  return R"({"programs":[{"median_us":6,"least_us":5.25,"steps":[)" + steps + "]}]}";
}

/// What a program with the steps of `i` prints, which take 1, 2, ... us, and half of that at least.
std::string printed_for(inspection const& i) {
  std::string all;
  for (std::size_t k = 0; k < i.steps.size(); ++k) {
    inspected_part const& p = i.steps[k].parts.front();
    auto const extents = [](ago::shape const& s) { return ago::tools::to_string(s); };
    all += (k ? "," : "") + std::string(R"({"kernels":")") + name_of(p.what) + ' ' + std::to_string(p.tile.pixels) +
           'x' + std::to_string(p.tile.vectors) + ' ' + extents(p.in) + " > " + extents(p.out) +
           "\",\"median_us\":" + std::to_string(k + 1) + ",\"least_us\":" + std::to_string(double(k + 1) / 2) + "}";
  }
  return printed(all);
}

std::string text_of(inspection const& i) {
  std::ostringstream out;
  write_text(out, {&i, 1});
  return out.str();
}
json json_of(inspection const& i) {
  std::ostringstream out;
  write_json(out, i);
  return json::parse(out.str());
}

}  // namespace

TEST_CASE("the program names the network, and each policy with its instruction set and device") {
  std::string const text = timing_program(
      "networks::net<7>", {{.target = isa::avx2, .policy = policy::paper_adjacent, .device = ago::zen_5},
                           {.target = isa::avx2, .policy = policy::fuse_ops, .device = ago::cortex_a55}});
  CHECK(text.find("print_times<networks::net<7>,") != text.npos);
  CHECK(text.find("options{.target = ago::isa::avx2, .policy = ago::policy::paper_adjacent, "
                  ".device = ago::device{49152, 1048576, 1, false, 2, 4, 2, 4100, 32, 2500, 80, 15, 80, 16}}") !=
        text.npos);
  CHECK(text.find("options{.target = ago::isa::avx2, .policy = ago::policy::fuse_ops, "
                  ".device = ago::device{32768, 131072, 1, true, 18, 96, 18, 2000, 4, 2500, 80, 15, 80, 4}}") !=
        text.npos);
}

TEST_CASE("every built-in network has its header") {
  for (known_network const& n : known_networks()) {
    CHECK(n.header.find("inline constexpr auto " + n.name + " =") != n.header.npos);
    CHECK(n.variable == "networks::" + n.name);
  }
}

TEST_CASE("times are entered, and shown per step, per subgraph and in sum") {
  std::vector<inspection> all{two_steps()};
  REQUIRE(all[0].steps.size() == 2);
  CHECK(text_of(all[0]).find("measured") == std::string::npos);
  enter_times(all, printed_for(all[0]));
  inspection const& i = all[0];
  CHECK((i.measured->median_us == 6 && i.measured->least_us == 5.25));
  CHECK((i.steps[0].measured->median_us == 1 && i.steps[1].measured->least_us == 1));
  CHECK((i.measured_steps().median_us == 3 && i.measured_steps().least_us == 1.5));
  json const j = json_of(i);
  CHECK((j["measured_us"] == 6. && j["measured_least_us"] == 5.25));
  json const &steps = j["partition"]["steps"], &subgraphs = j["partition"]["subgraphs"];
  CHECK((steps[1]["measured_us"] == 2. && steps[1]["measured_least_us"] == 1.));
  double sum = 0;
  for (json const& s : subgraphs) sum += s["measured_us"].get<double>();
  CHECK(sum == 3);
  std::string const text = text_of(i);
  CHECK(text.find("\nmeasured us ") != text.npos);
  CHECK(text.find("  1.0       0.5  33.3\n") != text.npos);
  CHECK(text.find("  3.0       1.5\n", text.find("\n sum")) != text.npos);
  std::ostringstream page;
  write_html(page, all);
  CHECK(page.str().find("measured us") != std::string::npos);
}

TEST_CASE("times of another program are refused") {
  auto const refused = [](std::string const& text) {
    std::vector<inspection> all{two_steps()};
    try {
      enter_times(all, text);
    } catch (std::runtime_error const& e) { return std::string(e.what()); }
    return std::string();
  };
  std::string const good = printed_for(two_steps());
  CHECK(refused(good).empty());
  for (std::string const text : {"", "7", "[]", "{}", R"({"programs":7})", R"({"programs":[]})"})
    CHECK(refused(text) == "the program did not print its times");
  CHECK(refused(printed(depthwise)).find("it has 1 steps instead of 2") != std::string::npos);
  CHECK(refused(printed(depthwise + ',' + depthwise)).find("its step 0 is depthwise") != std::string::npos);
  CHECK(refused(R"({"programs":[{"steps":[{},{}]}]})") == "the program did not print its times");
}

TEST_CASE("a compiler may have arguments") {
  using words = std::vector<std::string>;
  CHECK(compiler_words("ccache  g++ -g") == words{"ccache", "g++", "-g"});
  CHECK_THROWS_AS(compiler_words("  "), std::runtime_error);
  setenv("CXX", "some-compiler -v", 1);
  CHECK(compiler_words("") == words{"some-compiler", "-v"});
  unsetenv("CXX");
  CHECK(compiler_words("").size() == 1);  // the name of the one that compiled this
}

TEST_CASE("this machine runs its widest instruction set and those that it includes") {
  isa const widest = widest_isa();
  CHECK((can_run(widest) && !can_run(isa::scalar) && !can_run(isa::emulated128)));
  CHECK(can_run(isa::neon) == (widest == isa::neon));
  CHECK(can_run(isa::sse2) == (widest != isa::neon));
  CHECK(can_run(isa::avx512) == (widest == isa::avx512));
  CHECK(flags_for(widest).size() == 1);
}
