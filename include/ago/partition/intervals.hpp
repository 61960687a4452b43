// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups as intervals of an execution order: dynamic programming finds those that save the most memory traffic.
#pragma once

#include <ago/partition/cluster.hpp>
#include <ago/partition/savings.hpp>

#include <initializer_list>

namespace ago {

namespace detail {

/// The intensive pairs of a network whose tiles fit `cache` bytes: pairs that end in v start from the operators
/// from[begin[v]] ... from[begin[v + 1] - 1]; all are nodes of the graph. If so many complex operators reach the same
/// values that the pairs exceed the capacity, the rest is left out and counts as no gain.
template <int V, int E>
struct feasible_pairs {
  static constexpr int capacity = 2 * slots<E>;
  int from[capacity]{}, begin[slots<V> + 1]{};

  template <int O>
  constexpr feasible_pairs(graph<V, E, O> const& g, long cache) {
    int const all[slots<V>]{};
    pair_search<V> search;
    for (int b = 0, count = 0; b < g.node_count; ++b) {
      if (b >= g.input_count && ends_pair(g.nodes[b].kind))
        search.from(g, b, all, [&](int a, bool) {
          if (count < capacity && fits_cache(g, a, b, cache)) from[count++] = a;
        });
      begin[b + 1] = count;
    }
  }
};

/// The gain of a triple in bytes: more than any network moves.
inline constexpr std::int64_t triple_gain = std::int64_t(1) << 44;

/// What intervals of an order of blocks gain: `gain` exactly if the interval contains the blocks `first` to `last`.
/// Everything that `bytes_removed` and `pairs_of` count has this form, because whatever lies on a path between two
/// blocks of an interval is in the interval too.
template <int V, int E>
struct interval_gains {
  static constexpr int capacity = feasible_pairs<V, E>::capacity + slots<E> + slots<V>;
  int first[capacity]{}, next[capacity]{}, count{};
  std::int64_t gain[capacity]{};
  int ending[slots<V>]{};  ///< head of the list of gains with this `last`; -1: none

  constexpr void add(int from, int to, std::int64_t amount) {
    if (from == to || count == capacity) return;  // inside a block: never cut
    first[count] = from;
    gain[count] = amount;
    next[count] = ending[to];
    ending[to] = count++;
  }

  /// `place`: the position of each operator's block in the order, by node of g.
  template <int O>
  constexpr interval_gains(graph<V, E, O> const& g, int const* place, feasible_pairs<V, E> const& pairs) {
    for (int v = 0; v < g.node_count; ++v) ending[v] = -1;
    add_traffic(g, place, pairs);
    for (int b = g.input_count; b < g.node_count; ++b)
      for (int i = pairs.begin[b]; i < pairs.begin[b + 1] && g.nodes[b].kind == op::pointwise; ++i)
        if (int const a = pairs.from[i]; g.nodes[a].kind == op::depthwise)
          for (int k = pairs.begin[a]; k < pairs.begin[a + 1]; ++k) add(place[pairs.from[k]], place[b], triple_gain);
  }

  /// A read is saved if the interval contains the block that it reads; for a complex operator, if it contains a block
  /// in which a pair starts. A store is saved if all reads are.
  template <int O>
  constexpr void add_traffic(graph<V, E, O> const& g, int const* place, feasible_pairs<V, E> const& pairs) {
    int low[slots<V>]{}, high[slots<V>]{};  // of each value: an interval with these blocks need not store it
    for (int v = 0; v < g.node_count; ++v) low[v] = INT_MAX, high[v] = -1;
    for (int o = 0; o < g.output_count; ++o) low[g.outputs[o]] = -1;
    for (int v = g.input_count; v < g.node_count; ++v) {
      int start = -1;
      for (int i = pairs.begin[v]; i < pairs.begin[v + 1]; ++i)
        start = place[pairs.from[i]] > start ? place[pairs.from[i]] : start;
      for (int k = 0; k < g.nodes[v].input_count; ++k) {
        int const u = g.operand(v, k);
        if (u < g.input_count) continue;
        int const from = !reads_many_times(g.nodes[v].kind) ? place[u] : k == 0 ? start : -1;
        low[u] = from < low[u] ? from : low[u];
        high[u] = place[v] > high[u] ? place[v] : high[u];
        if (from >= 0) add(from, place[v], 4 * g.nodes[u].out.count());
      }
    }
    for (int u = g.input_count; u < g.node_count; ++u)
      if (high[u] >= 0 && low[u] >= 0) add(low[u], high[u], 4 * g.nodes[u].out.count());
  }
};

/// How good a grouping is: by its gain, then by few groups, then by even weights.
struct interval_value {
  std::int64_t gain{};
  int groups{};
  std::int64_t squares{};  ///< sum of the squared weights of the groups, in whole units

