// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and constant inputs of operators, with all defaults resolved, for shape inference and folding.
#pragma once

#include <vector>

#include "site.hpp"

namespace ago::onnx {

/// One axis of a Slice: the elements start, start + step, ...
struct cut {
  std::int64_t start = 0, step = 1, count = 0;
};

/// Slice: one cut per axis of the input.
std::vector<cut> cuts_of(site const& s);

/// Pad: what is added before and after each axis; negative numbers remove.
struct padding {
  extents before, after;
};
padding padding_of(site const& s);

/// Split: the axis and the sizes of the parts.
struct parts {
  std::size_t axis;
  extents sizes;
};
parts parts_of(site const& s);

/// Transpose: axis i of the result is axis [i] of the input.
std::vector<std::size_t> permutation_of(site const& s);

/// Reductions: whether each axis is reduced.
std::vector<bool> reduced_axes(site const& s);

}  // namespace ago::onnx
