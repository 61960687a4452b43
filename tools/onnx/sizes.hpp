// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked sizes of tensors: they come from files that may be damaged or hostile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ago::onnx {

using extents = std::vector<std::int64_t>;

/// A fault, thrown where it is detected and turned into a finding where the node is known.
struct fault {
  std::string attribute;
  std::string reason;
};

/// The most elements, and the most axes, of a tensor. Products of two such sizes fit into 64 bits.
inline constexpr std::int64_t largest_size = 2147483647;
inline constexpr std::size_t largest_rank = 16;

/// Throws a fault if a size is negative, or there are too many axes or elements.
void check_dims(extents const& dims);

/// The number of elements of dims that check_dims accepted.
std::int64_t volume(extents const& dims);

/// The product of dims[first..last).
std::int64_t volume(extents const& dims, std::size_t first, std::size_t last);

/// Distances between neighbours along each axis, row-major.
extents strides_of(extents const& dims);

/// An axis in [-rank, rank), mapped to [0, rank).
std::size_t axis_of(std::int64_t axis, std::size_t rank, char const* attribute = "axis");

/// Several axes, all different.
std::vector<std::size_t> axes_of(extents const& axes, std::size_t rank, char const* attribute = "axes");

/// The NumPy broadcast of two shapes: aligned at the end, sizes equal or 1.
extents broadcast(extents const& a, extents const& b);

/// "[1,3,224,224]"
std::string text_of(extents const& dims);

}  // namespace ago::onnx
