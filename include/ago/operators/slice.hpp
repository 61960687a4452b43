// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements along an axis: slice, chunk.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

namespace ago {

// [slice]
/// `count` elements along an axis from `begin`, `step` apart; backwards with a negative step.
struct slice {
  int begin = 0, count = 1;
  ago::ir::axis axis = ago::ir::axis::channels;
  int step = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::slice, line, x);
    ir::node n{.kind = op::slice, .out = x.dims()};
    n.axis = int(axis);
    n.begin = r.not_negative(begin);
    n.step = step < 0 ? step : r.positive(step);
    int const elements = r.positive(count), extent = ir::extent_along(n.out, n.axis);
    if (elements == 1) n.step = 1;
    long const last = n.begin + long(elements - 1) * n.step, end = (last > n.begin ? last : n.begin) + 1;
    if (end > extent || last < 0) {
      r.complain(ir::fault::slice_exceeds_extent, extent, end > extent ? end : last);
      return x;
    }
    ir::extent_along(n.out, n.axis) = elements;
    return r.append(n, x);
  }
};
// [/slice]

/// Several values: `auto [a, b] = chunk<2>(x)`.
template <int N>
struct tensor_list {
  tensor values[N];
  constexpr tensor operator[](int i) const { return values[i]; }
  template <std::size_t I>
  constexpr tensor get() const {
    return values[I];
  }
};

/// `N` equal parts along an axis, which `N` must divide.
template <int N>
constexpr tensor_list<N> chunk(tensor x, axis along = axis::channels, int line = __builtin_LINE()) {
  int const extent = ir::extent_along(x.dims(), int(along));
  if (extent % N != 0) tracing::recording(op::slice, line, x).complain(ir::fault::parts_must_divide_extent, N, extent);
  tensor_list<N> r;
  for (int i = 0; i < N; ++i) {
    r.values[i] = extent % N == 0 ? slice{i * (extent / N), extent / N, along, 1, line}(x) : x;
  }
  return r;
}

namespace described {

// [described]
constexpr operand slice(node const& n, std::same_as<operand> auto x) {
  var i{n.out.n}, y{n.out.h}, j{n.out.w}, c{n.out.c};
  affine const at[] = {i, y, j, c};
  auto const index = [&](int d) { return d == n.axis ? n.begin + n.step * at[d] : at[d]; };
  return result(i, y, j, c) = x(index(0), index(1), index(2), index(3));
}
// [/described]

}  // namespace described

}  // namespace ago

/// @cond
template <int N>
struct std::tuple_size<ago::tensor_list<N>> {
  static constexpr std::size_t value = N;
};
template <std::size_t I, int N>
struct std::tuple_element<I, ago::tensor_list<N>> {
  using type = ago::tensor;
};
/// @endcond
