// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention is one chain, unless values between its products have other readers, or fusion is off.
#include <ago/layers/layers.hpp>
#include <ago/partition/partition.hpp>
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;
using namespace ago::passes;

namespace {

template <class G>
constexpr int number_of(G const& g, op kind, int nth = 0) {
  for (int v = 0; v < g.node_count; ++v)
    if (g.nodes[v].kind == kind && nth-- == 0) return v;
  return -1;
}

/// Whether scores, softmax and the product with the values of the first attention of `g` are in one chain.
template <class G, int V>
constexpr bool in_one_chain(G const& g, partitions<V> const& p) {
  int const chain = p.chain_of[number_of(g, op::attention_scores)];
  return p.chain_of[number_of(g, op::softmax)] == chain && p.chain_of[number_of(g, op::attention_values)] == chain;
}

constexpr auto encoder = input{.n = 2, .w = 12, .c = 32} | [](tensor x) {
  return x + (x | layer_norm{} | linear{96} | attention{.heads = 4} | linear{32});
};

}  // namespace

TEST_CASE("attention is one chain, and its products are mini-subgraphs") {
  constexpr auto const& g = optimized<encoder>::value;
  constexpr auto p = ago_partition(g);
  static_assert(p.subgraphs.acyclic && p.minis.acyclic);
  static_assert(in_one_chain(g, p));
  constexpr int scores = number_of(g, op::attention_scores), weights = number_of(g, op::softmax);
  constexpr int values = number_of(g, op::attention_values);
  static_assert(p.minis.of[scores] != p.minis.of[weights] && p.minis.of[weights] != p.minis.of[values]);
  static_assert(p.minis.of[scores] != p.minis.of[values]);
  static_assert(p.subgraphs.of[scores] == p.subgraphs.of[values]);
  constexpr int before = number_of(g, op::linear, 0), behind = number_of(g, op::linear, 1);
  static_assert(p.chain_of[before] != p.chain_of[scores] && p.chain_of[behind] != p.chain_of[scores]);
}

TEST_CASE("without intensive fusion it is three atoms") {
  constexpr auto const& g = optimized<encoder>::value;
  constexpr auto p = ago_partition(g, 0, false);
  static_assert(!in_one_chain(g, p));
  constexpr int scores = p.chain_of[number_of(g, op::attention_scores)];
  constexpr int weights = p.chain_of[number_of(g, op::softmax)];
  constexpr int values = p.chain_of[number_of(g, op::attention_values)];
  static_assert(scores != weights && weights != values && scores != values);
}

namespace {

constexpr auto shared_weights = input{.w = 12, .c = 32} | [](tensor x) {
  return attention{.heads = 4}(x, x, x) + attention{.heads = 4}(x, x, x | relu{});
};
constexpr auto two_heads_of_one =
    input{.w = 12, .c = 32} | [](tensor x) { return attention{.heads = 4}(x, x, x) + attention{.heads = 2}(x, x, x); };

}  // namespace

TEST_CASE("weights that two attentions share are computed once, and stored") {
  constexpr auto const& g = optimized<shared_weights>::value;
  static_assert(number_of(g, op::softmax, 1) == -1);
  static_assert(!in_one_chain(g, ago_partition(g)));
}

TEST_CASE("two attentions are two chains") {
  constexpr auto const& g = optimized<two_heads_of_one>::value;
  constexpr auto p = ago_partition(g);
  static_assert(in_one_chain(g, p));
  static_assert(p.chain_of[number_of(g, op::attention_values, 0)] != p.chain_of[number_of(g, op::attention_values, 1)]);
  static_assert(p.chain_of[number_of(g, op::softmax, 1)] == p.chain_of[number_of(g, op::attention_values, 1)]);
}

TEST_CASE("scores or weights that are outputs, or changed on the way, are not inner values") {
  auto const& net = optimized<encoder>::value;
  auto g = fit<40, 40, 2>(net);
  CHECK(in_one_chain(g, ago_partition(g)));
  for (op const kind : {op::attention_scores, op::softmax}) {
    auto given_out = g;
    given_out.outputs[given_out.output_count++] = number_of(g, kind);
    CHECK_FALSE(in_one_chain(given_out, ago_partition(given_out)));
  }
  auto other = g;  // not a softmax
  other.nodes[number_of(g, op::softmax)].kind = op::layer_norm;
  auto const p = ago_partition(other);
  CHECK(p.chain_of[number_of(g, op::attention_scores)] != p.chain_of[number_of(g, op::attention_values)]);
}
