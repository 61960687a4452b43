// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of moving bytes between the caches of a core.
#pragma once

#include <ago/graph/shape.hpp>
#include <ago/partition/device.hpp>

#include <cstdint>

namespace ago::detail {

/// The price of a quarter of a cycle for a line of 64 bytes, for each of its bytes.
inline constexpr std::int64_t cycle_price = 8;
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

/// `price` times the position of `bytes` between `from` and `to`, as a fraction in 0 ... 1.
constexpr std::int64_t ramp(std::int64_t bytes, std::int64_t from, std::int64_t to, std::int64_t price) {
  return bytes <= from ? 0 : bytes >= to ? price : price * (bytes - from) / (to - from);
}
/// The additional price, beyond near_price, of moving a byte of a value that is written as a whole and then read, with
/// about `set` bytes in between; their number varies, so the price rises gradually. Two fifths of L2 are certain to be
/// available.
constexpr std::int64_t beyond_l2(std::int64_t set, device const& on) {
  return ramp(set, on.l2_bytes * 2 / 5, on.l2_bytes * 5 / 4, far_price(on));
}
/// Likewise for a byte that is used repeatedly, always after the same `set` bytes: L2 then holds either most of them or
/// hardly any (according to bench/cache, for sets a quarter smaller or larger than L2).
constexpr std::int64_t beyond_l2_in_turns(std::int64_t set, device const& on) {
  return ramp(set, on.l2_bytes * 3 / 4, on.l2_bytes * 5 / 4, far_price(on));
}
/// Price of writing a byte and reading it later. A byte that L2 has evicted moves three times: fetched before it is
/// written, written back, and fetched again.
constexpr std::int64_t written_and_read(std::int64_t near, std::int64_t beyond) { return 2 * near + 3 * beyond; }

/// Bytes of input that a matrix product may keep in L2 while it reads all panels of weights for them; more would leave
/// too little for the weights and the result (plan/matrix_schedule.hpp cuts the input into such blocks).
constexpr std::int64_t block_bytes(device const& on) { return on.l2_bytes / 4; }

/// A matrix product: bytes of its input, result and weights, and its output channels.
struct product {
  std::int64_t input, result, weights;
  int channels;
};

/// Price of reading the input of a product again from L2, for every further panel of channels, if L1 does not hold it.
constexpr std::int64_t rereading_from_l2(product const& p, device const& on) {
  int const panel = on.in_order ? 12 : on.multiply_adds < 16 ? 16 : 48;  // about the width of register tiles
  return (pieces(p.channels, panel) - 1) * p.input *
         ramp(p.input, on.l1_bytes * 3 / 4, on.l1_bytes * 5 / 4, near_price(on));
}

/// Price of what the product has to read again from beyond L2, if L2 does not hold its input: the input for every
/// further panel of 16 channels, about the width of register tiles, or the weights for every further block of the
/// input, whichever is less.
constexpr std::int64_t rereading(product const& p, device const& on) {
  if (p.input <= on.l2_bytes) return 0;
  std::int64_t const blocks = pieces(p.input, block_bytes(on));
  std::int64_t const of_block = block_bytes(on) + p.result / blocks + p.weights;
  std::int64_t const by_panels = (pieces(p.channels, 16) - 1) * p.input * beyond_l2_in_turns(p.input, on);
  std::int64_t const by_blocks = (blocks - 1) * p.weights * beyond_l2_in_turns(of_block, on);
  return by_panels < by_blocks ? by_panels : by_blocks;
}

}  // namespace ago::detail
