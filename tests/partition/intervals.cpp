// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subgraphs as intervals of execution orders, compared with all acyclic partitions of small networks.
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/intervals.hpp>

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <optional>

namespace {

using ago::op;
using groups = std::vector<int>;
constexpr long all_fits = 1 << 20;

/// A network whose operators are grouped into blocks, which are never cut. For small networks, it finds the operands of
/// each block and the gain of a partition by exhaustive search.
template <class Graph>
struct small_network {
  Graph const& g;
  ago::grouping<160> blocks;
  long limit, cache;
  decltype(dag_of(g)) operators = dag_of(g), quotient = ago::quotient(operators, blocks);

  int size() const { return quotient.count; }
  unsigned read_by(int b) const {
    unsigned set = 0;
    for (int e = quotient.first[b]; e < quotient.first[b + 1]; ++e) set |= 1u << quotient.source[e];
    return set;
  }

  /// Whether each group is lighter than the limit, or a single block.
  bool is_light(groups const& of) const {
    std::vector<long> weight(of.size());
    std::vector<int> members(of.size());
    for (std::size_t b = 0; b < of.size(); ++b) {
      weight[std::size_t(of[b])] += quotient.weight[b];
      ++members[std::size_t(of[b])];
    }
    for (std::size_t k = 0; k < of.size(); ++k)
      if (members[k] > 1 && weight[k] >= limit) return false;
    return true;
  }

  bool is_acyclic(groups const& of) const {
    std::vector<unsigned> reads(of.size()), members(of.size());
    for (std::size_t b = 0; b < of.size(); ++b) {
      reads[std::size_t(of[b])] |= read_by(int(b));
      members[std::size_t(of[b])] |= 1u << b;
    }
    unsigned done = 0;
    for (std::size_t round = 0; round < of.size(); ++round)
      for (std::size_t k = 0; k < of.size(); ++k)
        if ((reads[k] & ~members[k] & ~done) == 0) done |= members[k];
    return done == (1u << of.size()) - 1;
  }

  /// Triples and bytes according to the statistics; triples count if nothing is too large for the cache.
  std::pair<int, long> gain(groups const& of) const {
    int node_of[160]{};
    for (int v = 0; v < g.node_count; ++v) node_of[v] = v < g.input_count ? -1 : of[blocks.of[v - g.input_count]];
    auto const pairs = pairs_of(g, node_of, cache);
    return {cache >= all_fits ? pairs.triples : 0, bytes_removed(g, node_of, pairs)};
  }

  /// Calls visit(of) for every acyclic partition of the blocks.
  void for_each_partition(std::function<void(groups const&)> const& visit) const {
    groups of = groups(std::size_t(size()));
    std::function<void(int, int)> const go = [&](int b, int count) {
      if (b == size()) {
        if (is_acyclic(of)) visit(of);
        return;
      }
      for (int k = 0; k <= count; ++k) {
        of[std::size_t(b)] = k;
        go(b + 1, std::max(count, k + 1));
      }
    };
    go(0, 0);
  }

  /// Calls visit(order) for every execution order of the blocks.
  void for_each_order(std::function<void(groups const&)> const& visit) const {
    groups order;
    std::function<void(unsigned)> const go = [&](unsigned done) {
      if (int(order.size()) == size()) return visit(order);
      for (int b = 0; b < size(); ++b)
        if (!(done & 1u << b) && (read_by(b) & ~done) == 0) {
          order.push_back(b);
          go(done | 1u << b);
          order.pop_back();
        }
    };
    go(0);
  }

  ago::detail::interval_groups<160> best_of(groups const& order) const {
    int place[160]{};
    for (int v = g.input_count; v < g.node_count; ++v)
      place[v] = int(std::find(order.begin(), order.end(), blocks.of[v - g.input_count]) - order.begin());
    ago::detail::feasible_pairs<160, 400> const pairs(g, cache);
    ago::detail::interval_gains<160, 400> const gains(g, place, pairs);
    return ago::detail::best_intervals(quotient, order.data(), gains, limit);
  }
  groups intervals_of(groups const& order) const {
    auto const found = best_of(order);
    return groups(found.blocks.of, found.blocks.of + size());
  }

