// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks of two thousand operators, partitioned by every policy during compilation within every compiler's default
// limits.
#include "graphs.hpp"

#include <ago/partition/opened.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using builder = test::builder<2'080, 4'300>;
constexpr ago::shape image{1, 14, 14, 96};

/// A value that depends on another at every step of many towers, which meet only at the end: each contraction moves
/// the stages of half a network.
constexpr auto towers() {
  builder b;
  int top[40]{};
  for (int& x : top) x = b.input(image);
  for (int t = 0; b.g.node_count <= 2'000; t = (t + 1) % 40) {
    int const left = b.bias_relu(b.pointwise(top[t], 96)), right = b.depthwise(b.bias_relu(b.depthwise(top[t])));
    top[t] = b.unary(op::relu, b.binary(op::add, b.unary(op::tanh, left), right));
  }
  for (int n = 40; n > 1; n = (n + 1) / 2)
    for (int t = 0; t < n / 2; ++t) top[t] = b.binary(op::add, top[t], top[n - 1 - t]);
  b.output(top[0]);
  return b.g;
}

constexpr auto tower_network = towers();

#ifdef AGO_TEST_FULL
/// Inverted residuals with softmax in between, which apollo opens.
constexpr auto residuals() {
  return test::grown<builder>(image, 2'001, [](builder& b, int x) {
    return b.unary(op::softmax, b.inverted_residual(b.inverted_residual(x, 6), 6));
  });
}
constexpr auto residual_network = residuals();
#endif

template <int V>
bool same(ago::partition::ordered_clusters<V> const& a, ago::partition::ordered_clusters<V> const& b, int nodes) {
  return a.count == b.count && a.operators == b.operators && a.acyclic && b.acyclic &&
         std::equal(a.of, a.of + nodes, b.of) && std::equal(a.order, a.order + a.operators, b.order);
}

/// The partition found at compile time is that found at run time.
template <auto const& G, class Policy>
void check() {
  static constexpr auto const& found = ago::partition::partition_in_phases<Policy, G, ago::device{}>;
  static_assert(G.node_count - G.input_count >= 2'000 && found.subgraphs.acyclic);
  auto const expected = ago::partition::partition_by<Policy>(G);
  CAPTURE(Policy::name);
  CHECK(same(found.subgraphs, expected.subgraphs, G.node_count));
  CHECK(same(found.minis, expected.minis, G.node_count));
  CHECK(std::equal(found.chain_of, found.chain_of + G.node_count, expected.chain_of));
}

TEST_CASE("two thousand operators are partitioned equally at compile time and at run time") {
  check<tower_network, ago::partition::ago_policy>();
  check<tower_network, ago::partition::paper_policy>();
  check<tower_network, ago::partition::paper_adjacent_policy>();
  check<tower_network, ago::partition::fuse_ops_policy>();
  check<tower_network, ago::partition::apollo_policy>();
#ifdef AGO_TEST_FULL
  check<residual_network, ago::partition::apollo_policy>();
#endif
}

}  // namespace
