// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time that a step of a plan takes on one core: its arithmetic, and the cache lines that it moves.
#pragma once

#include <ago/kernel/units.hpp>
#include <ago/partition/fusion_cost.hpp>
#include <ago/plan/moved_bytes.hpp>

namespace ago::plan {

/// Cycles of a step.
struct predicted_cycles {
  double arithmetic{};  ///< with all values in L1
  double memory{};      ///< until lines arrive from L2 and from beyond, as far as the core does not work meanwhile

  constexpr double sum() const { return arithmetic + memory; }
  constexpr predicted_cycles& operator+=(predicted_cycles const& o) {
    arithmetic += o.arithmetic;
    memory += o.memory;
    return *this;
  }
};

/// How much longer than `cycles_of` a kernel takes on a core that runs in order, by the model of bench/arm: its loops
/// were not written for such a core (see has_in_order_loops), so that a result is awaited before the next is begun.
constexpr double in_order_factor(planned_step const& p, device const& on) {
  if (!on.in_order || p.key.in_order) return 1;
  return facts_of(p.key.what).in_order_factor(p.key.what);
}

/// Quarter cycles that a pipeline takes because its kernels start for every tile and add partial sums.
constexpr double quarters_of_tiling(planned_step const* parts, int count, chain_tiling const& tiles, device const& on) {
  chain_link chain[max_parts]{};
  for (int i = 0; i < count; ++i) chain[i] = link_of(parts[i]);
  return double(overhead(chain, count, tiles, set_of(chain, count, tiles), on)) / quarter_price;
}

/// Predicts the `count` parts of a step, computed in `tiles`, that move `moved` in the caches of `on`. A miss costs
/// what the device says, whatever the core computes meanwhile.
constexpr predicted_cycles predict_step(planned_step const* parts, int count, chain_tiling const& tiles,
                                        moved_bytes const& moved, device const& on) {
  constexpr double line = 64, quarter = .25;
  predicted_cycles r;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    r.arithmetic += quarter * kernel::cycles_of(p.key, p.data, tiles, on) * plan::in_order_factor(p, on);
  }
  if (count > 1) r.arithmetic += quarter * quarters_of_tiling(parts, count, tiles, on);
  double const near = on.line_from_l2 * (moved.beyond_l1 - moved.to_products) + on.line_to_product * moved.to_products;
  r.memory = quarter * (near + on.line_from_memory * moved.beyond_l2) / line;
  return r;
}

/// Microseconds of so many cycles.
constexpr double microseconds(double cycles, device const& on) { return cycles / on.megahertz; }

}  // namespace ago::plan

namespace ago {
using plan::microseconds;
}  // namespace ago
