// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators are recognised in index expressions: what layers record, written as expressions, is found again, and
// whatever is found has the values of the expression.
#include "random_layers.hpp"
#include "recognised_graph.hpp"

#include <ago/operators/description.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>

#include "expression/operators.hpp"
#include "reference/random_graph.hpp"

using namespace expression_test;
using namespace ago::expression;
using ago::op;
using ago::recognition::recognise;
using ago::recognition::recognised_nodes;

namespace {

/// What does not follow from an expression: the stride of one window, pads that no window reaches.
ago::ir::window reached(ago::ir::window w, ago::shape const& in, ago::shape const& out) {
  if (out.h == 1) w.stride_h = 1;
  if (out.w == 1) w.stride_w = 1;
  w.pad_bottom = std::max(0, (out.h - 1) * w.stride_h + w.span_h() - in.h - w.pad_top);
  w.pad_right = std::max(0, (out.w - 1) * w.stride_w + w.span_w() - in.w - w.pad_left);
  return w;
}

/// Do both compute the same with the same kernel?
bool is_same(ago::ir::node const& got, ago::ir::node const& expected, ago::shape const& in) {
  auto const near = [](float a, float b) { return std::abs(a - b) <= 1e-6f * std::abs(b); };
  if (got.kind != expected.kind || got.out != expected.out) return false;
  switch (expected.kind) {
    case op::conv2d:
    case op::depthwise:
    case op::max_pool:
    case op::avg_pool:
      return (expected.kind != op::conv2d || got.groups == expected.groups) &&
             (expected.kind != op::avg_pool || got.count_pads == expected.count_pads) &&
             reached(got.win, in, got.out) == reached(expected.win, in, got.out);
    case op::channel_shuffle: return got.groups == expected.groups;
    case op::matmul: return got.transposed == expected.transposed && near(got.alpha, expected.alpha);
    case op::sub:
    case op::div:
    case op::less:
    case op::power: return got.exchanged == expected.exchanged;
    case op::leaky_relu:
    case op::batch_norm: return near(got.alpha, expected.alpha);
    case op::clip: return got.alpha == expected.alpha && got.beta == expected.beta;
    case op::prelu: return got.entries == expected.entries;
    case op::slice: return got.axis == expected.axis && got.begin == expected.begin && got.step == expected.step;
    case op::pad:
      return got.alpha == expected.alpha && got.pad_channels == expected.pad_channels && got.win == expected.win;
    case op::permute: return std::equal(got.order, got.order + 4, expected.order);
    default: return true;
  }
}

/// The kinds of the nodes of all expressions of an operator in normal form; `input` stands for an expression that is
/// not recognised.
template <int N>
struct kinds {
  op of[N]{};
  int count{};
};
constexpr kinds<24> kinds_of(definition const& d) {
  kinds<24> r;
  definition const n = ago::recognition::normalised(d);
  for (int i = 0; i < n.expression_count; ++i) {
    recognised_nodes const found = recognise(n.expressions[i], ago::recognition::parameters_of(n, i));
    for (int k = 0; k < found.count; ++k) r.of[r.count++] = found.nodes[k].made.kind;
    if (!found) r.of[r.count++] = op::input;
  }
  return r;
}
template <auto const& Operator>
bool consists_of(std::vector<op> const& expected) {
  static constexpr auto found = kinds_of(Operator);
  return std::equal(found.of, found.of + found.count, expected.begin(), expected.end());
}

constexpr definition cell = operators::sub_lstm_cell(extents(8, 32), extents(8, 64), extents(8, 64)),
                     softmax = operators::softmax(extents(8, 32)),
                     depth_to_space = operators::depth2space(2)(extents(1, 8, 8, 16)),
                     dilated = operators::dilated_convolution(8, 3, 2, 2)(extents(1, 9, 9, 4)),
                     capsules = operators::capsule_convolution(4, 3, 2)(extents(1, 2, 7, 7, 2, 3)),
                     outer = operators::outer_product(extents(3), extents(4));

/// Products of rows.
inline constexpr auto by_rows = compute("by_rows", [](operand a, operand b) {
  var n, i, k;
  return result(n, i) = sum(k)(a(n, i, k) * b(n, k));
});
constexpr definition matrices = by_rows(extents(5, 3, 16), extents(5, 16)),
                     vectors = by_rows(extents(5, 1, 16), extents(5, 16));

}  // namespace

