// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: sums, means, products, extrema along axes.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/operators/permute.hpp>

#include <concepts>

namespace ago {

/// A set of axes: `axes{axis::rows, axis::columns}`.
struct axes {
  bool has[4]{};
  constexpr axes(std::same_as<axis> auto... all) { ((has[int(all)] = true), ...); }
};

namespace tracing {

/// The equivalent operator for a reduction along rows and columns; op::identity if there is none.
constexpr op global_form(op kind) {
  return kind == op::reduce_mean ? op::global_avg_pool : kind == op::reduce_max ? op::global_max_pool : op::identity;
}

template <op Kind>
struct reduction {
  axes along{axis::rows, axis::columns, axis::channels};
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    recording r(Kind, line, x);
    ir::node n{.kind = Kind, .out = x.dims()};
    for (int i = 0; i < 4; ++i)
      if (along.has[i]) extent_along(n.out, i) = 1;
    bool const global = !along.has[0] && along.has[1] && along.has[2] && !along.has[3];
    if (global && global_form(Kind) != op::identity) n.kind = global_form(Kind);
    return r.append(n, x);
  }
};

}  // namespace tracing

// Reductions along the given axes, whose extents become 1: `x | reduce_mean{axis::channels}`,
// `x | reduce_sum{{axis::rows, axis::columns}}`; along all axes but the images by default.
using reduce_sum = tracing::reduction<op::reduce_sum>;
using reduce_mean = tracing::reduction<op::reduce_mean>;
using reduce_max = tracing::reduction<op::reduce_max>;
using reduce_min = tracing::reduction<op::reduce_min>;
using reduce_product = tracing::reduction<op::reduce_product>;

/// The index, as a float, of the largest element along an axis, whose extent becomes 1; among equal elements the first,
/// or the last if `last`.
struct arg_max {
  axis along = axis::channels;
  bool last = false;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::arg_max, line, x);
    int const a = int(along);
    if (ir::extent_along(x.dims(), a) > 1 << 24)  // float32 skips integers above
      r.complain(ir::fault::too_many_elements, 1 << 24, ir::extent_along(x.dims(), a));
    int order[] = {0, 1, 2, 3};
    order[a] = 3, order[3] = a;
    permute const swap{order[0], order[1], order[2], order[3], line};
    if (a != 3) x = swap(x);
    shape const s = x.dims();
    ir::node n{.kind = op::arg_max, .out = {s.n, s.h, s.w, 1}};
    n.last_of_equals = last;
    tensor const y = r.append(n, x);
    return a == 3 ? y : swap(y);
  }
};

namespace described {

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
constexpr operand reduction(node const& n, std::same_as<operand> auto x) {
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
constexpr operand arg_max(node const& n, std::same_as<operand> auto x) {
  constexpr double beyond = 1 << 30;
  var i, y, j, c, one{1};
  operand const peak = result(i, y, j) = maximum(c)(x(i, y, j, c));
  scalar const is_peak = x(i, y, j, c) == peak(i, y, j), index = x.position(c);
  if (n.last_of_equals) return result(i, y, j, one) = maximum(c)(select(is_peak, index, -1));
  return result(i, y, j, one) = minimum(c)(select(is_peak, index, beyond));
}

}  // namespace described

}  // namespace ago
