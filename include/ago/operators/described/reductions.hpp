// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling, reductions and norms as index expressions.
#pragma once

#include <ago/operators/described/convolutions.hpp>

namespace ago::described {

constexpr operand global_pool(node const& n, operand x) {
  var i, c, p, q, y{1}, j{1};
  if (n.kind == op::global_max_pool) return result(i, y, j, c) = maximum(p, q)(x(i, p, q, c));
  return result(i, y, j, c) = sum(p, q)(x(i, p, q, c)) / (double(x.extent(1)) * x.extent(2));
}

/// With ceil_mode, the last windows reach beyond the pads; what they cover there is not counted.
constexpr operand window_pool(node const& n, operand x) {
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

constexpr node_kind fold_of(op kind) {
  switch (kind) {
    case op::reduce_max: return node_kind::maximum_of;
    case op::reduce_min: return node_kind::minimum_of;
    case op::reduce_product: return node_kind::product;
    case op::reduce_sum:
    case op::reduce_mean: return node_kind::sum;
    default: no_case_for_this_value();
  }
}
/// A fold of the axes along which the result has one element.
constexpr operand reduction(node const& n, operand x) {
  extents const out = extents_of(n.out);
  var kept[4], one[4]{var(1), var(1), var(1), var(1)};
  result_index at[4];
  fold f{fold_of(n.kind)};
  double count = 1;
  for (int d = 0; d < 4; ++d) {
    bool const folds = out[d] != x.extent(d);
    if (folds) f.over[f.count++] = &kept[d];
    at[d] = folds ? result_index(one[d]) : result_index(kept[d]);
    count *= folds ? x.extent(d) : 1;
  }
  scalar const folded = f(x(kept[0], kept[1], kept[2], kept[3]));
  return result(at[0], at[1], at[2], at[3]) = n.kind == op::reduce_mean ? folded / count : folded;
}

/// The first index of the largest channel, or the last one of equals.
constexpr operand arg_max(node const& n, operand x) {
  constexpr double beyond = 1 << 30;
  var i, y, j, c, one{1};
  operand const peak = result(i, y, j) = maximum(c)(x(i, y, j, c));
  scalar const is_peak = x(i, y, j, c) == peak(i, y, j), index = x.position(c);
  if (n.begin == 1) return result(i, y, j, one) = maximum(c)(select(is_peak, index, -1));
  return result(i, y, j, one) = minimum(c)(select(is_peak, index, beyond));
}

constexpr operand softmax(operand x) {
  var i, y, j, c;
  operand const peak = result(i, y, j) = maximum(c)(x(i, y, j, c));
  operand const e = result(i, y, j, c) = exp(x(i, y, j, c) - peak(i, y, j));
  operand const total = result(i, y, j) = sum(c)(e(i, y, j, c));
  return result(i, y, j, c) = e(i, y, j, c) / total(i, y, j);
}

constexpr operand layer_norm(node const& n, operand x, parameters const& parameter) {
  operand const gamma = parameter("gamma", n.weight, n.out.c);
  operand const beta = parameter("beta", n.shift, n.out.c);
  var i, y, j, c;
  operand const mean = result(i, y, j) = sum(c)(x(i, y, j, c)) / n.out.c;
  operand const centred = result(i, y, j, c) = x(i, y, j, c) - mean(i, y, j);
  operand const variance = result(i, y, j) = sum(c)(centred(i, y, j, c) * centred(i, y, j, c)) / n.out.c;
  return result(i, y, j, c) = centred(i, y, j, c) * rsqrt(variance(i, y, j) + n.alpha) * gamma(c) + beta(c);
}

}  // namespace ago::described
