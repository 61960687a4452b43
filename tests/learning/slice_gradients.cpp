// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a value that is read in slices, from theirs, compared with a plain loop.
#include <ago/learning/slice_gradients.hpp>
#include <ago/network/lowering.hpp>

#include <doctest/doctest.h>
#include <reference/executor.hpp>

#include <memory>
#include <random>
#include <vector>

namespace {

using namespace ago;
using namespace ago::ir;
using recorded = graph<256, 512, 1>;

/// Slices of a value, with their gradients.
struct slices {
  shape whole;
  std::vector<node> of;
  std::vector<std::vector<float>> gradients;

  void add(int axis, int begin, int count, std::mt19937& random) {
    node n{.kind = op::slice, .out = whole, .axis = axis, .begin = begin};
    ir::extent_along(n.out, axis) = count;
    of.push_back(n);
    gradients.emplace_back(std::size_t(n.out.count()));
    for (float& x : gradients.back()) x = float(std::uniform_int_distribution(-9, 9)(random));
  }
  std::vector<double> by_plain_loop() const {
    std::vector<double> r(std::size_t(whole.count()));
    for (std::size_t k = 0; k < of.size(); ++k) {
      shape const& s = of[k].out;
      int first[4]{};
      first[of[k].axis] = of[k].begin;
      std::size_t from = 0;
      for (int n = 0; n < s.n; ++n)
        for (int y = 0; y < s.h; ++y)
          for (int x = 0; x < s.w; ++x)
            for (int c = 0; c < s.c; ++c) {
              long const pixel = (long(n + first[0]) * whole.h + y + first[1]) * whole.w + x + first[2];
              r[std::size_t(pixel * whole.c + c + first[3])] += double(gradients[k][from++]);
            }
    }
    return r;
  }
  std::unique_ptr<recorded> as_graph() const {
    tracing::recorder to;
    learning::slice_gradients parts;
    for (node const& n : of) lowering::record_input(to, {.n = n.out.n, .h = n.out.h, .w = n.out.w, .c = n.out.c});
    to.inputs = int(of.size());
    for (std::size_t k = of.size(); k-- > 0;) parts.add(7, of[k], {&to, int(k)});
    tensor sum;
    parts.take(7, whole, [&](tensor x) { sum = sum.recorder ? sum + x : x; });
    lowering::record_output(to, sum);
    auto g = std::make_unique<recorded>();
    lowering::copy_to(*g, to);
    CHECK(!parts.has(7));
    return g;
  }
};

int count(recorded const& g, op kind) {
  int r = 0;
  for (int v = 0; v < g.node_count; ++v) r += g.nodes[v].kind == kind;
  return r;
}

/// Joins two gradients of slices of a value that is in the graph that grows by it.
constexpr bool joins_in_growing_graphs() {
  bool good = true;
  for (int nodes = 60; nodes < 65; ++nodes) {
    tracing::recorder to;
    learning::slice_gradients parts;
    for (int v = 0; v < nodes; ++v) lowering::record_input(to, {.c = v == 0 ? 4 : 2});
    node n{.kind = op::slice, .out = {1, 1, 1, 2}};
    parts.add(0, n, {&to, 1});
    n.begin = 2;
    parts.add(0, n, {&to, 2});
    parts.take(0, to.nodes[0].out, [&](tensor x) { good = good && x.dims() == shape{1, 1, 1, 4}; });
  }
  return good;
}
static_assert(joins_in_growing_graphs());

}  // namespace

TEST_CASE("gradients of slices that overlap, leave gaps or cover a value along several axes add up to the value's") {
  std::mt19937 random(1);
  auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    slices s{{any(1, 3), any(1, 4), any(1, 4), any(1, 5)}, {}, {}};
    for (int k = any(1, 6); k > 0; --k) {
      int const axis = any(0, 3), extent = ir::extent_along(s.whole, axis), begin = any(0, extent - 1);
      s.add(axis, begin, any(1, extent - begin), random);
    }
    auto const g = s.as_graph();
    REQUIRE(g->bad.what == fault::none);
    CHECK(g->nodes[g->outputs[0]].out == s.whole);
    CHECK(reference::run(*g, {}, s.gradients)[0] == s.by_plain_loop());
  }
}

TEST_CASE("gradients of slices that cover a value are concatenated, without zeros or sums") {
  std::mt19937 random(2);
  for (int axis = 0; axis < 4; ++axis) {
    CAPTURE(axis);
    slices s{{4, 4, 4, 4}, {}, {}};
    for (int const begin : {3, 0, 1}) s.add(axis, begin, begin == 1 ? 2 : 1, random);
    auto const g = s.as_graph();
    CHECK(count(*g, op::concat) == 1);
    CHECK(count(*g, op::pad) == 0);
    CHECK(count(*g, op::add) == 0);
    CHECK(reference::run(*g, {}, s.gradients)[0] == s.by_plain_loop());
  }
  // Steps of sequences {n, 1, steps, c} are written where they belong: as channels.
  slices steps{{2, 1, 3, 5}, {}, {}};
  for (int t = 0; t < 3; ++t) steps.add(2, t, 1, random);
  auto const g = steps.as_graph();
  CHECK(g->nodes[3].kind == op::concat);
  CHECK(g->nodes[3].axis == 3);
  CHECK(reference::run(*g, {}, steps.gradients)[0] == steps.by_plain_loop());
}
