// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choices in a network: register tiles, cache tiles, convolution algorithms, pipelines, their tiles, work items.
#pragma once

#include <ago/runtime/program.hpp>
#include <ago/tuner/tile_options.hpp>

namespace ago::tuner {

/// Maximum number of tilings that are tried for a pipeline.
inline constexpr int most_tilings = 8;
struct tiling_options {
  chain_tiling option[most_tilings]{};
  std::int64_t saved[most_tilings]{};  ///< by the partition's prices
  int count = 0;

  constexpr bool holds(chain_tiling const& t) const {
    for (int k = 0; k < count; ++k)
      if (option[k] == t) return true;
    return false;
  }
};

/// The tilings of a chain that its first two links allow, whatever follows: rows, one to three sizes of chunks, two of
/// runs of pixels.
constexpr tiling_options tilings_of(chain_link const* chain, int count, device const& on, isa target) {
  tiling_options r;
  auto const offer = [&](tiling how, int tile) {
    chain_tiling const t{how, by_channels(how) ? padded(tile, target) : tile};
    if (!allows(chain, count, how) || (by_channels(how) && t.tile >= chain[0].out.c) ||
        (how == tiling::pixels && tile >= chain[0].out.pixels()))
      return;
    r.saved[r.count] = saved_by(chain, count, t, on);
    r.option[r.count++] = t;
  };
  offer(tiling::rows, 0);
  for (int const tile : {64, 32, 192}) offer(tiling::channels, tile);
  for (int const tile : {64, 192}) offer(tiling::channels_rows, tile);
  for (int const tile : {56, 336}) offer(tiling::pixels, tile);
  offer(tiling::operand, 0);
  offer(tiling::fold, 0);
  return r;
}

/// The choices of a network for one instruction set, by steps: those of program<Net, untuned, Options>, with parts of
/// pipelines as separate steps.
template <auto const& Net, options_for Options = options{}>
class network_space {
 public:
  using formed = ago::runtime::formed<Net, Options>;
  using usual = program<Net, untuned, Options>;
  static constexpr int count = formed::parts.count;
  static constexpr isa target = Options.target;
  /// A copy: clang (at least 14 and 19) misreads a part of a template argument at run time.
  static constexpr device machine = Options.device;

  static constexpr std::uint64_t signature(int i) { return usual::plan.steps[i].signature; }
  /// Does an equal step come before this one?
  static constexpr bool is_repeated(int i) {
    for (int k = 0; k < i; ++k)
      if (signature(k) == signature(i)) return true;
    return false;
  }
  /// Do steps a and b, in the same place of equal pipelines, have the same kernels? The signature does not reflect
  /// everything: other code reads an input that consists of several segments, odd segments may rule out pairs, and
  /// equal expressions may be several objects.
  static constexpr bool share_kernels(int a, int b) {
    planned_step const &x = usual::plan.steps[a], &y = usual::plan.steps[b];
    return signature(a) == signature(b) && x.key.in_runs == y.key.in_runs && x.data.odd_runs == y.data.odd_runs &&
           x.key.described == y.key.described;
  }
  /// Can step i run in one pipeline with the step before it?
  static constexpr bool can_join(int i) { return joins.with_previous[i]; }
  static constexpr chain_link link(int i) {
    step_nodes const& s = formed::parts.step[i];
    return link_of(formed::graph, s.first_operator(), s.result);
  }
  /// Steps first ... first + parts - 1 as a pipeline.
  static constexpr tiling_options tilings(int first, int parts) {
    return tilings_of(links(first, parts).link, parts, machine, target);
  }
  /// The default tiling of these steps.
  static constexpr chain_tiling usual_tiling(int first, int parts) {
    return best_tiling(links(first, parts).link, parts, machine).best;
  }

  /// The register tiles that are tried for step i; a convolution is computed directly.
  static constexpr tile_options tiles(int i) { return tiles_of(direct(i)); }
  /// Register tiles with the other packing of weights.
  static constexpr tile_options repacked_tiles(int i) { return repacked_tiles_of(direct(i)); }

  /// Does step i have another packing?
  static constexpr bool can_repack(int i) {
    kernel_key key = usual::plan.steps[i].key;
    key.accumulates = false;
    return can_pair(key);
  }

  /// Step i alone; a convolution is computed directly.
  static constexpr planned_step direct(int i) {
    schedule wish;
    wish.winograd = -1;
    return scheduled(i, wish);
  }

  /// Step i, computed alone or as a part of a pipeline with tiles `in`, of which it is the first part or not, as
  /// make_plan would plan it. Memory offsets are those of the default plan.
  static constexpr planned_step scheduled(int i, schedule const& wish, chain_tiling const& in = {},
                                          bool is_first = true) {
    step_nodes const& nodes = formed::parts.step[i];
    planned_step p;
    p.key.target = target;
    describe(formed::graph, nodes, usual::memory, p);
    p.key.in_runs = usual::plan.steps[i].key.in_runs;
    p.data.odd_runs = usual::plan.steps[i].data.odd_runs;
    p.data.pixel_floats = usual::plan.steps[i].data.pixel_floats;
    p.signature = signature(i);
    convolution_step algorithm;
    p.key.made_operand = made_operand(formed::graph, nodes, in, is_first, Options);
    p.key.folded_operand = folded_operand(formed::graph, nodes, in, is_first);
    if ((in.how == tiling::none && nodes.main >= 0) || p.key.made_operand >= 0)
      algorithm = plan::early_choice(formed::graph, nodes, formed::layouts, wish, Options, p.key.made_operand);
    choose_schedule(p, wish, in, is_first, algorithm, Options);
    return p;
  }

  /// Can step i be divided along `how`, alone or as the second part of a pipeline, and does it take long enough for
  /// that to pay?
  static constexpr bool can_split(int i, split how) {
    if (Options.device.threads == 1) return false;
    planned_step pair[2]{scheduled(i, {})};
    auto const cut = [&](int parts, chain_tiling const& in) {
      return longest_piece(pair, parts, in, {}, machine) > machine.barrier &&
             split_along(pair, parts, in, how, Options.device.threads).pieces > 1;
    };
    if (cut(1, {})) return true;
    tiling_options const all = can_join(i) ? tilings(i - 1, 2) : tiling_options{};
    for (int k = 0; k < all.count; ++k) {
      for (int p = 0; p < 2; ++p) pair[p] = scheduled(i - 1 + p, {}, all.option[k], p == 0);
      if (cut(2, all.option[k])) return true;
    }
    return false;
  }

  /// Can step i, alone, be computed with this algorithm? `algorithm`: schedule::winograd.
  static constexpr bool allows_algorithm(int i, int algorithm) {
    schedule wish;
    wish.winograd = algorithm;
    return algorithm_of(scheduled(i, wish).key.what) == algorithm;
  }

 private:
  struct chain_links {
    chain_link link[max_parts]{};
  };
  static constexpr chain_links links(int first, int parts) {
    chain_links r;
    for (int i = 0; i < parts; ++i) r.link[i] = link(first + i);
    return r;
  }

  struct joinable {
    bool with_previous[count > 0 ? count : 1]{};
  };
  static constexpr joinable joins = [] {
    joinable r;
    if (!formed::partition.intensive) return r;
    value_uses const uses(formed::graph);
    auto const& groups = formed::partition.subgraphs.of;
    for (int i = 1; i < count; ++i) {
      step_nodes const &a = formed::parts.step[i - 1], &b = formed::parts.step[i];
      r.with_previous[i] = feeds(formed::graph, uses, a, b) && groups[a.first_operator()] == groups[b.main];
    }
    return r;
  }();
};

}  // namespace ago::tuner
