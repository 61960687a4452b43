// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handwritten digits as pictures for a network that was trained on photos.
#pragma once

#include "../train_digits/training_set.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace fine_tune {

constexpr int side = 224;
using picture = std::array<float, std::size_t(side) * side * 3>;

/// The places of the first `count` digits of each class.
inline std::vector<std::size_t> first_of_each_class(digits::training_set const& set, int count) {
  std::vector<std::size_t> r;
  int found[10]{};
  for (std::size_t i = 0; i < set.images.size(); ++i)
    if (found[set.labels[i]]++ < count) r.push_back(i);
  return r;
}

/// A number from -most to most, from random bits.
inline int within(int most, std::uint32_t bits) { return int(bits % std::uint32_t(2 * most + 1)) - most; }

/// Enlarges a digit to a grey picture with values from -1 to 1, as the network takes them, by linear interpolation. It
/// is moved down and to the right by so many pixels of the picture.
inline void enlarge(digits::image const& digit, int down, int right, picture& to) {
  auto const at = [&](int row, int column) {
    bool const inside = row >= 0 && row < 8 && column >= 0 && column < 8;
    return inside ? float(digit[std::size_t(8 * row + column)]) : 0.f;
  };
  for (int y = 0; y < side; ++y) {
    float const row = (float(y - down) + .5f) * 8 / side - .5f, v = row - std::floor(row);
    for (int x = 0; x < side; ++x) {
      float const column = (float(x - right) + .5f) * 8 / side - .5f, u = column - std::floor(column);
      int const r = int(std::floor(row)), c = int(std::floor(column));
      float const above = at(r, c) + u * (at(r, c + 1) - at(r, c));
      float const below = at(r + 1, c) + u * (at(r + 1, c + 1) - at(r + 1, c));
      float const value = (above + v * (below - above)) / 8 - 1;
      for (int k = 0; k < 3; ++k) to[std::size_t((y * side + x) * 3 + k)] = value;
    }
  }
}

}  // namespace fine_tune
