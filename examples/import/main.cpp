// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws the outline of a ring, found by a network imported from edges.onnx, and compares it with plain loops.
#include "outline.hpp"

#include <cmath>
#include <cstdio>

namespace {

constexpr int height = 24, width = 48;
using picture = float[height * width];

/// 1 on the ring, else 0; pixels are twice as high as wide.
float ring(int y, int x) {
  float const radius = std::hypot(2 * (float(y) - 11.5f), float(x) - 23.5f);
  return radius > 10 && radius < 20 ? 1.f : 0.f;
}

/// The steepness of `image` at a pixel; the image is padded with zeros.
float steepness(picture const& image, int y, int x) {
  auto const at = [&](int row, int column) {
    bool const inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? image[row * width + column] : 0.f;
  };
  float across = 0, down = 0;
  for (int k = -1; k <= 1; ++k) {
    float const weight = (k == 0 ? 2.f : 1.f) / 8;
    across += weight * (at(y + k, x + 1) - at(y + k, x - 1));
    down += weight * (at(y + 1, x + k) - at(y - 1, x + k));
  }
  return std::hypot(across, down);
}

}  // namespace

int main() {
  static picture image, edges;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image[y * width + x] = ring(y, x);
  network()(image, edges);

  float difference = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float const found = edges[y * width + x];
      std::putchar(" .:*#"[int(found * 6) < 4 ? int(found * 6) : 4]);
      difference = std::fmax(difference, std::fabs(found - steepness(image, y, x)));
    }
    std::putchar('\n');
  }
  std::printf("largest difference from plain loops: %.1e\n", double(difference));
  return difference < 1e-5f ? 0 : 1;
}