  constexpr bool better_than(interval_value const& o) const {
    if (gain != o.gain) return gain > o.gain;
    return groups != o.groups ? groups < o.groups : squares < o.squares;
  }
};

template <int V>
struct interval_groups {
  interval_value value;
  grouping<V> blocks;  ///< of each block, in the blocks' own numbering
};

/// The best intervals of `order` lighter than `limit`; a block of that weight or more is an interval by itself. For
/// every end, all possible starts are tried: the time is the number of blocks times the length of intervals.
template <int V, int E>
constexpr interval_groups<V> best_intervals(dag<V, E> const& blocks, int const* order,
                                            interval_gains<V, E> const& gains, long limit) {
  interval_value best[slots<V> + 1]{};  // value of the blocks before this one
  int begin[slots<V> + 1]{};            // first block of the last interval of that solution
  std::int64_t gain[slots<V>]{}, more[slots<V>]{};  // of intervals from here up to `end`; added at this `end`
  long weight[slots<V> + 1]{};
  for (int end = 1, low = 0; end <= blocks.count; ++end) {
    weight[end] = weight[end - 1] + blocks.weight[order[end - 1]];
    while (low < end - 1 && weight[end] - weight[low] >= limit) ++low;
    for (int s = gains.ending[end - 1]; s >= 0; s = gains.next[s])
      if (gains.first[s] >= low) more[gains.first[s]] += gains.gain[s];
    std::int64_t sum = 0;
    for (int i = end - 1; i >= low; --i) {
      sum += more[i];
      more[i] = 0;
      gain[i] += sum;
      std::int64_t const units = (weight[end] - weight[i]) / 1000;
      interval_value const v{best[i].gain + gain[i], best[i].groups + 1, best[i].squares + units * units};
      if (i < end - 1 && !v.better_than(best[end])) continue;
      best[end] = v;
      begin[end] = i;
    }
  }
  int rep[slots<V>]{};
  for (int end = blocks.count; end > 0; end = begin[end])
    for (int i = begin[end]; i < end; ++i) rep[order[i]] = order[begin[end]];
  return {best[blocks.count], grouping_by<V>(rep, blocks.count)};
}

/// Every node as soon as possible after its operands: operands before readers, depth first from the ends.
template <int V, int E>
constexpr execution_order<V> operands_first(dag<V, E> const& d, bool last_operand_first) {
  execution_order<V> r;
  bool read[slots<V>]{}, entered[slots<V>]{};
  int stack[slots<V>]{}, visited[slots<V>]{};  // number of operands visited, of each node
  for (int e = 0; e < d.first[d.count]; ++e) read[d.source[e]] = true;
  for (int end = 0; end < d.count; ++end) {
    if (read[end]) continue;
    int depth = 0;
    stack[depth++] = end;
    entered[end] = true;
    while (depth > 0) {
      int const v = stack[depth - 1], k = visited[v]++;
      if (k == d.first[v + 1] - d.first[v]) {
        r.order[r.count++] = v;
        --depth;
        continue;
      }
      int const u = d.source[last_operand_first ? d.first[v + 1] - 1 - k : d.first[v] + k];
      if (entered[u]) continue;
      entered[u] = true;
      stack[depth++] = u;
    }
  }
  r.acyclic = r.count == d.count;
  return r;
}

/// Does each node read the one before it? Then the graph has no other order.
template <int V, int E>
constexpr bool is_only_order(dag<V, E> const& d, int const* order) {
  for (int i = 1; i < d.count; ++i) {
    bool reads = false;
    for (int e = d.first[order[i]]; e < d.first[order[i] + 1]; ++e) reads = reads || d.source[e] == order[i - 1];
    if (!reads) return false;
  }
  return true;
}

/// An order in which the members of each group are consecutive.
template <int V, int E>
constexpr execution_order<V> group_by_group(dag<V, E> const& d, grouping<V> const& groups) {
  execution_order<V> const outer = order_of(quotient(d, groups));
  int place[slots<V>]{}, rank[slots<V>]{};
  for (int i = 0; i < outer.count; ++i) place[outer.order[i]] = i;
  for (int v = 0; v < d.count; ++v) rank[v] = place[groups.of[v]];
  return order_of(d, rank);
}

}  // namespace detail

/// Groups `blocks` (groups of operators whose contraction creates no cycle) into subgraphs lighter than `limit`, such
/// that as many bytes as possible need not be moved (`bytes_removed`, pairs within `cache` bytes). The result, groups
/// of operators, is the best intervals of several execution orders of the blocks: the recorded one, two that follow
/// operands depth first, and one in which the groups of CLUSTER are intervals, so that CLUSTER never saves more.
///
/// Intervals of an execution order create no cycle: every edge between two leads from the earlier to the later one.
/// Conversely, the groups of any acyclic partition are intervals of some order. So if there is only one order, no other
/// partition that keeps the blocks together and respects the limit saves more.
template <int V, int E, int O>
constexpr grouping<V> interval_subgraphs(graph<V, E, O> const& g, dag<V, E> const& operators, grouping<V> const& blocks,
                                         long limit, long cache) {
  dag<V, E> const q = quotient(operators, blocks);
  detail::feasible_pairs<V, E> const pairs(g, cache);
  detail::interval_groups<V> best{};
  auto const try_order = [&](execution_order<V> const& sorted) {
    int position[slots<V>]{}, place[slots<V>]{};
    for (int i = 0; i < sorted.count; ++i) position[sorted.order[i]] = i;
    for (int v = g.input_count; v < g.node_count; ++v) place[v] = position[blocks.of[v - g.input_count]];
    detail::interval_gains<V, E> const gains(g, place, pairs);
    auto const found = detail::best_intervals(q, sorted.order, gains, limit);
    if (best.value.groups == 0 || found.value.better_than(best.value)) best = found;
  };
  execution_order<V> const recorded = order_of(q);
  try_order(recorded);
  if (!detail::is_only_order(q, recorded.order)) {
    for (bool const last_operand_first : {false, true}) try_order(detail::operands_first(q, last_operand_first));
    try_order(detail::group_by_group(q, cluster(q, limit)));
  }
  return compose(blocks, best.blocks, operators.count);
}

}  // namespace ago
