// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tiles, packings of weights and cache tiles that are tried for one step.
#pragma once

#include <ago/kernel/units.hpp>
#include <ago/plan/plan.hpp>

namespace ago::tuner {

/// Does a tuner try other register tiles?
constexpr bool has_tiles(structure what) { return facts_of(what).has_tiles; }

/// The register tiles that are tried for a step, besides that of `usual`, its plan without a schedule.
constexpr tile_options tiles_of(planned_step const& usual) {
  return facts_of(usual.key.what).tiles(usual.key, usual.data);
}

/// The best tiles for the packing of weights that `usual` does not use.
constexpr tile_options repacked_tiles_of(planned_step const& usual) {
  tile_options r = facts_of(usual.key.what).repacked_tiles(usual.key, usual.data);
  if (r.count > tiles_repacked) r.count = tiles_repacked;
  return r;
}

/// The cache tiles that are tried for a step, besides that of `usual`. They determine the order of its loops.
constexpr block_options blocks_of(planned_step const& usual) {
  return facts_of(usual.key.what).blocks(usual.key, usual.data);
}

}  // namespace ago::tuner
