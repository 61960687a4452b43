// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subgraphs as intervals of execution orders, and the chains within them, compared with all of small networks.
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/intervals.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <optional>

namespace {

using ago::op;
using groups = std::vector<int>;
constexpr ago::device tiny{.l1_bytes = 256, .l2_bytes = 2 << 10};  // on which chains of small images pay

/// Saved by chains, bytes that chains could keep, bytes across borders (negative), subgraphs (negative): the larger the
/// better, in this order.
using worth = std::tuple<std::int64_t, std::int64_t, std::int64_t, int>;

/// A network whose atoms are grouped. For small networks, it finds the worth of a partition by exhaustive search.
template <class Graph>
struct small_network {
  Graph const& g;
  long limit;
  ago::device on = tiny;
  ago::grouping<160> atoms = ago::partition::atoms_of(g);
  decltype(ago::partition::dag_of(g)) operators = ago::partition::dag_of(g),
                                      quotient = ago::partition::quotient(operators, atoms);

  int size() const { return quotient.count; }
  int atom(int v) const { return atoms.of[v - g.input_count]; }
  unsigned read_by(int b) const {
    unsigned set = 0;
    for (int e = quotient.first[b]; e < quotient.first[b + 1]; ++e) set |= 1u << quotient.source[e];
    return set;
  }

  /// Whether each group is lighter than the limit, or a single atom.
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

  int first_of(int a) const {
    for (int v = g.input_count;; ++v)
      if (atom(v) == a) return v;
  }
  int last_of(int a) const {
    for (int v = g.node_count - 1;; --v)
      if (atom(v) == a) return v;
  }
  int readers_of(int u) const {
    int n = 0;
    for (int v = 0; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count; ++k) n += g.operand(v, k) == u;
    for (int o = 0; o < g.output_count; ++o) n += g.outputs[o] == u;
    return n;
  }
  /// Whether atom b can follow atom a in a chain.
  bool follows(int a, int b) const {
    ago::ir::node const& y = g.nodes[first_of(b)];
    return ago::partition::leads_chain(g, first_of(a)) && ago::partition::follows_in_chain(y) &&
           g.operand(first_of(b)) == last_of(a) && readers_of(last_of(a)) == 1;
  }
  /// The last value that an operator of atom a, but not its first, reads from elsewhere; -1: none.
  int other_operand(int a) const {
    int other = -1;
    for (int v = first_of(a) + 1; v < g.node_count; ++v)
      for (int k = 0; k < g.nodes[v].input_count && atom(v) == a; ++k)
        if (int const u = g.operand(v, k); u < g.input_count || atom(u) != a) other = u;
    return other;
  }
  std::int64_t saved_by(groups const& chain) const {
    if (chain.size() == 1) return 0;
    if (chain.size() > std::size_t(ago::partition::max_chain)) return -1;
    ago::partition::chain_link links[ago::partition::max_chain]{};
    for (std::size_t i = 0; i < chain.size(); ++i) {
      links[i] = ago::partition::link_of(g, first_of(chain[i]), last_of(chain[i]));
      for (std::size_t k = 0; k < i; ++k)
        if (g.operand(first_of(chain[k])) == other_operand(chain[i])) links[i].adds = int(k);
    }
    return best_tiling(links, int(chain.size()), on).saved;
  }
  /// What a set of chains, by their representatives, saves; -1: it is none.
  std::int64_t saved_by_chains(groups const& rep) const {
    std::int64_t sum = 0;
    for (int a = 0; a < size(); ++a) {
      groups chain;
      for (int b = 0; b < size(); ++b)
        if (rep[std::size_t(b)] == a) chain.push_back(b);
      for (std::size_t i = 1; i < chain.size(); ++i)
        if (!follows(chain[i - 1], chain[i])) return -1;
      if (chain.empty()) continue;
      if (chain.size() > std::size_t(ago::partition::max_chain)) return -1;
      sum += saved_by(chain);
    }
    return sum;
  }
  /// The bytes between atoms of one group that a chain could join.
  std::int64_t inner(groups const& of) const {
    std::int64_t sum = 0;
    for (int b = 0; b < size(); ++b)
      for (int a = 0; a < b; ++a)
        if (of[std::size_t(a)] == of[std::size_t(b)] && follows(a, b)) sum += 4 * g.nodes[last_of(a)].out.count();
    return sum;
  }
  /// The most that chains inside of groups save.
  std::int64_t most_saved(groups const& of) const {
    std::vector<std::pair<int, int>> joints;
    for (int b = 0; b < size(); ++b)
      for (int a = 0; a < b; ++a)
        if (of[std::size_t(a)] == of[std::size_t(b)] && follows(a, b)) joints.push_back({a, b});
    std::int64_t best = 0;
    for (unsigned joined = 0; joined < 1u << joints.size(); ++joined) {
      groups rep(static_cast<std::size_t>(size()));
      std::iota(rep.begin(), rep.end(), 0);
      for (std::size_t i = 0; i < joints.size(); ++i)  // in ascending order of the second
        if (joined >> i & 1) rep[std::size_t(joints[i].second)] = rep[std::size_t(joints[i].first)];
      best = std::max(best, saved_by_chains(rep));
    }
    return best;
  }

