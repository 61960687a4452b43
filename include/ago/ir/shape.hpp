// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of a value, in memory order.
#pragma once

#include <ago/requirements.hpp>

namespace ago::ir {

/// Extents of a float32 value with four axes, stored as NHWC: images, rows, columns, channels (innermost).
struct shape {
  int n = 1, h = 1, w = 1, c = 1;

  constexpr bool operator==(shape const&) const = default;
  /// Number of elements.
  constexpr long count() const { return long(n) * h * w * c; }
  /// Number of pixels over all images: the M of a pointwise convolution.
  constexpr long pixels() const { return long(n) * h * w; }
};

}  // namespace ago::ir

namespace ago {
using ir::shape;
}  // namespace ago
