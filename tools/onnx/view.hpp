// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants viewed through other strides: transposed, sliced, repeated.
#pragma once

#include <utility>

#include "model.hpp"
#include "sizes.hpp"

namespace ago::onnx {

/// Calls f(position, offset) for every element of `dims` in row-major order, with offset = start + sum of index *
/// stride.
template <class F>
void walk(extents const& dims, std::int64_t start, extents const& strides, F f) {
  std::int64_t const count = volume(dims);
  extents index(dims.size(), 0);
  std::int64_t offset = start;
  for (std::int64_t position = 0; position < count; ++position) {
    f(static_cast<std::size_t>(position), static_cast<std::size_t>(offset));
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < dims[axis]) break;
      offset -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

/// Calls f with the vector that holds the numbers of `c`.
template <class C, class F>
auto with_numbers(C& c, F f) {
  return c.type == element::real ? f(c.reals) : f(c.integers);
}

/// A constant of zeros.
inline constant zeros(element type, extents dims) {
  constant c{.type = type, .dims = std::move(dims), .reals = {}, .integers = {}};
  with_numbers(c, [&](auto& numbers) { numbers.resize(static_cast<std::size_t>(volume(c.dims))); });
  return c;
}

/// Calls f(to, from) with the vectors of two constants of the same type.
template <class F>
void both(constant& to, constant const& from, F f) {
  if (to.type == element::real) {
    f(to.reals, from.reals);
  } else {
    f(to.integers, from.integers);
  }
}

/// The numbers of a constant, as a vector of the type of `like`.
inline std::vector<float> const& same_numbers(constant const& c, std::vector<float> const&) { return c.reals; }
inline extents const& same_numbers(constant const& c, extents const&) { return c.integers; }

/// The elements of `c` at start + sum of index * stride.
inline constant view(constant const& c, extents dims, std::int64_t start, extents const& strides) {
  constant result = zeros(c.type, std::move(dims));
  both(result, c, [&](auto& to, auto const& from) {
    walk(result.dims, start, strides, [&](std::size_t position, std::size_t offset) { to[position] = from[offset]; });
  });
  return result;
}

/// Strides that repeat a tensor of shape `from` over the shape `to`, aligned at the end.
inline extents repeating_strides(extents const& from, extents const& to) {
  extents const own = strides_of(from);
  extents strides(to.size(), 0);
  std::size_t const offset = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) strides[offset + i] = from[i] == 1 ? 0 : own[i];
  return strides;
}

/// `c` repeated over a shape that it broadcasts to.
inline constant repeated(constant const& c, extents const& dims) {
  if (c.dims == dims) return c;
  return view(c, dims, 0, repeating_strides(c.dims, dims));
}

}  // namespace ago::onnx
