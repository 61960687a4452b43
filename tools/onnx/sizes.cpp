// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sizes.hpp"

#include <algorithm>

namespace ago::onnx {

void check_dims(extents const& dims) {
  if (dims.size() > largest_rank) {
    throw fault{"", std::to_string(dims.size()) + " axes, more than " + std::to_string(largest_rank)};
  }
  std::int64_t count = 1;
  for (std::int64_t const d : dims) {
    if (d < 0) throw fault{"", "a size of " + std::to_string(d) + " in " + text_of(dims)};
    // The other sizes of an empty tensor are checked as well, so that no product of them overflows.
    if (d > largest_size || count * std::max<std::int64_t>(d, 1) > largest_size) {
      throw fault{"", "the shape " + text_of(dims) + " has more than " + std::to_string(largest_size) + " elements"};
    }
    count *= std::max<std::int64_t>(d, 1);
  }
}

std::int64_t volume(extents const& dims) { return volume(dims, 0, dims.size()); }

std::int64_t volume(extents const& dims, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t i = first; i < last; ++i) count *= dims[i];
  return count;
}

extents strides_of(extents const& dims) {
  extents strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::size_t axis_of(std::int64_t axis, std::size_t rank, char const* attribute) {
  auto const axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes) {
    throw fault{attribute, "axis " + std::to_string(axis) + " of a tensor with " + std::to_string(rank) + " axes"};
  }
  return static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
}

std::vector<std::size_t> axes_of(extents const& axes, std::size_t rank, char const* attribute) {
  if (axes.size() > rank) {
    throw fault{attribute, std::to_string(axes.size()) + " axes of a tensor with " + std::to_string(rank)};
  }
  std::vector<std::size_t> positions;
  for (std::int64_t const axis : axes) {
    std::size_t const position = axis_of(axis, rank, attribute);
    if (std::find(positions.begin(), positions.end(), position) != positions.end()) {
      throw fault{attribute, "axis " + std::to_string(axis) + " appears twice"};
    }
    positions.push_back(position);
  }
  return positions;
}

extents broadcast(extents const& a, extents const& b) {
  extents const& longer = a.size() >= b.size() ? a : b;
  extents const& shorter = a.size() >= b.size() ? b : a;
  extents result = longer;
  std::size_t const offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& d = result[offset + i];
    if (d != shorter[i] && d != 1 && shorter[i] != 1) {
      throw fault{"", "the shapes " + text_of(a) + " and " + text_of(b) + " do not fit together"};
    }
    if (d == 1) d = shorter[i];
  }
  return result;
}

std::string text_of(extents const& dims) {
  constexpr std::size_t shown = 20;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(dims.size(), shown); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + (dims.size() > shown ? ",...]" : "]");
}

}  // namespace ago::onnx
