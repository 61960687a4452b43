// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of moving bytes between the caches of a core.
#pragma once

#include <ago/ir/shape.hpp>
#include <ago/partition/device.hpp>

#include <cstdint>

namespace ago::partition {

/// The price of a quarter of a cycle for a line of 64 bytes, for each of its bytes.
inline constexpr std::int64_t cycle_price = 8;
/// The same, for a whole line: the price of a quarter of a cycle.
inline constexpr std::int64_t quarter_price = 64 * cycle_price;
/// Prices of moving a byte from L2, and of moving it there from beyond.
constexpr std::int64_t near_price(device const& on) { return cycle_price * on.line_from_l2; }
constexpr std::int64_t far_price(device const& on) { return cycle_price * on.line_from_memory; }

constexpr std::int64_t bytes(shape const& s) { return 4 * std::int64_t(s.count()); }
constexpr std::int64_t image_bytes(shape const& s) { return bytes(s) / s.n; }
constexpr std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }
/// What the thread that has most gets of `extent`, if `threads` share it in whole tiles of `size`.
constexpr std::int64_t largest_share(std::int64_t extent, std::int64_t size, int threads) {
  std::int64_t const most = pieces(pieces(extent, size), threads) * size;
  return most < extent ? most : extent;
}

/// A cache of `capacity` bytes still has what was used so many bytes ago, and has evicted what was used that many bytes
/// ago. In between, the share that it has evicted rises, because not all bytes of a value are used after the same
/// distance.
constexpr std::int64_t surely_kept(std::int64_t capacity) { return capacity * 17 / 20; }
constexpr std::int64_t surely_evicted(std::int64_t capacity) { return capacity * 23 / 20; }

/// The price of using a byte again after `distance` others: those of lines from L2 and from beyond. `to_product`: a
/// matrix product reads it.
constexpr std::int64_t price_after(std::int64_t distance, device const& on, bool to_product = false) {
  // Without calls: compilers evaluate this thousands of times.
  std::int64_t const l1 = on.l1_bytes, l2 = on.l2_bytes, d = 20 * distance;
  if (d <= 17 * l1) return 0;
  std::int64_t price = cycle_price * (to_product ? on.line_to_product : on.line_from_l2);
  if (d < 23 * l1) price = price * (d - 17 * l1) / (6 * l1);
  if (d <= 17 * l2) return price;
  std::int64_t const far = cycle_price * on.line_from_memory;
  return price + (d < 23 * l2 ? far * (d - 17 * l2) / (6 * l2) : far);
}

/// The cache block of a matrix product or convolution: how many of `extent` pixels or rows of `line` bytes are computed
/// before the next ones; 0: all. If the input does not fit 7/8 of L2 beside a panel of the weights, it is as many as
/// take a quarter of L2 while all panels read them; but at least `least`, which justify loading a panel's
/// weights, or as many as fit L2 beside a panel. If that is fewer than half of `least`, there are no blocks. All
/// blocks are multiples of `tile`.
constexpr std::int64_t block_of(std::int64_t extent, std::int64_t line, std::int64_t panel_bytes, std::int64_t tile,
                                std::int64_t least, device const& on) {
  std::int64_t const room = (on.l2_bytes * 7 / 8 - panel_bytes) / line, close = on.l2_bytes / 4 / line;
  if (extent <= room) return 0;
  std::int64_t const block = (close > least ? close : least < room ? least : room) / tile * tile;
  return block < (least + 1) / 2 || block >= extent ? 0 : block;
}

/// Is a matrix product computed in blocks of pixels whose input stays in L1? A core that issues in order waits for
/// every line from L2. The input must exceed L1, and L2 hold it, and the weights, which are read again for each block.
constexpr bool fits_in_blocks(bool in_order, long input_bytes, long weight_bytes, device const& on) {
  long const l2 = on.l2_bytes * 7 / 8;
  return in_order && input_bytes > on.l1_bytes / 2 && input_bytes <= l2 && weight_bytes <= l2;
}

/// The pixels of such a block; 0 if at least three quarters as many lines would be read from L2 as without blocks.
/// `pixel`: bytes that a pixel's input and results for a panel take.
constexpr long block_in_l1(long pixels, long pixel, long panel_bytes, int panels, int tile, device const& on) {
  long const room = (on.l1_bytes * 7 / 8 - panel_bytes) / pixel / tile * tile;
  if (room < 2 * tile || room >= pixels) return 0;
  long const blocks = (pixels + room - 1) / room, even = (pixels + blocks - 1) / blocks;
  long const with = pixels * pixel + blocks * panels * panel_bytes, without = panels * (pixels * pixel + panel_bytes);
  return with < without - without / 4 ? (even + tile - 1) / tile * tile : 0;
}

}  // namespace ago::partition
