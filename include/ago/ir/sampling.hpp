// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sampling positions of resized images.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::ir {

/// The position of pixel i of `out` pixels among `in` pixels.
enum class sampling : std::uint8_t {
  standard,             ///< as in PyTorch: asymmetric for resize_nearest, half_pixel for resize_bilinear
  half_pixel,           ///< (i + 1/2) * in / out - 1/2: the centres of pixels are at halves
  asymmetric,           ///< i * in / out
  align_corners,        ///< i * (in - 1) / (out - 1): first pixel on first, last on last
  half_pixel_or_first,  ///< half_pixel, but 0 where the result has one pixel: ONNX's pytorch_half_pixel
};

/// The pixel selected at such a position: the one before it, the one after it, or the nearer of the two, with a choice
/// for the middle.
enum class rounding : std::uint8_t { down, up, nearest_or_down, nearest_or_up };

}  // namespace ago::ir

namespace ago {
using ir::rounding;
using ir::sampling;
}  // namespace ago
