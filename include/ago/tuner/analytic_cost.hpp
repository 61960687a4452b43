// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicted seconds by the cost model alone, to rank candidates before anything is measured.
#pragma once

#include <ago/plan/predicted_time.hpp>
#include <ago/tuner/live_plan.hpp>
#include <ago/tuner/tile_options.hpp>

namespace ago::tuner {

/// The clock of the core that the figures assume. The ranking hardly depends on it.
inline constexpr double quarter_cycles_per_second = 1e10;  // 2.5 GHz

/// The sum over all steps of arithmetic by register tile and line, of the traffic between steps and inside them by the
/// prices that the partition uses, and of loading weights from L2. It models neither overlap, alignment and
/// prefetching nor the code that a compiler generates: it ranks, and is wrong by tens of per cent in absolute terms.
template <auto const& Net, options_for Options>
double predicted_seconds(live_plan<Net, Options> const& plan) {
  static constexpr device on = Options.device;  // constexpr: clang misreads a part of a template argument at run time
  double cycles = 0, price = 0;
  for (int k = 0; k < plan.steps(); ++k) {
    int const first = plan.first_part(k), count = plan.first_part(k + 1) - first;
    chain_tiling const tiles = plan.tiling_of(k);
    double share = 1;
    if (step_split const cut = plan.split_of(k); cut.pieces > 1) {
      share = longest_piece(&plan.part(first), count, tiles, cut, on) /
              longest_piece(&plan.part(first), count, tiles, {}, on);
      if (plan.waits_of(k) == waits::all) cycles += on.barrier;
    }
    for (int i = 0; i < count; ++i) {
      planned_step const& p = plan.part(first + i);
      cycles += share * cycles_of(p.key, p.data, tiles, on);
      price += 4. * double(plan.packed_floats_of(first + i)) * near_price(on);
    }
    planned_step const* const parts = &plan.part(first);
    std::int64_t const input = bytes(parts[0].data.in), result = bytes(parts[count - 1].data.out);
    priced_use use(on);
    if (count == 1) add_step(use, parts[0], input);
    else add_step(use, parts, count, tiles);
    price += double(use.price + 2 * result * price_after(result, on));
    if (count > 1) price += quarter_price * quarters_of_tiling(parts, count, tiles, on);
  }
  return (cycles + price / quarter_price) / quarter_cycles_per_second;
}

}  // namespace ago::tuner