  groups subgraphs() const {
    auto const found = interval_subgraphs(g, operators, blocks, limit, cache);
    groups of = groups(std::size_t(size()));
    for (int v = 0; v < operators.count; ++v) of[std::size_t(blocks.of[v])] = found.of[v];
    return of;
  }
};

/// A sequence of operators with skips: a network with few execution orders, and with triples.
test::random_graph make_line(test::random& r, int operators) {
  test::builder<160, 400, 6> b;
  int x = b.input({1, 6, 6, 8}), skipped = x;
  while (b.g.node_count <= operators) {
    int const what = test::pick(r, 0, 99);
    if (what < 30)
      x = b.pointwise(x, 8 * test::pick(r, 1, 3));
    else if (what < 55)
      x = b.depthwise(x);
    else if (what < 60)
      x = b.add({.kind = op::max_pool, .out = b.shape_of(x), .win = {.kernel_h = 3, .kernel_w = 3}}, {x});
    else if (what < 80)
      x = b.unary(what < 70 ? op::relu : op::bias, x);
    else if (b.shape_of(skipped) == b.shape_of(x))
      x = b.binary(op::add, x, skipped);
    if (test::pick(r, 0, 3) == 0) skipped = x;
  }
  b.output(x);
  return b.g;
}

test::random_graph make_network(test::random& r, int operators) {
  return test::pick(r, 0, 2) == 0 ? make_line(r, operators) : test::make_random_network(r, operators);
}

/// A random network with atoms or single operators as blocks, and a limit; nothing if it has more than `most` blocks.
std::optional<small_network<test::random_graph>> pick_small(test::random& r, test::random_graph const& g, int most) {
  auto blocks = ago::atoms_of(g);
  if (test::pick(r, 0, 3) == 0)
    for (int v = blocks.count = 0; v < g.node_count - g.input_count; ++v) blocks.of[v] = blocks.count++;
  if (blocks.count == 0 || blocks.count > most) return std::nullopt;
  auto const d = dag_of(g);
  long const total = std::accumulate(d.weight, d.weight + d.count, 0L);
  // For other cache sizes, the triples that fit are not known here, so there are none.
  long cache = std::array{all_fits, 0L, long(test::pick(r, 500, 4'000))}[std::size_t(test::pick(r, 0, 2))];
  groups const together(160);
  if (pairs_of(g, together.data()).possible_triples > 0 && cache > 0) cache = all_fits;
  return small_network<test::random_graph>{g, blocks, 1 + total / test::pick(r, 1, 6), cache};
}

TEST_CASE("intervals are the best of all intervals of their order") {
  test::random r(81);
  int checked = 0, with_triples = 0;
  for (int round = 0; checked < 1'500; ++round) {
    auto const g = make_network(r, test::pick(r, 1, 24));
    auto const n = pick_small(r, g, 11);
    if (!n) continue;
    ++checked;
    auto const sorted = order_of(n->quotient);
    groups const order(sorted.order, sorted.order + n->size());
    std::pair<int, long> best{};
    for (unsigned cuts = 0; cuts < 1u << (n->size() - 1); ++cuts) {
      groups of(order.size());
      for (int i = 0, k = 0; i < n->size(); ++i) {
        of[std::size_t(order[std::size_t(i)])] = k;
        k += cuts >> i & 1;
      }
      if (n->is_light(of)) best = std::max(best, n->gain(of));
    }
    CAPTURE(round);
    groups const found = n->intervals_of(order);
    REQUIRE(n->is_light(found));
    REQUIRE(n->gain(found) == best);
    groups alone(order.size());
    std::iota(alone.begin(), alone.end(), 0);
    auto const inside = n->gain(alone);  // the gain inside blocks, which cuts cannot change
    REQUIRE(n->best_of(order).value.gain ==
            (best.first - inside.first) * ago::detail::triple_gain + best.second - inside.second);
    with_triples += best.first > 0;
  }
  CHECK(with_triples > 20);
}

TEST_CASE("subgraphs compared with the optimum over all acyclic partitions") {
  test::random r(83);
  int checked = 0, only_orders = 0, best_found = 0;
  for (int round = 0; checked < 1'000; ++round) {
    auto const g = make_network(r, test::pick(r, 1, 16));
    auto const n = pick_small(r, g, 7);
    if (!n) continue;
    ++checked;
    CAPTURE(round);
    std::pair<int, long> optimum{}, by_orders{};
    n->for_each_partition([&](groups const& of) {
      if (n->is_light(of)) optimum = std::max(optimum, n->gain(of));
    });
    int orders = 0;
    n->for_each_order([&](groups const& order) {
      groups const found = n->intervals_of(order);
      REQUIRE(n->is_acyclic(found));
      by_orders = std::max(by_orders, n->gain(found));
      ++orders;
    });
    REQUIRE(by_orders == optimum);  // acyclic partitions are intervals of orders
    auto const sorted = order_of(n->quotient);
    REQUIRE(ago::detail::is_only_order(n->quotient, sorted.order) == (orders == 1));
    groups const found = n->subgraphs();
    REQUIRE(n->is_acyclic(found));
    REQUIRE(n->is_light(found));
    REQUIRE(n->gain(found) <= optimum);
    if (orders == 1) REQUIRE(n->gain(found) == optimum);
    only_orders += orders == 1 && n->size() > 3;
    best_found += n->gain(found) == optimum;
  }
  CHECK(only_orders > 20);
  CHECK(best_found > checked * 95 / 100);
}

TEST_CASE("the groups of every acyclic partition are consecutive in some order of the blocks") {
  test::random r(85);
  for (int checked = 0; checked < 60;) {
    auto const g = make_network(r, test::pick(r, 4, 12));
    auto const n = pick_small(r, g, 6);
    if (!n) continue;
    ++checked;
    n->for_each_partition([&](groups const& of) {
      auto const parts = ago::grouping_by<160>(of.data(), n->size());
      auto const order = ago::detail::group_by_group(n->quotient, parts);
      REQUIRE(order.acyclic);
      int changes = 1;
      for (int i = 1; i < n->size(); ++i) changes += parts.of[order.order[i]] != parts.of[order.order[i - 1]];
      REQUIRE(changes == parts.count);
    });
  }
}

TEST_CASE("CLUSTER never gains more") {
  test::random r(87);
  int more = 0;
  for (int round = 0; round < 2'000; ++round) {
    auto const g = test::make_random_network(r, test::pick(r, 1, 60));
    auto const d = dag_of(g);
    long const total = std::accumulate(d.weight, d.weight + d.count, 0L), limit = 1 + total / test::pick(r, 1, 20);
    small_network<test::random_graph> const n{g, ago::atoms_of(g), limit, all_fits};
    auto const clusters = ago::cluster(n.quotient, limit);
    auto const theirs = n.gain({clusters.of, clusters.of + n.size()}), ours = n.gain(n.subgraphs());
    CAPTURE(round);
    REQUIRE(ours >= theirs);
    more += ours > theirs;
  }
  CHECK(more > 500);
}

TEST_CASE("operands first: a valid order of every graph, in which a branch stays together") {
  test::random r(89);
  for (int round = 0; round < 2'000; ++round) {
    auto const d = test::make_random_dag(r, test::pick(r, 1, 60));
    for (bool const last : {false, true}) {
      auto const found = ago::detail::operands_first(d, last);
      REQUIRE(found.acyclic);
      groups when(std::size_t(d.count), -1);
      for (int i = 0; i < d.count; ++i) when.at(std::size_t(found.order[i])) = i;
      for (int v = 0; v < d.count; ++v)
        for (int e = d.first[v]; e < d.first[v + 1]; ++e)
          REQUIRE((when[std::size_t(d.source[e])] >= 0 && when[std::size_t(d.source[e])] < when[std::size_t(v)]));
    }
  }
  // Two branches, recorded alternately: 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 4, and 5 reads both.
  auto const d = test::make_dag<8, 8>({1, 1, 1, 1, 1, 1}, {{}, {0}, {0}, {1}, {2}, {3, 4}});
  auto const first = ago::detail::operands_first(d, false), last = ago::detail::operands_first(d, true);
  CHECK(groups(first.order, first.order + 6) == groups{0, 1, 3, 2, 4, 5});
  CHECK(groups(last.order, last.order + 6) == groups{0, 2, 4, 1, 3, 5});
}

TEST_CASE("groups stay below the limit; one block may exceed it") {
  test::builder<160, 400, 6> b;
  int const x = b.input({1, 8, 8, 16});
  b.output(b.unary(op::tanh, b.unary(op::relu, x)));
  auto const d = dag_of(b.g);
  long const sum = d.weight[0] + d.weight[1];
  ago::grouping<160> const alone{{0, 1}, 2};
  CHECK(small_network<decltype(b.g)>{b.g, alone, sum, all_fits}.subgraphs() == groups{0, 1});
  CHECK(small_network<decltype(b.g)>{b.g, alone, sum + 1, all_fits}.subgraphs() == groups{0, 0});
  CHECK(small_network<decltype(b.g)>{b.g, alone, 1, all_fits}.subgraphs() == groups{0, 1});
}

TEST_CASE("of the operands of a product of two values, only the first may stay in tiles") {
  test::builder<160, 400, 6> b;
  int const x = b.input({1, 1, 16, 8}), q = b.pointwise(x, 8), k = b.pointwise(x, 8);
  b.output(b.add({.kind = op::attention_scores, .out = {1, 1, 16, 16}}, {q, k}));
  small_network<decltype(b.g)> const n{b.g, {{0, 1, 2}, 3}, 1'000'000'000, all_fits};
  CHECK(n.gain({0, 0, 0}) == std::pair(0, 2L * 4 * 16 * 8));
  CHECK(n.best_of({0, 1, 2}).value.gain == 2 * 4 * 16 * 8);
  CHECK(n.best_of({1, 0, 2}).value.gain == 2 * 4 * 16 * 8);
}

TEST_CASE("ties: fewer groups are preferred, then even ones") {
  test::builder<160, 400, 6> pools;
  int y = pools.input({1, 8, 8, 16});
  for (int i = 0; i < 3; ++i) y = pools.add({.kind = op::max_pool, .out = pools.shape_of(y)}, {y});  // nothing to gain
  pools.output(y);
  CHECK(small_network<decltype(pools.g)>{pools.g, {{0, 1, 2}, 3}, 1'000'000, all_fits}.subgraphs() == groups{0, 0, 0});

  test::builder<160, 400, 6> b;
  int x = b.input({1, 8, 8, 16});
  for (int i = 0; i < 4; ++i) x = b.add({.kind = op::softmax, .out = b.shape_of(x)}, {b.unary(op::reshape, x)});
  b.output(x);
  auto const d = dag_of(b.g);
  ago::grouping<160> blocks;
  for (int v = 0; v < 8; ++v) blocks.of[v] = v / 2;
  blocks.count = 4;
  long const pair = d.weight[0] + d.weight[1];
  small_network<decltype(b.g)> const three_fit{b.g, blocks, 3 * pair + 1, 0}, two_fit{b.g, blocks, 2 * pair + 1, 0};
  // All values between blocks are equally large: one cut, in the middle.
  CHECK(three_fit.subgraphs() == groups{0, 0, 1, 1});
  CHECK(two_fit.subgraphs() == groups{0, 0, 1, 1});
}

TEST_CASE("a network may have more pairs than there is room for") {
  constexpr int writers = 12, readers = 12;  // 144 pairs; there is room for 96
  test::builder<64, 48> b;
  int const x = b.input({1, 6, 6, 8});
  int sum = b.pointwise(x, 8);
  for (int i = 1; i < writers; ++i) sum = b.binary(op::add, sum, b.pointwise(x, 8));
  int last = sum;
  for (int i = 0; i < readers; ++i) last = b.pointwise(sum, 8);
  b.output(last);
  ago::detail::feasible_pairs<64, 48> const pairs(b.g, all_fits);
  CHECK(pairs.begin[b.g.node_count] == pairs.capacity);
  auto const d = dag_of(b.g);
  auto const found = interval_subgraphs(b.g, d, ago::atoms_of(b.g), 1'000'000'000, all_fits);
  CHECK(is_acyclic(d, found));
}

}  // namespace
