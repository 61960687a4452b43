// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the algorithm that partitions a network.
#pragma once

#include <ago/partition/apollo.hpp>
#include <ago/partition/fuse_ops.hpp>
#include <ago/partition/paper.hpp>

namespace ago {

/// Partitioning algorithms. All of them use the same kernels; results differ only by rounding.
enum class policy : std::uint8_t {
  ago,             ///< the intervals of atoms with the best chains, intensive fusion
  ago_ni,          ///< the same subgraphs without intensive fusion: epilogues only
  paper,           ///< AGO's Algorithm 1, taken literally, SPLIT by the same, intensive fusion
  paper_adjacent,  ///< as `paper`, but only neighbours are contracted
  fuse_ops,        ///< TVM's: post-dominators and patterns
  apollo,          ///< MindSpore's: rules, memory stitching, parallelism stitching
};
inline constexpr int policies = 6;
static_assert(detail::has_enumerators<policy, policies>());

constexpr char const* name_of(policy p) {
  constexpr char const* names[] = {"ago", "ago-ni", "paper", "paper-adjacent", "fuse-ops", "apollo"};
  static_assert(detail::lines_of(names) == policies);
  return names[int(p)];
}

/// May steps of one subgraph run as one pipeline?
constexpr bool fuses_intensively(policy p) {
  switch (p) {
    case policy::ago:
    case policy::paper:
    case policy::paper_adjacent: return true;
    case policy::ago_ni:
    case policy::fuse_ops:
    case policy::apollo: return false;
  }
  detail::no_case_for_this_value();
}

/// Can a network of this many operators be partitioned within compilers' default limits for constant evaluation? (At
/// run time any size can.)
constexpr bool can_partition(policy p, int operators) { return p != policy::paper || operators <= 700; }

/// The partition of `g` by policy `P`, for a device with these caches.
template <policy P, int V, int E, int O>
constexpr partitions<V> partition_by(graph<V, E, O> const& g, device const& on = {}) {
  if constexpr (P == policy::paper) return paper_partition(g, affix::component, 0, on);
  else if constexpr (P == policy::paper_adjacent) return paper_partition(g, affix::adjacent, 0, on);
  else if constexpr (P == policy::fuse_ops) return fuse_ops_partition(g);
  else if constexpr (P == policy::apollo) return apollo_partition(g, on);
  else {
    static_assert(P == policy::ago || P == policy::ago_ni, "no partitioner belongs to this policy");
    return ago_partition(g, 0, P == policy::ago, on);
  }
}

namespace detail {

/// f.operator()<P>() with the policy `p`, chosen at run time, as P.
constexpr auto with_policy(policy p, auto const& f) {
  switch (p) {
    case policy::ago: return f.template operator()<policy::ago>();
    case policy::ago_ni: return f.template operator()<policy::ago_ni>();
    case policy::paper: return f.template operator()<policy::paper>();
    case policy::paper_adjacent: return f.template operator()<policy::paper_adjacent>();
    case policy::fuse_ops: return f.template operator()<policy::fuse_ops>();
    case policy::apollo: return f.template operator()<policy::apollo>();
  }
  no_case_for_this_value();
}

}  // namespace detail

/// Likewise, by a policy chosen at run time.
template <int V, int E, int O>
constexpr partitions<V> partition_by(policy p, graph<V, E, O> const& g, device const& on = {}) {
  return detail::with_policy(p, [&]<policy P>() { return partition_by<P>(g, on); });
}

}  // namespace ago
