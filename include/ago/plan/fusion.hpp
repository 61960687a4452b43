// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intensive fusion: which steps run as one pipeline, and in which tiles.
#pragma once

#include <ago/partition/chains.hpp>
#include <ago/plan/fold_schedule.hpp>
#include <ago/plan/form_steps.hpp>
#include <ago/plan/options.hpp>
#include <ago/plan/schedule.hpp>
#include <ago/plan/signature.hpp>

namespace ago::plan {

/// Steps grouped into pipelines of up to max_parts parts. A group of one is an ordinary step.
template <int Capacity>
struct fusion_list {
  static constexpr int none = -1;
  array_of<int, Capacity> first{}, parts{};
  array_of<chain_tiling, Capacity> tiles{};
  int count = 0;
  array_of<int, Capacity> group_of{};  ///< of each step
  array_of<int, Capacity> ring{};   ///< rows (or pixels of a run) of each step's result that are kept; 0: all of them;
                                    ///< none: nothing
  array_of<int, Capacity> chunk{};  ///< channels that are kept; 0: all
};

static_assert(max_chain <= max_parts);

/// The operand that a step reads from the step before it in a chain; -1: none.
constexpr int value_in_chain(graph_view g, step_nodes const& s) {
  int const k = s.main < 0 ? -1 : partition::operand_in_chain(g, s.main);
  return k < 0 ? -1 : k == 0 ? s.source : s.inputs[k - 1];
}
/// The operand of a contraction that the part before it computes, or that of a nest whose pixels are in scratch when it
/// folds them; -1: none.
constexpr std::int8_t made_operand(graph_view g, step_nodes const& s, chain_tiling const& in, bool is_first,
                                   options const& o) {
  if (is_first || s.main < 0) return -1;
  std::int8_t const k = std::int8_t(partition::operand_in_chain(g, s.main));
  if (in.how == tiling::operand) return k;
  if (in.how != tiling::fold || g.nodes[s.main].kind != op::nest) return -1;
  node const& value = g.source(s.main, k);
  return pays_to_stream(value.kind, value.out.count(), o.target, o.device) ? k : std::int8_t(-1);
}

/// The operand of a nest that folds what the part before it computes; -1: it does not.
constexpr std::int8_t folded_operand(graph_view g, step_nodes const& s, chain_tiling const& in, bool is_first) {
  bool const folds = !is_first && s.main >= 0 && in.how == tiling::fold && g.nodes[s.main].kind == op::nest;
  return folds ? std::int8_t(partition::operand_in_chain(g, s.main)) : std::int8_t(-1);
}

/// Can b follow in a chain, and is it the only reader of the result of a, or does it fold that?
template <int V, int E, int O>
constexpr bool feeds(graph<V, E, O> const& g, value_uses<V> const& uses, step_nodes const& a, step_nodes const& b) {
  if (a.first_operator() < 0 || b.main < 0 || !a.is_whole() || !b.is_whole()) return false;
  return value_in_chain(g, b) == a.result && (uses.is_private(a.result) || g.nodes[b.main].kind == op::nest) &&
         leads_chain(g, a.first_operator()) && can_follow(g, b.main, a.first_operator());
}

/// The tiling of a chain: the wish, if the chain allows it and the tile does not hold everything, otherwise the best
/// one.
constexpr chain_tiling choose_tiling(chain_link const* chain, int count, schedule const& wish, usual_products& known,
                                     device const& on, isa target) {
  if (allows(chain, count, wish.tiling)) {
    if (wish.tiling == tiling::rows) return {tiling::rows, 0};
    bool const chunks = by_channels(wish.tiling);
    int const tile = chunks ? padded(wish.tile, target) : wish.tile;
    if (tile > 0 && (!chunks || tile < chain[0].out.c)) return {wish.tiling, tile};
    chain_tiling const best = best_tile(chain, count, wish.tiling, on).best;
    if (best.how != tiling::none) return best;
  }
  return best_tiling(chain, count, known, on).best;
}

/// Tilings of the chains seen last, and products of their links: networks repeat blocks.
struct tiled_chains {
  std::uint64_t key[64]{};
  chain_tiling tiles[64]{};
  usual_products products;
};

/// Sets the tiles of group k.
template <int S, int V, int E, int O>
constexpr void tile_group(fusion_list<S>& r, int k, graph<V, E, O> const& g, step_list<S> const& steps,
                          options const& o, auto const& table, tiled_chains& seen) {
  int const count = r.parts[k], first = r.first[k];
  chain_link chain[max_parts]{};
  value_hash mixed;
  for (int i = 0; i < count && i < max_parts; ++i) {  // the second condition: GCC 12 cannot see that it holds
    chain[i] = partition::link_of(g, steps.step[first + i].first_operator(), steps.step[first + i].result);
    mixed.mix(fingerprint(chain[i]));
  }
  auto const wish = schedule_in(table, g, steps.step[first + 1], o);
  std::uint64_t const key = mixed.value, slot = key & 63;
  if (wish || seen.key[slot] != key) {
    seen.key[slot] = wish ? 0 : key;
    seen.tiles[slot] = choose_tiling(chain, count, wish ? *wish : schedule{}, seen.products, o.device, o.target);
  }
  chain_tiling const& t = r.tiles[k] = seen.tiles[slot];
  int const links = t.how == tiling::fold ? count - 1 : count;  // the last of these keeps all of its result
  for (int i = 0; i + 1 < links; ++i) {
    long const pixels = chain[i].out.pixels();
    r.ring[first + i] = t.how == tiling::operand    ? r.none
                        : t.how == tiling::channels ? chain[i].out.h
                        : t.how == tiling::pixels   ? (t.tile < pixels ? t.tile : int(pixels))
                                                    : rows_kept(chain, links, i);
    r.chunk[first + i] = by_channels(t.how) ? t.tile : 0;
  }
}

/// Groups consecutive steps of a subgraph into pipelines: according to `table`, otherwise to the partition's chains.
template <int S, int V, int E, int O>
constexpr fusion_list<S> fuse_steps(graph<V, E, O> const& g, step_list<S> const& steps, partitions<V> const& parts,
                                    options const& o, auto const& table) {
  fusion_list<S> r;
  value_uses<V> const uses(g);
  for (int i = 0; i < steps.count; ++i) {
    step_nodes const &b = steps.step[i], &a = steps.step[i > 0 ? i - 1 : 0];
    bool joins = i > 0 && parts.intensive && r.parts[r.count - 1] < max_parts && feeds(g, uses, a, b) &&
                 parts.subgraphs.of[a.first_operator()] == parts.subgraphs.of[b.main];
    if (joins) {
      auto const wish = schedule_in(table, g, b, o);
      joins = wish && wish->join ? wish->join > 0 : parts.chain_of[a.first_operator()] == parts.chain_of[b.main];
    }
    if (joins) {
      ++r.parts[r.count - 1];
    } else {
      r.first[r.count] = i;
      r.parts[r.count++] = 1;
    }
    r.group_of[i] = r.count - 1;
  }
  tiled_chains seen;
  for (int k = 0; k < r.count; ++k)
    if (r.parts[k] > 1) tile_group(r, k, g, steps, o, table, seen);
  return r;
}

}  // namespace ago::plan
