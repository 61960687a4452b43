// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drawings of graphs: nothing overlaps, no edge is missing, chains are straight.
#include <drawing.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

namespace {

using namespace ago::tools;

void check_drawing(operand_lists const& operands) {
  drawing const d = draw(operands);
  REQUIRE(d.nodes.size() == operands.size());
  int overlaps = 0, outside = 0;
  for (std::size_t a = 0; a < d.nodes.size(); ++a) {
    double const right = d.nodes[a].x + drawing::box_width / 2, bottom = d.nodes[a].y + drawing::box_height / 2;
    outside += right > d.width || bottom > d.height || d.nodes[a].x < drawing::box_width / 2 ||
               d.nodes[a].y < drawing::box_height / 2;
    for (std::size_t b = 0; b < a; ++b)
      overlaps += std::abs(d.nodes[a].x - d.nodes[b].x) < drawing::box_width &&
                  std::abs(d.nodes[a].y - d.nodes[b].y) < drawing::box_height;
  }
  CHECK((overlaps == 0 && outside == 0));
  std::set<std::pair<int, int>> wanted, drawn;
  for (std::size_t v = 0; v < operands.size(); ++v)
    for (int const u : operands[v]) wanted.insert({u, int(v)});
  for (drawn_edge const& e : d.edges) {
    CHECK(drawn.insert({e.from, e.to}).second);
    double x = 0, y = 0;  // an edge begins at one node and ends at the other
    CHECK(std::sscanf(e.path.c_str(), "M%lf %lf", &x, &y) == 2);
    CHECK(x == doctest::Approx(d.nodes[std::size_t(e.from)].x).epsilon(.001));
    CHECK(y == doctest::Approx(d.nodes[std::size_t(e.from)].y + drawing::box_height / 2).epsilon(.001));
    std::size_t const last = e.path.find_last_of(' '), before = e.path.find_last_of(" LCM", last - 1);
    CHECK(std::atof(e.path.c_str() + before + 1) == doctest::Approx(d.nodes[std::size_t(e.to)].x).epsilon(.001));
    CHECK(std::atof(e.path.c_str() + last) ==
          doctest::Approx(d.nodes[std::size_t(e.to)].y - drawing::box_height / 2).epsilon(.001));
  }
  CHECK(drawn == wanted);
}

}  // namespace

TEST_CASE("an empty graph, one node, a node that reads a value twice") {
  CHECK(draw({}).nodes.empty());
  check_drawing({{}});
  check_drawing({{}, {0, 0}});
}

TEST_CASE("a residual: the chain is straight, the other path passes beside it") {
  operand_lists const block{{}, {0}, {1}, {2}, {3, 0}, {4}};
  check_drawing(block);
  drawing const d = draw(block);
  for (auto const& place : d.nodes) CHECK(place.x == d.nodes[0].x);
  for (std::size_t v = 1; v < 6; ++v) CHECK(d.nodes[v].y == d.nodes[v - 1].y + drawing::box_height + drawing::gap);
}

TEST_CASE("a layer is below those that it reads, except at the top of the next column") {
  operand_lists chain(1);
  for (int v = 1; v < 300; ++v) chain.push_back({v - 1});
  check_drawing(chain);
  drawing const d = draw(chain);
  int columns = 1;
  for (std::size_t v = 1; v < 300; ++v) {
    bool const next = d.nodes[v].y < d.nodes[v - 1].y;
    columns += next;
    CHECK((next ? d.nodes[v].x > d.nodes[v - 1].x + drawing::box_width : d.nodes[v].x == d.nodes[v - 1].x));
  }
  CHECK((columns > 3 && d.width / d.height > .6 && d.width / d.height < 1.7));
}

TEST_CASE("a thousand operators with residuals and branches") {
  operand_lists operands(1);
  while (operands.size() < 1000) {
    int const x = int(operands.size()) - 1;
    for (int k = 0; k < 8; ++k) operands.push_back({x + k});
    operands.push_back({x + 8, x});   // a residual
    operands.push_back({x + 9});      // two branches
    operands.push_back({x + 9});
    operands.push_back({x + 10, x + 11});
  }
  check_drawing(operands);
  drawing const d = draw(operands);
  CHECK((d.width / d.height > .6 && d.width / d.height < 1.7));
}

TEST_CASE("random graphs: every edge occurs once, and no boxes overlap") {
  std::mt19937 random(3);
  auto const pick = [&](int n) { return int(random() % unsigned(n)); };
  for (int round = 0; round < 100; ++round) {
    int const nodes = 1 + pick(150), reach = 1 + pick(round % 2 ? 5 : nodes);
    operand_lists operands(static_cast<std::size_t>(nodes));
    for (int v = 1; v < nodes; ++v)
      for (int k = pick(4); k > 0; --k) operands[std::size_t(v)].push_back(v - 1 - pick(std::min(v, reach)));
    CAPTURE(round);
    check_drawing(operands);
  }
}