  /// The bytes that are written before place `i` of an order and read from there on.
  std::int64_t crossing(groups const& order, int i) const {
    auto const place = [&](int v) { return std::find(order.begin(), order.end(), atom(v)) - order.begin(); };
    std::int64_t sum = 0;
    for (int u = g.input_count; u < g.node_count; ++u) {
      bool read = false;
      for (int v = u + 1; v < g.node_count; ++v)
        for (int k = 0; k < g.nodes[v].input_count; ++k) read = read || (g.operand(v, k) == u && place(v) >= i);
      if (read && place(u) < i) sum += 4 * g.nodes[u].out.count();
    }
    return sum;
  }

  /// Calls visit(of) for every acyclic partition of the atoms.
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

  /// Calls visit(order) for every execution order of the atoms.
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

  /// By a search that is interrupted after about so many starts of intervals.
  ago::partition::cut_order<160> best_of(groups const& order, long starts) const {
    ago::partition::execution_order<160> sorted{.order = {}, .count = size(), .acyclic = true};
    std::copy(order.begin(), order.end(), sorted.order);
    ago::partition::ordered_atoms<160> const in(g, atoms, sorted);
    auto const chains = chain_values_of(g, atoms, on);
    ago::partition::interval_search<160> search;
    while (!search.is_done(size())) search.run(quotient, in, chains, limit, starts);
    return search.result(size(), in, chains);
  }
  ago::partition::cut_order<160> best() const {
    return best_partition(g, atoms, quotient, chain_values_of(g, atoms, on), limit);
  }
  groups of_atoms(ago::grouping<160> const& found) const { return groups(found.of, found.of + size()); }
  groups subgraphs() const { return of_atoms(best().subgraphs); }

