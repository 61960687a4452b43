// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the pixels of a resized image come from.
#pragma once

#include <ago/graph/requirements.hpp>

#include <cstdint>

namespace ago {

/// Where pixel i of `out` pixels lies among `in` pixels.
enum class sampling : std::uint8_t {
  standard,              ///< as PyTorch: asymmetric for resize_nearest, half_pixel for resize_bilinear
  half_pixel,            ///< (i + 1/2) * in / out - 1/2: pixels have their centres at halves
  asymmetric,            ///< i * in / out
  align_corners,         ///< i * (in - 1) / (out - 1): the first on the first, the last on the last
  half_pixel_or_first,   ///< half_pixel, but 0 where the result has one pixel: ONNX's pytorch_half_pixel
};

/// Which pixel is nearest to such a place: the one before it, the one behind it, or the nearer of the two, and which of
/// them in the middle.
enum class rounding : std::uint8_t { down, up, nearest_or_down, nearest_or_up };

}  // namespace ago