TEST_CASE("the operators of docs/expressions.md as nodes, in constant evaluation") {
  CHECK(
      consists_of<cell>({op::linear, op::linear, op::add, op::bias, op::sigmoid,  // gates
                         op::slice, op::mul, op::slice, op::add, op::slice, op::sub, op::sigmoid, op::slice, op::sub}));
  CHECK(consists_of<softmax>({op::reduce_max, op::sub, op::map, op::reduce_sum, op::div}));
  CHECK(consists_of<depth_to_space>({op::permute}));
  CHECK(consists_of<dilated>({op::input}));  // its weights are [out][row][column][in]
  CHECK(consists_of<capsules>({op::input}));
  CHECK(consists_of<outer>({op::expand, op::mul}));
}

TEST_CASE("dot products are no matrix products: a loop nest takes a fraction of the time") {
  CHECK(consists_of<matrices>({op::matmul}));
  CHECK(consists_of<vectors>({op::input}));
}

TEST_CASE("what layers record is recognised in its expression, field by field") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    bool more = true;
    for (int which = 0; more; ++which) {
      graph_test::random_layers layers(1000 * seed + unsigned(which));
      ago::tensor const x = layers.trace.add(
          {.n = layers.any(2, 3), .h = layers.any(5, 8), .w = layers.any(5, 8), .c = 2 * layers.any(2, 3)});
      more = layers.apply(which, x);
      if (!more || layers.trace.fault() != ago::ir::fault::none) continue;
      auto const& all = layers.trace.recorder;
      ago::ir::node const& n = layers.trace.last();
      std::vector<extents> in;
      for (int k = 0; k < n.input_count; ++k)
        in.push_back(ago::described::extents_of(all.nodes[all.edges[n.input_first + k]].out));
      auto const d = ago::described::description_of(n, in.data());
      REQUIRE(d.exists);
      std::string const name = name_of(n.kind);
      CAPTURE(seed);
      CAPTURE(which);
      CAPTURE(name);
      recognised_nodes const r = recognised(d.as);
      REQUIRE(r.count == 1);
      ago::ir::node const& got = r.nodes[0].made;
      CAPTURE(std::string(name_of(got.kind)));
      bool const square = n.input_count == 2 && in[0] == in[1];  // either operand may be the first
      ago::ir::node expected = n;
      if (square && is_binary(n.kind)) expected.exchanged = false;
      CHECK(is_same(got, expected, all.nodes[all.edges[n.input_first]].out));
      if (has_weights(n.kind)) CHECK((1u << r.nodes[0].weight) == ago::recognition::parameters_of(d.as, 0));
      if (n.kind == op::depthwise) CHECK(got.groups == n.groups);
      CHECK(r.nodes[0].operands[0].as == all.nodes[all.edges[n.input_first]].out);
    }
  }
}

TEST_CASE("operators of random graphs, written as expressions, are recognised") {
  std::set<std::string> found, missed;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    reference::random_graph const random(seed);
    auto const& g = random.graph;
    std::mt19937 numbers(seed);
    for (int v = g.input_count; v < g.node_count; ++v) {
      ago::ir::node const& n = g.nodes[v];
      auto const d = ago::described::description_of(g, v);
      if (!d.exists || d.as.expression_count != 1) continue;
      std::string const name = name_of(n.kind);
      recognised_nodes const r = recognised(d.as);
      CAPTURE(seed);
      CAPTURE(v);
      CAPTURE(name);
      if (!r) {
        bool const dot_products = n.kind == op::matmul && n.out.w == 1 && n.out.c == 1;
        if (!dot_products) missed.insert(name);
        continue;
      }
      ago::ir::node const& last = r.nodes[r.count - 1].made;
      bool const swapped = n.exchanged && n.input_count == 2 && g.source(v).out == g.source(v, 1).out;
      ago::ir::node expected = n;
      if (swapped && is_binary(n.kind)) expected.exchanged = false;
      if (is_same(last, expected, g.source(v).out)) found.insert(name);
      check_values(d.as, r, random_operands(d.as, numbers));
    }
  }
  CHECK(found.size() >= 44);
  // Parts, data-dependent indices, quotients that digits do not resolve, patches and heads.
  CHECK(missed == std::set<std::string>{"attention_scores", "attention_values", "concat", "embedding",
                                        "resize_bilinear", "resize_nearest"});
}
