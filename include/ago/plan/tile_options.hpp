// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles and cache tiles that a tuner tries.
#pragma once

#include <ago/plan/schedule.hpp>

namespace ago::plan {

/// Number of options of each kind, without the default. Options that change code are compiled into the tuner.
inline constexpr int tiles_alone = 6;        ///< register tiles of a step computed alone
inline constexpr int tiles_in_pipeline = 2;  ///< the first of these, for one part of a pipeline at a time
inline constexpr int tiles_repacked = 1;     ///< with the other packing of weights, also in pipelines
inline constexpr int most_blocks = 5;        ///< cache tiles

/// A register tile as a schedule requests it: pixels and vectors, or columns and rows of a depthwise step. The number
/// of vectors depends on the packing, so both are one choice.
struct tile_option {
  int pixels = 0, vectors = 0;
  int packing = 0;  ///< schedule::packing; 0: that of the default
};

/// Best first, by the analytic cost.
struct tile_options {
  tile_option option[tiles_alone]{};
  int count = 0;

  /// The schedule that requests option k; an empty one beyond the last.
  constexpr schedule wish(int k) const {
    schedule s;
    if (k < 0 || k >= count) return s;
    s.pixels = option[k].pixels;
    s.vectors = option[k].vectors;
    s.packing = option[k].packing;
    return s;
  }
};

/// The cheapest of the tiles offered.
struct tile_ranking {
  tile_options best{};
  long cost[tiles_alone]{};

  constexpr void offer(tile_option t, long c) {
    int at = best.count;
    while (at > 0 && cost[at - 1] > c) --at;
    if (at == tiles_alone) return;
    if (best.count < tiles_alone) ++best.count;
    for (int k = best.count - 1; k > at; --k) {
      best.option[k] = best.option[k - 1];
      cost[k] = cost[k - 1];
    }
    best.option[at] = t;
    cost[at] = c;
  }
};

/// Cache tiles, see step_data::block.
struct block_options {
  int block[most_blocks]{};
  int count = 0;

  constexpr void offer(long size) {
    if (size <= 0 || count == most_blocks) return;
    for (int k = 0; k < count; ++k)
      if (block[k] == size) return;
    block[count++] = int(size);
  }
};

/// How the order of a kernel's loops is called, which its cache tile decides.
struct loop_words {
  char const* whole = "";     ///< without a cache tile
  char const* smallest = "";  ///< with one of at most `small`
  int small = 0;
  char const* counted = nullptr;  ///< what larger ones count; null: it has no such loops
};

}  // namespace ago::plan
