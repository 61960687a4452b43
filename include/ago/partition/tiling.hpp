// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a chain of operators is computed in one pass: the loop that its operators share.
#pragma once

#include <ago/ir/enumerators.hpp>

#include <cstdint>

namespace ago::partition {

/// Which part of the values between the operators of a chain exists at a time (AGO III.B and beyond).
enum class tiling : std::uint8_t {
  none,           ///< a single operator; in a schedule: the analytic default decides
  rows,           ///< a few rows: each operator computes the rows that the next one needs at that point
  channels,       ///< a chunk of channels of one image; a pointwise at the end accumulates chunk after chunk
  channels_rows,  ///< a few rows of a chunk of channels: rows within chunks
  pixels,         ///< a run of pixels, regardless of rows; for chains of pointwise operators
  operand,        ///< what a contraction copies of an operand at a time, which elementwise operators compute meanwhile
  fold,           ///< some pixels of a value that others read, too, and stays: the last operator folds them meanwhile
};

constexpr char const* name_of(tiling how) {
  constexpr char const* names[] = {"none", "rows", "channels", "channels and rows", "pixels", "operand", "fold"};
  static_assert(ir::has_enumerators<tiling, ir::lines_of(names)>());
  return names[int(how)];
}

/// The most operators of a chain, each with its epilogue.
inline constexpr int max_parts = 3;

/// Output rows of the last operator that a chain computes at a time, by rows.
inline constexpr int pipeline_rows = 2;

constexpr bool by_channels(tiling how) { return how == tiling::channels || how == tiling::channels_rows; }

/// A tiling, and the size of its tile: the channels of a chunk or the pixels of a run; unused by rows.
struct chain_tiling {
  tiling how = tiling::none;
  int tile = 0;
  bool operator==(chain_tiling const&) const = default;
};

}  // namespace ago::partition

namespace ago {
using partition::name_of;
using partition::tiling;
}  // namespace ago
