// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The four axes of a value by name and by number.
#pragma once

#include <ago/ir/shape.hpp>

#include <cstdint>

namespace ago::ir {

/// An axis of a value.
enum class axis : std::uint8_t { images, rows, columns, channels };

/// The extent of a shape along axis number `axis`.
constexpr int& extent_along(shape& s, int axis) { return axis == 0 ? s.n : axis == 1 ? s.h : axis == 2 ? s.w : s.c; }
constexpr int extent_along(shape const& s, int axis) {
  return axis == 0 ? s.n : axis == 1 ? s.h : axis == 2 ? s.w : s.c;
}

}  // namespace ago::ir

namespace ago {
using ir::axis;
}  // namespace ago
