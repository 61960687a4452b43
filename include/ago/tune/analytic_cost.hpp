// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicted seconds by the cost model alone, to rank candidates before anything is measured.
#pragma once

#include <ago/plan/cycles.hpp>
#include <ago/tune/live_plan.hpp>
#include <ago/tune/tile_options.hpp>

#include <cmath>

namespace ago::tuner {

/// The clock of the core that the figures assume. The ranking hardly depends on it.
inline constexpr double quarter_cycles_per_second = 1e10;  // 2.5 GHz
/// Scale of the prices in partition/traffic.hpp and fusion_cost.hpp: 2^17 are 0.01 us.
inline constexpr double price_per_second = 1e8 * (1 << 17);

namespace detail {

/// Price of what a step computed alone reads again: its input for every panel of weights, or the weights for every
/// block of the input; for a depthwise step, rows that L1 has evicted.
inline double rereading_price(planned_step const& p, device const& on) {
  step_data const& s = p.data;
  namespace cost = ago::detail;
  double const input = double(cost::bytes(s.in));
  if (p.key.what == structure::depthwise) {
    int const vectors = padded(s.out.c, p.key.target) / lanes(p.key.target);
    double const part = s.block > 0 && s.block < vectors ? double(s.block) / vectors : 1;
    double const rows = (double(p.key.tile.vectors - 1) * s.win.stride_h + s.win.kernel_h) * s.in.w * s.in.c * 4 * part;
    double const again = double(s.win.kernel_h) / (s.win.stride_h * p.key.tile.vectors);
    return rows > double(on.l1_bytes) ? input * again * cost::near_price(on) : 0;
  }
  if (!is_matrix(p.key.what)) return 0;
  matrix_layout const layout = layout_of_matrix(p.key, s);
  bool const by_rows = p.key.what == structure::convolution;
  double const extent = by_rows ? s.out.h : double(s.out.pixels());
  double const step = by_rows || s.block > p.key.tile.pixels ? s.block : p.key.tile.pixels;  // whole register tiles
  double const passes = s.block > 0 ? std::ceil(extent / step) : 1;
  double const panels = std::ceil(double(layout.padded_channels) / layout.panel);
  double const weights = 4. * double(layout.floats(s.groups)), block = input / passes;
  auto const price = [&](double bytes) {
    if (bytes <= double(on.l1_bytes)) return 0.;
    return double(cost::near_price(on)) / 2 + double(cost::beyond_l2_in_turns(std::int64_t(bytes), on));
  };
  return (panels - 1) * input * price(block) + (passes - 1) * weights * price(block + weights);
}

}  // namespace detail

/// The sum over all steps of arithmetic by register tile and line, of the traffic between steps and inside pipelines by
/// the prices that the partition uses, and of loading weights from memory. It models neither overlap, alignment and
/// prefetching nor the code that a compiler generates: it ranks, and is wrong by tens of per cent in absolute terms.
template <auto const& Net, options_for Options>
double predicted_seconds(live_plan<Net, Options> const& plan) {
  using formed = ago::formed<Net, Options>;
  namespace cost = ago::detail;
  static constexpr device on = Options.device;  // constexpr: clang misreads a part of a template argument at run time
  double cycles = 0, price = 0;
  for (int k = 0; k < plan.steps(); ++k) {
    int const first = plan.first_part(k), count = plan.first_part(k + 1) - first;
    chain_tiling const tiles = plan.tiling_of(k);
    chain_link chain[max_parts]{};
    double share = 1;
    if (step_split const cut = plan.split_of(k); cut.pieces > 1) {
      share = cost::longest_piece(&plan.part(first), count, tiles, cut, on) /
              cost::longest_piece(&plan.part(first), count, tiles, {}, on);
      if (plan.waits_of(k) == waits::all) cycles += on.barrier;
    }
    for (int i = 0; i < count; ++i) {
      planned_step const& p = plan.part(first + i);
      cycles += share * cost::cycles_of(p.key, p.data, tiles);
      price += 4. * double(plan.packed_floats_of(first + i)) * cost::near_price(on);
      if (count == 1) price += detail::rereading_price(p, on);
      else chain[i] = link_of(formed::graph, formed::parts.step[first + i].main, formed::parts.step[first + i].result);
    }
    std::int64_t const result = cost::bytes(plan.part(first + count - 1).data.out);
    price += double(result * cost::written_and_read(cost::near_price(on), cost::beyond_l2(result, on)));
    if (count == 1) continue;
    cost::working_set const use = cost::set_of(chain, count, tiles);
    price += double(cost::tiled_traffic(chain, count, tiles, use, on) + cost::weight_traffic(use, on) +
                    cost::chunk_traffic(chain, count, use, on) + cost::starts(count, tiles.how, use));
  }
  return cycles / quarter_cycles_per_second + price / price_per_second;
}

}  // namespace ago::tuner
