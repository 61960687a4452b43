// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps the schedules that a candidate requests to schedules for which the menu has kernels.
#pragma once

#include <ago/tuner/live_plan.hpp>
#include <ago/tuner/menu.hpp>

#include <memory>

namespace ago::tuner {

/// A schedule table, and the plan that results from it.
template <auto const& Net, options_for Options>
struct realised {
  schedule_list table;
  std::shared_ptr<live_plan<Net, Options> const> plan;
  bool feasible = false;  ///< the menu has all its kernels
};

namespace detail {

/// The same schedule with the default register tile and its packing.
constexpr schedule without_tile(schedule s) {
  s.pixels = s.vectors = s.packing = 0;
  return s;
}

/// The register tiles of step `k` that can be kept, as a bit set: the menu has the kernel with these tiles and the
/// defaults of the other parts. Of several such sets, the one that keeps the most tiles; ties: the one that keeps those
/// of later parts. -1: no set, not even the empty one.
template <auto const& Net, options_for Options>
int tiles_kept(live_plan<Net, Options> const& plan, schedule_list const& table, menu_view const& menu, int k) {
  using steps = network_space<Net, Options>;
  int const first = plan.first_part(k), count = plan.first_part(k + 1) - first;
  int best = -1, most = -1;
  for (int kept = 0; kept < 1 << count; ++kept) {
    int number = 0;
    auto const part_at = [&](int i) {
      schedule const* const found = table.find(steps::signature(first + i));
      schedule wish = found ? *found : schedule{};
      if (kept >> i & 1) number += wish.pixels > 0;
      else wish = without_tile(wish);
      return steps::scheduled(first + i, wish, plan.tiling_of(k), i == 0).key;
    };
    fused_key const key = plan::pipeline_key(plan.tiling_of(k).how, count, part_at);
    if (number < most || !menu.find(key)) continue;
    most = number;
    best = kept;
  }
  return best;
}

}  // namespace detail

/// Plans `table`. The menu does not have every combination of register tiles for the parts of a pipeline: where it
/// lacks one, as few parts as possible are set back to their default tile. If that does not help, the table is not
/// feasible.
template <auto const& Net, options_for Options>
realised<Net, Options> realise(schedule_list table, menu_view const& menu) {
  using plan_type = live_plan<Net, Options>;
  realised<Net, Options> r{std::move(table), nullptr};
  for (bool changed = true; changed;) {
    r.plan = std::make_shared<plan_type const>(r.table);
    r.feasible = true;
    changed = false;
    for (int k = 0; k < r.plan->steps(); ++k) {
      if (r.plan->leads(k) && !menu.find(r.plan->pass_key(k))) r.feasible = false;
      if (menu.find(r.plan->key(k))) continue;
      r.feasible = false;
      int const first = r.plan->first_part(k), count = r.plan->first_part(k + 1) - first;
      int const kept = detail::tiles_kept<Net, Options>(*r.plan, r.table, menu, k);
      for (int i = 0; i < count && kept >= 0; ++i) {
        std::uint64_t const signature = r.plan->part(first + i).signature;
        schedule const* const found = r.table.find(signature);
        if (kept >> i & 1 || !found || found->pixels == 0) continue;
        r.table.set(signature, detail::without_tile(*found));
        changed = true;
      }
    }
  }
  return r;
}

}  // namespace ago::tuner
