// Arguments of windows: `.kernel = 3` and `.kernel = {1, 7}`, `.pad = 1`, `.pad = {0, 3}`, `.pad = same`.
#pragma once

namespace ago {

/// Height and width; one number serves both.
struct extent2 {
  int h, w;
  constexpr extent2(int both) : h(both), w(both) {}
  constexpr extent2(int height, int width) : h(height), w(width) {}
};

/// Pixels of zeros around an image, each side its own number.
struct pads {
  int top = 0, left = 0, bottom = 0, right = 0;
};

struct same_padding {};
/// TensorFlow's padding: the result has ceil(extent / stride) pixels, and an odd pad goes to the bottom and right.
inline constexpr same_padding same{};

/// What `.pad` takes.
struct padding {
  pads sides{};
  bool is_same = false;  ///< `sides` follow from the extents of the image
  constexpr padding(int all) : sides{all, all, all, all} {}
  constexpr padding(int vertical, int horizontal) : sides{vertical, horizontal, vertical, horizontal} {}
  constexpr padding(pads each) : sides(each) {}
  constexpr padding(same_padding) : is_same(true) {}
};

}  // namespace ago
