// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to move bytes between the caches of a core.
#pragma once

#include <ago/graph/shape.hpp>
#include <ago/partition/device.hpp>

#include <cstdint>

namespace ago::detail {

/// Prices of moving a byte: from L2, and from beyond it (measured where a core has 1 to 2 MB of L2).
inline constexpr std::int64_t near_price = 32, far_price = 128;

constexpr std::int64_t bytes(shape const& s) { return 4 * std::int64_t(s.count()); }
constexpr std::int64_t image_bytes(shape const& s) { return bytes(s) / s.n; }
constexpr std::int64_t pieces(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

/// `price` times the part of `bytes` that lies between `from` and `to`.
constexpr std::int64_t ramp(std::int64_t bytes, std::int64_t from, std::int64_t to, std::int64_t price) {
  return bytes <= from ? 0 : bytes >= to ? price : price * (bytes - from) / (to - from);
}
/// What moving a byte costs beyond near_price if a value is written as a whole and then read, and about `set` bytes
/// pass in between, here more, there less. Two fifths of L2 serve for sure.
constexpr std::int64_t beyond_l2(std::int64_t set, device const& on) {
  return ramp(set, on.l2_bytes * 2 / 5, on.l2_bytes * 5 / 4, far_price - near_price);
}
/// The same if it is used again and again, always after the same `set` bytes: L2 then has most of them, or hardly any
/// (by bench/cache, where the set is a quarter smaller than L2 or larger).
constexpr std::int64_t beyond_l2_in_turns(std::int64_t set, device const& on) {
  return ramp(set, on.l2_bytes * 3 / 4, on.l2_bytes * 5 / 4, far_price - near_price);
}
/// Price of writing a byte and reading it later. One that L2 has lost moves three times: fetched before it is written,
/// written back, and fetched again.
constexpr std::int64_t written_and_read(std::int64_t near, std::int64_t beyond) { return 2 * near + 3 * beyond; }

/// Bytes of its input that a matrix product may keep in L2 while all panels of weights pass over them; more would leave
/// too little to the weights and the result (plan/matrix_schedule.hpp cuts its input into such blocks).
constexpr std::int64_t block_bytes(device const& on) { return on.l2_bytes / 4; }

/// A matrix product: bytes of its input, result and weights, and its output channels.
struct product {
  std::int64_t input, result, weights;
  int channels;
};

/// Price of what it has to read again from beyond L2, if that does not hold its input: the input for every further
/// panel of 16 channels, which is about what register tiles hold, or the weights for every further block of the input,
/// whichever is less.
constexpr std::int64_t rereading(product const& p, device const& on) {
  if (p.input <= on.l2_bytes) return 0;
  std::int64_t const blocks = pieces(p.input, block_bytes(on));
  std::int64_t const of_block = block_bytes(on) + p.result / blocks + p.weights;
  std::int64_t const by_panels = (pieces(p.channels, 16) - 1) * p.input * beyond_l2_in_turns(p.input, on);
  std::int64_t const by_blocks = (blocks - 1) * p.weights * beyond_l2_in_turns(of_block, on);
  return by_panels < by_blocks ? by_panels : by_blocks;
}

}  // namespace ago::detail
