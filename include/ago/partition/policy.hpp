// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Policies: types that partition a network, and what runs inside the subgraphs that they choose.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/partition/apollo.hpp>
#include <ago/partition/chains.hpp>
#include <ago/partition/fuse_ops.hpp>
#include <ago/partition/neoflow.hpp>
#include <ago/partition/ordered.hpp>
#include <ago/partition/paper.hpp>

#include <climits>
#include <concepts>

namespace ago::partition {

/// The partitions of a network into these subgraphs of its operators (operator i is node g.input_count + i): the
/// mini-subgraphs are the parts that one kernel computes; of these, the chains that save the most time within the
/// caches of `on` are computed in one pass. The subgraphs must be able to run one after another.
template <int V, int E, int O>
constexpr partitions<V> partition_into(graph<V, E, O> const& g, grouping<V> const& subgraphs, device const& on) {
  grouping<V> const minis = atoms_of(g, subgraphs);
  dag<V, E> const operators = dag_of(g);
  grouping<V> const chains = compose(minis, chains_of(g, minis, on, subgraphs), operators.count);
  partitions<V> r = ordered(g, operators, subgraphs, chains, minis);
  for (int v = 0; v < g.node_count; ++v) r.chain_of[v] = v < g.input_count ? -1 : chains.of[v - g.input_count];
  return r;
}

/// A policy is a type with a function
///
///     static constexpr auto partition(auto const& g, device const& on);
///
/// that returns the partitions<V> of a graph<V, E, O> for a device, in constant expressions and at run time, made by
/// `partition_into` or `ordered`. It may have these static members, too:
///
///     opening opens                what it sees as several primitives (passes/opening.hpp); by default, nothing
///     bool merges_siblings         whether it partitions the network after horizontal fusion; by default, it does not
///     char const* name             for tools
///     int most_operators           how many it can partition within compilers' limits; by default, any number
///     partition_opened(g, all, on) replaces `partition` where `all` is `g` with opened operators
///     kernels(g, on), partition_kernels(g, kernels, on)
///                                  replace `partition` if operators are computed again: the kernel_paths, and the
///                                  partition of the graph in which every operator occurs once for each kernel that
///                                  computes it, grouped by kernel
///     phases<G, On>                a template whose member `partition` is partition(G, On), found in several constant
///                                  evaluations, to each of which compilers' limits apply
///     phases_opened<G, All, Primitives, On>
///                                  likewise for partition_opened(G, All, On); `Primitives` is All.graph
///
/// All policies use the same kernels; results differ only by rounding.
template <class P>
concept is_policy = requires(graph<2, 1, 1> const& g, device const& on) {
  { P::partition(g, on) } -> std::same_as<partitions<2>>;
};

/// Which operators a policy opens.
template <class Policy>
inline constexpr opening opened_by = [] {
  if constexpr (requires { Policy::opens; }) return Policy::opens;
  else return opening{false, false, false};
}();

/// Whether a policy partitions the network after horizontal fusion.
template <class Policy>
inline constexpr bool merges_siblings = [] {
  if constexpr (requires { Policy::merges_siblings; }) return Policy::merges_siblings;
  else return false;
}();

/// Whether a policy has operators computed again.
template <class Policy>
inline constexpr bool recomputes = requires(graph<2, 1, 1> const& g, device const& on) {
  { Policy::kernels(g, on) } -> std::same_as<kernel_paths<2>>;
};

/// How many operators a policy can partition within compilers' default limits for constant evaluation. (At run time any
/// number can be partitioned.)
template <class Policy>
inline constexpr int most_operators = [] {
  if constexpr (requires { Policy::most_operators; }) return Policy::most_operators;
  else return INT_MAX;
}();

/// The library's policies, by name.
enum class policy : std::uint8_t {
  ago,             ///< the intervals of atoms with the best chains, intensive fusion
  ago_ni,          ///< the same subgraphs without intensive fusion: epilogues only
  paper,           ///< AGO's Algorithm 1, taken literally, SPLIT by the same, intensive fusion
  paper_adjacent,  ///< as `paper`, but only neighbours are contracted
  fuse_ops,        ///< TVM's: post-dominators and patterns
  apollo,          ///< MindSpore's: rules, memory stitching, parallelism stitching
  neoflow,         ///< NeoFlow's: greedy fusion by a reward, values computed again instead of stored
  own,             ///< none of them: a type of the user's
};
inline constexpr int policies = 7;  ///< of the library
static_assert(ir::has_enumerators<policy, policies + 1>());

/// f.operator()<P>() with the type P of a policy of the library.
constexpr auto with_policy(policy p, auto const& f) {
  switch (p) {
    case policy::ago: return f.template operator()<ago_policy>();
    case policy::ago_ni: return f.template operator()<ago_ni_policy>();
    case policy::paper: return f.template operator()<paper_policy>();
    case policy::paper_adjacent: return f.template operator()<paper_adjacent_policy>();
    case policy::fuse_ops: return f.template operator()<fuse_ops_policy>();
    case policy::apollo: return f.template operator()<apollo_policy>();
    case policy::neoflow: return f.template operator()<neoflow_policy>();
    case policy::own: break;
  }
  no_case_for_this_value();
}

template <policy>
inline constexpr bool never_policy = false;
template <policy P>
constexpr auto library_policy() {
  if constexpr (P == policy::ago) return ago_policy{};
  else if constexpr (P == policy::ago_ni) return ago_ni_policy{};
  else if constexpr (P == policy::paper) return paper_policy{};
  else if constexpr (P == policy::paper_adjacent) return paper_adjacent_policy{};
  else if constexpr (P == policy::fuse_ops) return fuse_ops_policy{};
  else if constexpr (P == policy::apollo) return apollo_policy{};
  else if constexpr (P == policy::neoflow) return neoflow_policy{};
  else {
    static_assert(never_policy<P>, "no partitioner belongs to this policy");
    return ago_policy{};
  }
}

/// The type of a policy of the library.
template <policy P>
using policy_type = decltype(library_policy<P>());

constexpr char const* name_of(policy p) {
  return with_policy(p, []<class Policy>() { return Policy::name; });
}

/// The partition of `g` by a policy, for a device with these caches.
template <class Policy, int V, int E, int O>
constexpr partitions<V> partition_by(graph<V, E, O> const& g, device const& on = {}) {
  return Policy::partition(g, on);
}

/// Likewise, of a graph known at compile time.
template <class Policy, auto const& G, device On>
inline constexpr auto partition_in_phases = []() AGO_CONSTEVAL {
  if constexpr (requires { typename Policy::template phases<G, On>; }) return Policy::template phases<G, On>::partition;
  else return partition_by<Policy>(G, On);
}();

/// Likewise, by a policy of the library.
template <int V, int E, int O>
constexpr partitions<V> partition_by(policy p, graph<V, E, O> const& g, device const& on = {}) {
  return with_policy(p, [&]<class Policy>() { return partition_by<Policy>(g, on); });
}

}  // namespace ago::partition

namespace ago {
using partition::name_of;
using partition::partition_into;
using partition::policy;
}  // namespace ago