  /// Whether the chains are inside of the subgraphs, and save what is said.
  bool is_sound(ago::partition::cut_order<160> const& found) const {
    groups const of = of_atoms(found.subgraphs);
    groups rep = of_atoms(found.chains);
    for (int a = 0; a < size(); ++a)
      for (int b = 0; b < a; ++b)
        if (rep[std::size_t(a)] == rep[std::size_t(b)] && of[std::size_t(a)] != of[std::size_t(b)]) return false;
    return is_light(of) && is_acyclic(of) && saved_by_chains(rep) == found.value.saved;
  }
};

test::random_graph make_network(test::random& r, int operators) {
  return test::pick(r, 0, 1) == 0 ? test::make_line(r, operators) : test::make_random_network(r, operators);
}

/// A random network with a limit; nothing if it has more than `most` atoms.
std::optional<small_network<test::random_graph>> pick_small(test::random& r, test::random_graph const& g, int most) {
  int const count = ago::partition::atoms_of(g).count;
  if (count == 0 || count > most) return std::nullopt;
  auto const d = ago::partition::dag_of(g);
  long const total = std::accumulate(d.weight, d.weight + d.count, 0L);
  ago::device const on{.l1_bytes = 256, .l2_bytes = 1024L << test::pick(r, 0, 6)};
  return small_network<test::random_graph>{g, 1 + total / test::pick(r, 1, 6), on};
}

TEST_CASE("intervals and chains are the best of all intervals of their order and of all chains inside") {
  test::random r(81);
  int checked = 0, with_chains = 0, limited = 0;
  for (int round = 0; checked < 1'500; ++round) {
    auto const g = make_network(r, test::pick(r, 1, 24));
    auto const n = pick_small(r, g, 9);
    if (!n) continue;
    ++checked;
    auto const sorted = ago::partition::order_of(n->quotient);
    groups const order(sorted.order, sorted.order + n->size());
    worth best{-1, 0, 0, 0};
    for (unsigned cuts = 0; cuts < 1u << (n->size() - 1); ++cuts) {
      groups of(order.size());
      std::int64_t crossing = 0;
      int k = 0;
      for (int i = 0; i < n->size(); ++i) {
        of[std::size_t(order[std::size_t(i)])] = k;
        if (i + 1 < n->size() && cuts >> i & 1) {
          ++k;
          crossing += n->crossing(order, i + 1);
        }
      }
      if (n->is_light(of)) best = std::max(best, worth(n->most_saved(of), n->inner(of), -crossing, -k - 1));
    }
    CAPTURE(round);
    auto const found = n->best_of(order, test::pick(r, 1, 30));
    REQUIRE(n->is_sound(found));
    REQUIRE(worth(found.value.saved, found.value.inner, -found.value.crossing, -found.value.groups) == best);
    REQUIRE(found.subgraphs.count == found.value.groups);
    with_chains += found.value.saved > 0;
    limited += found.value.saved < n->most_saved(groups(order.size()));
  }
  CHECK(with_chains > 60);
  CHECK(limited > 50);  // some networks have chains that the limit cuts
}

TEST_CASE("subgraphs compared with the optimum over all acyclic partitions") {
  test::random r(83);
  int checked = 0, only_orders = 0, best_found = 0;
  for (int round = 0; checked < 600; ++round) {
    auto const g = make_network(r, test::pick(r, 1, 16));
    auto const n = pick_small(r, g, 7);
    if (!n) continue;
    ++checked;
    CAPTURE(round);
    std::int64_t optimum = 0, by_orders = 0;
    n->for_each_partition([&](groups const& of) {
      if (n->is_light(of)) optimum = std::max(optimum, n->most_saved(of));
    });
    int orders = 0;
    n->for_each_order([&](groups const& order) {
      auto const found = n->best_of(order, 100);
      REQUIRE(n->is_sound(found));
      by_orders = std::max(by_orders, found.value.saved);
      ++orders;
    });
    REQUIRE(by_orders == optimum);  // acyclic partitions are intervals of orders
    auto const sorted = ago::partition::order_of(n->quotient);
    REQUIRE(ago::partition::is_only_order(n->quotient, sorted.order) == (orders == 1));
    auto const found = n->best();
    REQUIRE(n->is_sound(found));
    REQUIRE(found.value.saved <= optimum);
    if (orders == 1) REQUIRE(found.value.saved == optimum);
    only_orders += orders == 1 && n->size() > 3;
    best_found += found.value.saved == optimum;
  }
  CHECK(only_orders > 20);
  CHECK(best_found > checked * 95 / 100);
}

TEST_CASE("no chain crosses the border of a subgraph: where the limit allows none, every atom is computed alone") {
  test::builder<160, 400, 6> b;
  int x = b.input({1, 56, 56, 24});
  for (int i = 0; i < 2; ++i) x = b.inverted_residual(x, 6);
  b.output(x);
  small_network<decltype(b.g)> const all{b.g, 1'000'000'000, ago::cortex_a55}, none{b.g, 1, ago::cortex_a55};
  CHECK(all.best().subgraphs.count == 1);
  CHECK(all.best().chains.count < all.size());
  CHECK(all.best().value.saved > 0);
  CHECK(none.best().chains.count == none.size());
  CHECK(none.best().value.saved == 0);
}

TEST_CASE("operands first: a valid order of every graph, in which a branch stays together") {
  test::random r(89);
  for (int round = 0; round < 2'000; ++round) {
    auto const d = test::make_random_dag(r, test::pick(r, 1, 60));
    for (bool const last : {false, true}) {
      auto const found = ago::partition::operands_first(d, last);
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
  auto const first = ago::partition::operands_first(d, false), last = ago::partition::operands_first(d, true);
  CHECK(groups(first.order, first.order + 6) == groups{0, 1, 3, 2, 4, 5});
  CHECK(groups(last.order, last.order + 6) == groups{0, 2, 4, 1, 3, 5});
}

TEST_CASE("groups stay below the limit; one atom may exceed it") {
  test::builder<160, 400, 6> b;
  int const x = b.input({1, 8, 8, 16});
  b.output(b.pointwise(b.pointwise(x, 16), 16));
  auto const d = ago::partition::dag_of(b.g);
  long const sum = d.weight[0] + d.weight[1];
  CHECK(small_network<decltype(b.g)>{b.g, sum}.subgraphs() == groups{0, 1});
  CHECK(small_network<decltype(b.g)>{b.g, sum + 1}.subgraphs() == groups{0, 0});
  CHECK(small_network<decltype(b.g)>{b.g, 1}.subgraphs() == groups{0, 1});
}

TEST_CASE("where chains do not decide, the cut is where the fewest bytes cross") {
  test::builder<160, 400, 6> b;
  int x = b.input({1, 8, 8, 16}), widths[] = {64, 16, 128, 128};
  for (int c : widths) x = b.unary(op::softmax, b.add({.kind = op::concat, .out = {1, 8, 8, c}, .axis = 3}, {x, x}));
  b.output(x);
  auto const d = ago::partition::dag_of(b.g);
  long const total = std::accumulate(d.weight, d.weight + d.count, 0L);
  small_network<decltype(b.g)> const halves{b.g, total * 3 / 4};
  CHECK(halves.size() == 8);
  CHECK(halves.subgraphs() == groups{0, 0, 0, 0, 1, 1, 1, 1});  // after the 16 channels
  CHECK(small_network<decltype(b.g)>{b.g, total + 1}.subgraphs() == groups(8));
}

TEST_CASE("an attention is a chain, which saves its scores and weights") {
  test::builder<160, 400, 6> b;
  int const x = b.input({1, 1, 16, 8});
  int const scores = b.add({.kind = op::attention_scores, .out = {1, 1, 16, 16}}, {x, x});
  int const weights = b.add({.kind = op::softmax, .out = {1, 1, 16, 16}}, {scores});
  b.output(b.add({.kind = op::attention_values, .out = {1, 1, 16, 8}}, {weights, x}));
  small_network<decltype(b.g)> const whole{b.g, 1'000'000'000};
  CHECK(whole.best().chains.count == 1);
  CHECK(whole.best().value.saved == 4 * 16 * 16 * 4 * ago::partition::near_price(tiny));
  CHECK(small_network<decltype(b.g)>{b.g, 1}.best().chains.count == 3);
}

}  // namespace
