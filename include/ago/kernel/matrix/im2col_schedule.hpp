// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of convolutions by matrix products: directly, and by im2col.
#pragma once

#include <ago/kernel/matrix/joined_schedule.hpp>

namespace ago::kernel {

/// Quarter cycles to load packed weights from beyond L2, at the 16 bytes a cycle of stream_cost(); none if they are so
/// few that they stay in L2 from run to run (see choose_matrix). On Arm, what the device says of a line, and on cores
/// that issue in order 3.2 bytes a cycle, as bench/arm models them.
constexpr long arrival_cost(tile_machine on, long floats, device const& machine) {
  if (floats < 1L << 14) return 0;
  return on.in_order ? 5 * floats : has_lane_fma(on.target) ? floats * machine.line_from_memory / 16 : floats;
}

/// The time of two activities that overlap: the longer one hides all but a quarter of the shorter one; on Arm, whose
/// costs of lines are what prefetching leaves of them, nothing.
constexpr long overlapped(tile_machine on, long a, long b) {
  return has_lane_fma(on.target) ? a + b : a > b ? a + b / 4 : b + a / 4;
}

/// Quarter cycles of a matrix product: those of the register tile over K, and of storing it. Two per cent more for each
/// kind of remainder tile, which is more code for the same work.
constexpr long product_cost(tile_machine on, register_tile const& t, int tiles, int vectors, int depth) {
  auto const panel = [&](int v) {
    auto const one = [&](int p) { return depth * tile_cost(on, p, v) + (on.in_order ? 80 + 12L * p * v : 2L * p * v); };
    return v == 0 ? 0 : tiles / t.pixels * one(t.pixels) + (t.pixels_left > 0 ? one(t.pixels_left) : 0);
  };
  return (vectors / t.vectors * panel(t.vectors) + panel(t.vectors_left)) *
         (50 + (t.pixels_left > 0) + (t.vectors_left > 0)) / 50;
}

/// Is the convolution small enough for im2col, so that the copied windows stay in L2?
constexpr bool suits_im2col(step_data const& s, device const& machine) {
  return s.groups == 1 && 4L * s.out.pixels() * matrix_depth(s) <= machine.l2_bytes / 4;
}

/// Quarter cycles of the direct convolution: its taps inside the image at the rate of a line, and waiting for the
/// weights.
constexpr long direct_cost(kernel_key key, step_data s, device const& machine) {
  key.what = structure::convolution;
  s.destination.pixel_stride = s.out.c;  // memory is not planned yet
  key.joined_pixels = std::uint8_t(pixels_to_join(key, s, {}, machine));
  s = with_joined_pixels(key, s);
  auto const taps = [](int in, int out, int pad, int kernel, int stride, int dilation) {
    long n = 0;
    for (int k = 0; k < kernel; ++k) {
      int const before = pad - k * dilation, first = before > 0 ? (before + stride - 1) / stride : 0;
      int const room = in - 1 + before, last = room < 0 ? 0 : room / stride + 1;
      n += (last < out ? last : out) - first > 0 ? (last < out ? last : out) - first : 0;
    }
    return n;
  };
  int const vectors = padded(s.out.c, key.target) / lanes(key.target);
  long const line = pixels_in_line(structure::convolution, s);
  window const& w = s.win;
  long const steps = s.out.n * taps(s.in.h, s.out.h, w.pad_top, w.kernel_h, w.stride_h, w.dilation_h) *
                     taps(s.in.w, s.out.w, w.pad_left, w.kernel_w, w.stride_w, w.dilation_w) * s.in.c;
  register_tile const tile = matrix_tile(machine_of(key, machine), {line, s.out.c});
  return matrix_cost(machine_of(key, machine), tile, line, vectors, any_depth, false) * steps / (200 * line) +
         arrival_cost(machine_of(key, machine), long(w.kernel_h) * w.kernel_w * s.in.c * padded(s.out.c, key.target),
                      machine);
}

/// Sets `key` and `s` to im2col, and returns its quarter cycles: copying a tap takes twelve cycles, and two for each
/// register.
constexpr long become_im2col(kernel_key& key, step_data& s, schedule const& wish, device const& machine) {
  int const depth = matrix_depth(s), vectors = padded(s.out.c, key.target) / lanes(key.target);
  int const pixels = int(s.out.pixels());
  long const weights = long(depth) * padded(s.out.c, key.target);
  key.what = structure::im2col;
  key.tile = matrix_tile(machine_of(key, machine), {.pixels = pixels, .channels = s.out.c, .cold = weights >= 1L << 14},
                         wish.winograd == 1 ? wish : schedule{});
  s.block = 0;
  tile_machine const on = machine_of(key, machine);
  return overlapped(on, product_cost(on, key.tile, pixels, vectors, depth), arrival_cost(on, weights, machine)) +
         4L * pixels * (depth / s.in.c) * (12 + 2L * padded(s.in.c, key.target) / lanes(key.target)) + 2000;
}

}  // namespace ago::kernel
