// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small networks under every policy: the results are the same up to rounding, whatever the partition.
#include "fusion.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace model_test;

namespace {

inline constexpr auto residuals =
    input{.h = 28, .w = 28, .c = 24} | inverted_residual(144) | inverted_residual(144) | relu{};

inline constexpr auto activated_first = input{.h = 9, .w = 9, .c = 8} | relu{} |
                                        conv2d{.out = 16, .kernel = 3, .pad = 1} | batch_norm{} | relu6{} |
                                        depthwise{.kernel = 3, .pad = 1} | batch_norm{} | hard_swish{} | pointwise{8};

inline constexpr auto gated = input{.h = 8, .w = 8, .c = 16} | [](tensor x) {
  tensor const y = x | pointwise{16} | batch_norm{} | silu{};
  return y * (y | global_avg_pool{} | pointwise{4} | relu{} | pointwise{16} | sigmoid{});
};

inline constexpr auto branches = input{.h = 10, .w = 10, .c = 6} | [](tensor x) {
  tensor const y = x | max_pool{.kernel = 3, .stride = 2, .pad = 1};
  tensor const a = y | pointwise{8} | relu{}, b = y | conv2d{.out = 8, .kernel = 3, .pad = 1} | relu{};
  tensor const c = y | depthwise{.kernel = 3, .pad = 1};
  return concat(a, b, c, y) | channel_shuffle{2} | pointwise{12} | batch_norm{};
};

inline constexpr auto attending = input{.w = 12, .c = 32} | [](tensor x) {
  tensor const n = x | layer_norm{}, q = n | linear{32}, k = n | linear{32}, v = n | linear{32};
  tensor const y = x + (attention{4}(q, k, v) | linear{32});
  return y + (y | layer_norm{} | linear{64} | gelu{} | linear{32});
};

inline constexpr auto elementwise_only = input{.h = 5, .w = 5, .c = 7} | [](tensor x) {
  tensor const a = x | relu{}, b = x | sigmoid{} | bias{};
  return (a + b) * (a | gelu{}) | softmax{} | silu{};
};

/// Caches so small that chains of small networks pay.
constexpr device small_caches{8 << 10, 64 << 10};

/// A policy of one's own: it opens compound operators, merges siblings, and cuts after every third operator.
struct by_three {
  static constexpr ago::passes::opening opens{};
  static constexpr bool merges_siblings = true;
  template <int V, int E, int O>
  static constexpr partitions<V> partition(ago::ir::graph<V, E, O> const& g, device const& on) {
    grouping<V> subgraphs;
    for (int i = 0; i < g.node_count - g.input_count; ++i) subgraphs.count = (subgraphs.of[i] = i / 3) + 1;
    return partition_into(g, subgraphs, on);
  }
};

template <auto const& Net, options_for Options>
void agrees_with(std::vector<float> const& expected) {
  using compiled = program<Net, untuned, Options>;
  auto const got = result_of<compiled, Net>(differential::edge::end);
  REQUIRE(got.size() == expected.size());
  float largest = 0, worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::fmax(largest, std::fabs(expected[i]));
    float const difference = std::fabs(got[i] - expected[i]);
    if (!(difference <= worst)) worst = difference;
  }
  CAPTURE(int(Options.policy));
  CHECK(worst <= 1e-5f * largest);
}

template <auto const& Net>
void all_policies_agree() {
  auto const expected = result_of<program<Net>, Net>(differential::edge::end);
  agrees_with<Net, options{.device = small_caches}>(expected);
  agrees_with<Net, options{.policy = policy::ago_ni, .device = device{}}>(expected);
  agrees_with<Net, options{.policy = policy::paper, .device = small_caches}>(expected);
  agrees_with<Net, options{.policy = policy::paper_adjacent, .device = small_caches}>(expected);
  agrees_with<Net, options{.policy = policy::fuse_ops, .device = device{}}>(expected);
  agrees_with<Net, options{.policy = policy::apollo, .device = device{}}>(expected);
  agrees_with<Net, options{.policy = policy::neoflow, .device = small_caches}>(expected);
  agrees_with<Net, options_for(by_three{}, small_caches)>(expected);
}

TEST_CASE("every policy gives the results of the library's own policy") {
  SUBCASE("an inverted residual") { all_policies_agree<small>(); }
  SUBCASE("several inputs and outputs") { all_policies_agree<two_in_two_out>(); }
  SUBCASE("inverted residuals in chains") { all_policies_agree<residuals>(); }
  SUBCASE("activations in front of convolutions") { all_policies_agree<activated_first>(); }
  SUBCASE("a gate") { all_policies_agree<gated>(); }
  SUBCASE("branches and moves of channels") { all_policies_agree<branches>(); }
  SUBCASE("attention") { all_policies_agree<attending>(); }
  SUBCASE("no complex operator") { all_policies_agree<elementwise_only>(); }
}

/// NeoFlow's without computing anything again.
struct neoflow_once {
  static constexpr ago::passes::opening opens = partition::neoflow_policy::opens;
  static constexpr auto partition(auto const& g, device const& on) {
    return partition::neoflow_policy::partition(g, on);
  }
};

inline constexpr auto normalised =
    input{.h = 12, .w = 12, .c = 16} | instance_norm{} | relu{} | pointwise{16} | layer_norm{};

TEST_CASE("operators that are computed again give bit-identical results in fewer steps") {
  using once = program<normalised, untuned, options_for(neoflow_once{}, small_caches)>;
  using again = program<normalised, untuned, options{.policy = policy::neoflow, .device = small_caches}>;
  static_assert(again::graph.node_count == once::graph.node_count + 2);  // x - mean, in both norms
  static_assert(again::steps == once::steps - 2);
  static_assert(again::weight_bytes == once::weight_bytes);
  auto const where = differential::edge::end;
  CHECK(result_of<again, normalised>(where) == result_of<once, normalised>(where));
}

TEST_CASE("the policies differ in what they join") {
  using own = program<residuals, untuned, options{.device = small_caches}>;
  using literal = program<residuals, untuned, options{.policy = policy::paper, .device = small_caches}>;
  using groups = program<residuals, untuned, policy::fuse_ops>;
  static_assert(own::steps < groups::steps);  // chains
  static_assert(groups::steps == groups::subgraphs);
  static_assert(literal::subgraphs < groups::subgraphs);
  static_assert(literal::steps > own::steps);  // biases assigned to the convolution after them
}

}  // namespace
