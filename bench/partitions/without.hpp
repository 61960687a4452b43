// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's policy with one part taken away, to see what that part gains.
#pragma once

#include <ago/partition/cluster.hpp>
#include <ago/partition/policy.hpp>

#include <limits>

namespace bench {

enum class part {
  none,      ///< nothing is taken away
  dp,        ///< subgraphs are those of Algorithm 1 on atoms, and chains the best within them
  atoms,     ///< every operator is computed by a kernel of its own
  chains,    ///< every atom is computed alone
  orders,    ///< only the recorded order is cut
  siblings,  ///< horizontal fusion
  limit,     ///< subgraphs may have any weight
};
inline constexpr part all_parts[] = {part::none,   part::dp,       part::atoms, part::chains,
                                     part::orders, part::siblings, part::limit};

constexpr char const* name_of(part p) {
  switch (p) {
    case part::none: return "ago";
    case part::dp: return "no DP";
    case part::atoms: return "no atoms";
    case part::chains: return "no chains";
    case part::orders: return "no other orders";
    case part::siblings: return "no siblings";
    case part::limit: return "no Td";
  }
  return "?";
}

template <part Taken>
struct ago_without {
  static constexpr char const* name = name_of(Taken);
  static constexpr bool merges_siblings = Taken != part::siblings;

  template <int V, int E, int O>
  static constexpr ago::partitions<V> partition(ago::ir::graph<V, E, O> const& g, ago::device const& on) {
    ago::grouping<V> const atoms =
        Taken == part::atoms ? apart<V>(g.node_count - g.input_count) : ago::partition::atoms_of(g);
    if constexpr (Taken == part::dp) {
      auto const clusters = cluster(quotient(ago::partition::dag_of(g), atoms), ago::partition::default_limit);
      return partition_into(g, compose(atoms, clusters, g.node_count - g.input_count), on);
    } else {
      long const limit = Taken == part::limit ? std::numeric_limits<long>::max() / 2 : 0;
      return ago_partition_of(g, atoms, limit, Taken != part::chains, on, Taken != part::orders);
    }
  }

 private:
  template <int V>
  static constexpr ago::grouping<V> apart(int count) {
    ago::grouping<V> r;
    for (r.count = 0; r.count < count; ++r.count) r.of[r.count] = r.count;
    return r;
  }
};

}  // namespace bench
