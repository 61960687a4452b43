// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling of windows and of whole images.
#pragma once

#include <ago/operators/window.hpp>

#include <concepts>

namespace ago {

/// Maximum of each window, without the padding. `ceil` is PyTorch's ceil_mode.
struct max_pool {
  extent2 kernel = 2;
  tracing::optional_extent2 stride{};  ///< that of the kernel, unless given
  padding pad = 0;
  extent2 dilation = 1;
  bool ceil = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::max_pool, line, x);
    return r.append(tracing::windowed(r, op::max_pool, x.dims(), kernel, stride.value_or(kernel), pad, dilation,
                                      {.pooling = true, .ceil = ceil}),
                    x);
  }
};

/// Mean of each window. With `count_pads`, padding counts in the divisor, as by default in PyTorch (count_include_pad).
struct avg_pool {
  extent2 kernel = 2;
  tracing::optional_extent2 stride{};  ///< that of the kernel, unless given
  padding pad = 0;
  extent2 dilation = 1;
  bool ceil = false;
  bool count_pads = true;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::avg_pool, line, x);
    ir::node n = tracing::windowed(r, op::avg_pool, x.dims(), kernel, stride.value_or(kernel), pad, dilation,
                                   {.pooling = true, .ceil = ceil});
    n.count_pads = count_pads;
    return r.append(n, x);
  }
};

namespace tracing {
/// One value per image and channel.
template <op Kind>
struct global_pool {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    return recording(Kind, line, x).append(ir::node{.kind = Kind, .out = {x.images(), 1, 1, x.channels()}}, x);
  }
};
}  // namespace tracing

/// Mean over the image: {n, h, w, c} -> {n, 1, 1, c}.
using global_avg_pool = tracing::global_pool<op::global_avg_pool>;
/// Maximum over the image: {n, h, w, c} -> {n, 1, 1, c}.
using global_max_pool = tracing::global_pool<op::global_max_pool>;

namespace described {

constexpr operand global_pool(node const& n, std::same_as<operand> auto x) {
  var i, c, p, q, y{1}, j{1};
  if (n.kind == op::global_max_pool) return result(i, y, j, c) = maximum(p, q)(x(i, p, q, c));
  return result(i, y, j, c) = sum(p, q)(x(i, p, q, c)) / (double(x.extent(1)) * x.extent(2));
}

/// With ceil_mode, the last windows reach beyond the pads; what they cover there is not counted.
constexpr operand window_pool(node const& n, std::same_as<operand> auto x) {
  window const& w = n.win;
  int const h = x.extent(1), width = x.extent(2);
  int const rows = (n.out.h - 1) * w.stride_h + w.span_h() - w.pad_top,
            columns = (n.out.w - 1) * w.stride_w + w.span_w() - w.pad_left;
  bool const leaves = has_pads(w) || rows > h || columns > width;
  var i, y{n.out.h}, j{n.out.w}, c, p{w.kernel_h}, q{w.kernel_w};
  window_pixels const at(w, y, j, p, q);
  if (n.kind == op::max_pool) {
    operand const image = leaves ? padded(x, -__builtin_huge_valf()) : x;
    return result(i, y, j, c) = maximum(p, q)(image(i, at.row, at.column, c));
  }
  scalar const total = sum(p, q)((leaves ? padded(x, 0) : x)(i, at.row, at.column, c));
  // The pixels that count.
  int const first_row = n.count_pads ? -w.pad_top : 0, end_row = h + (n.count_pads ? w.pad_bottom : 0);
  int const first_column = n.count_pads ? -w.pad_left : 0, end_column = width + (n.count_pads ? w.pad_right : 0);
  bool const all_count = n.count_pads ? rows <= end_row && columns <= end_column : !leaves;
  if (all_count) return result(i, y, j, c) = total / (double(w.kernel_h) * w.kernel_w);
  scalar const inside = select(at.row >= affine(first_row) && at.row < affine(end_row) &&
                                   at.column >= affine(first_column) && at.column < affine(end_column),
                               x.number(1), 0);
  return result(i, y, j, c) = total / sum(p, q)(inside);
}

}  // namespace described

}  // namespace ago
