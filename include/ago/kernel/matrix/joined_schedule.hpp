// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a direct convolution of few channels computes several pixels as one.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>

namespace ago::kernel {

/// What a row of the window takes for a pixel if `pixels` are joined: registers of multiply-adds, times 840,
/// which all numbers of pixels divide.
constexpr long joined_cost(step_data const& s, isa target, int pixels) {
  window const& w = s.win;
  return 840L * padded(pixels * s.out.c, target) / lanes(target) * (w.kernel_w + (pixels - 1) * w.stride_w) / pixels;
}

/// Can pixels be joined? Their channels must follow each other in memory, and what follows must be the same for all.
/// Loops that are scheduled by hand have short registers, which few channels fill.
constexpr bool can_join_pixels(kernel_key const& key, step_data const& s, chain_tiling const& in) {
  if (key.what != structure::convolution || s.groups != 1 || s.win.dilation_w != 1 || by_channels(in.how)) return false;
  if (is_scheduled_by_hand(key.target) || s.destination.pixel_stride != s.out.c) return false;
  for (int i = 0; i < key.after.count(); ++i)
    if (!is_unary(key.after.stages[i].kind) || is_parametric(key.after.stages[i].kind)) return false;
  return true;
}

/// How many pixels to join: the cheapest number that divides rows, if it saves more than a tenth, and so many see the
/// whole window that a tile of them hides the latency of multiply-adds; 1: none. Where two multiply-adds of half a
/// register take no longer than one of a whole one, channels may take half registers instead.
constexpr int pixels_to_join(kernel_key const& key, step_data const& s, chain_tiling const& in, device const& on) {
  constexpr int most = 8, least_line = 8;
  if (!can_join_pixels(key, s, in)) return 1;
  isa const shorter = narrower(key.target);
  long const whole = joined_cost(s, key.target, 1), halves = joined_cost(s, shorter, 1) / 2;
  long least = (on.multiply_adds <= lanes(key.target) && halves < whole ? halves : whole) * 9 / 10;
  int best = 1;
  for (int pixels = 2; pixels <= most && pixels * s.out.c <= lanes(key.target); ++pixels) {
    if (s.out.w % pixels != 0 || joined_cost(s, key.target, pixels) >= least) continue;
    kernel_key k = key;
    k.joined_pixels = std::uint8_t(pixels);
    if (pixels_in_line(structure::convolution, with_joined_pixels(k, s)) < least_line) continue;
    least = joined_cost(s, key.target, pixels);
    best = pixels;
  }
  return best;
}

}  // namespace ago::kernel
