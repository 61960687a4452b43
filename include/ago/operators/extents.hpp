// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of windows: `.kernel = 3` and `.kernel = {1, 7}`, `.pad = 1`, `.pad = {0, 3}`, `.pad = same`.
#pragma once

#include <ago/requirements.hpp>

namespace ago {

/// Height and width; one number sets both.
struct extent2 {
  int h, w;
  constexpr extent2(int both) : h(both), w(both) {}
  constexpr extent2(int height, int width) : h(height), w(width) {}
};

namespace tracing {
/// Height and width, or nothing. (A default `stride = kernel` trips clang 14 inside lambdas.)
struct optional_extent2 {
  extent2 value = 0;
  bool given = false;
  constexpr optional_extent2() = default;
  constexpr optional_extent2(int both) : value(both), given(true) {}
  constexpr optional_extent2(int height, int width) : value(height, width), given(true) {}
  constexpr extent2 value_or(extent2 other) const { return given ? value : other; }
};

struct same_padding {};
}  // namespace tracing

/// Zero padding of each side of an image, in pixels.
struct pads {
  int top = 0, left = 0, bottom = 0, right = 0;
};

/// TensorFlow's padding: the result has ceil(extent / stride) pixels, and an odd pad goes to the bottom and right.
inline constexpr tracing::same_padding same{};

/// The type of `.pad`: pixels, or `same`.
struct padding {
  pads sides{};
  bool is_same = false;  ///< `sides` are computed from the extents of the image
  constexpr padding(int all) : sides{all, all, all, all} {}
  constexpr padding(int vertical, int horizontal) : sides{vertical, horizontal, vertical, horizontal} {}
  constexpr padding(pads each) : sides(each) {}
  constexpr padding(tracing::same_padding) : is_same(true) {}
};

}  // namespace ago
