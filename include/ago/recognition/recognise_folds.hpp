// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds over whole axes as reductions, and sums of products of two values as matrix products.
#pragma once

#include <ago/operators/reduction.hpp>
#include <ago/recognition/recognise_windows.hpp>

namespace ago::recognition {

/// A fold over whole axes of an operand; `kind` is op::reduce_sum and so on.
constexpr bool recognise_reduction(index_view const& view, recognition_list& list, op kind, int a, unsigned folded) {
  expression::index_expression const& e = view.e;
  expression::extents const& in = view.operand_of(a);
  if (view.is_dependent(a)) return false;
  bool is_folded[expression::max_rank]{};
  unsigned seen = 0;
  int last = -1;
  for (int d = 0; d < in.rank; ++d) {
    axis_sum const s = view.at(a, d);
    if (in.of[d] == 1 && s.axes() == 0 && s.constant == 0) continue;
    int const x = s.plain_axis();
    if (x < 0 || (seen >> x & 1) || e.extent[x] != in.of[d]) return false;
    seen |= 1u << x;
    is_folded[d] = folded >> x & 1;
    if (!is_folded[d] && x < last) return false;
    if (!is_folded[d]) last = x;
  }
  if (seen != (view.result_axes() | view.wide(folded))) return false;

  shape from, to;
  if (in.rank <= 4) {
    expression::extents kept = in;
    for (int d = 0; d < in.rank; ++d) kept.of[d] = is_folded[d] ? 1 : in.of[d];
    from = shape_of(in), to = shape_of(kept);
  } else {  // adjacent axes that are treated alike are one
    long extent[expression::max_rank]{};
    bool folds[expression::max_rank]{};
    int count = 0;
    for (int d = 0; d < in.rank; ++d) {
      if (in.of[d] == 1) continue;
      if (count == 0 || folds[count - 1] != is_folded[d]) extent[count] = 1, folds[count++] = is_folded[d];
      extent[count - 1] *= in.of[d];
    }
    if (count > 4) return false;
    for (int i = 0; i < count; ++i) {
      int const axis = 4 - count + i;
      extent_along(from, axis) = int(extent[i]);
      extent_along(to, axis) = folds[i] ? 1 : int(extent[i]);
    }
  }
  bool const global = from.n == to.n && from.c == to.c && to.h == 1 && to.w == 1 && from != to;
  if (global && tracing::global_form(kind) != op::identity) kind = tracing::global_form(kind);
  list.append({.kind = kind, .out = to}, {view.access(a).operand, false, from});
  return true;
}

/// scale * the sum over a product of elements a and b, as a product of matrices in images and rows.
struct matmul_finder {
  index_view const& view;
  recognition_list& list;
  unsigned folded{};
  int a{}, b{};  ///< accesses
  float scale{1};

  axis_sum of_a{}, of_b{};
  int group[expression::max_rank]{};  ///< the axis of `shape` that each axis of the result belongs to
  shape out{};
  long depth{1};

  constexpr bool find() {
    expression::index_expression const& e = view.e;
    if (view.access(a).padded || view.is_dependent(a) || view.access(b).padded || view.is_dependent(b)) return false;
    of_a = view.by_axes(view.address(a)), of_b = view.by_axes(view.address(b));
    if (!of_a.is_exact || !of_b.is_exact || of_a.constant || of_b.constant) return false;
    for (int x = 0; x < e.axis_count; ++x)
      if (folded >> x & 1) depth *= e.extent[x];
    for (int i = 0; i < 2; ++i, swap())
      if (by_position() && append()) return true;
    for (int i = 0; i < 2; ++i, swap())
      if (by_runs() && append()) return true;
    return false;
  }

 private:
  constexpr void swap() {
    axis_sum const s = of_a;
    of_a = of_b, of_b = s;
    int const x = a;
    a = b, b = x;
  }
  constexpr bool has(axis_sum const& s, int x) const { return s.of[x] != 0; }
  constexpr void measure() {
    out = {};
    for (int x = 0; x < view.e.result.rank; ++x) extent_along(out, group[x]) *= view.e.extent[x];
  }
  constexpr bool by_position() {
    int const rank = view.e.result.rank;
    if (rank > 4) return false;
    for (int x = 0; x < rank; ++x) group[x] = 4 - rank + x;
    measure();
    return true;
  }
  /// Axes that both have are images or rows, those of a alone columns or what b lacks, those of b alone channels.
  constexpr bool by_runs() {
    int const rank = view.e.result.rank;
    int g = 3;
    for (int x = rank; x-- > 0;) {
      if (view.e.extent[x] == 1) {
        group[x] = g;
        continue;
      }
      bool const in_a = has(of_a, x), in_b = has(of_b, x);
      if (!in_a && (g < 3 || !in_b)) return false;
      if (in_a && g == 3) g = in_b ? 1 : 2;
      else if (in_a && g == 2 && in_b) g = 1;
      else if (in_a && g == 1 && !in_b) g = 0;
      else if (in_a && g == 0 && in_b) return false;
      group[x] = g;
    }
    measure();
    return true;
  }

  constexpr bool append() {
    if (out.w == 1 && out.c == 1) return false;  // dot products: a loop nest takes a fraction of the time
    bool const transposed = !fits(false);
    if (transposed && !fits(true)) return false;
    node n{.kind = op::matmul, .out = out, .transposed = transposed, .alpha = scale};
    shape const left{out.n, out.h, out.w, int(depth)};
    shape right{has_group(0) ? out.n : 1, has_group(1) ? out.h : 1, int(depth), out.c};
    if (transposed) right.w = out.c, right.c = int(depth);
    list.append(n, {view.access(a).operand, false, left}, {view.access(b).operand, false, right});
    return true;
  }
  /// Does b have the axes of a group?
  constexpr bool has_group(int g) const {
    for (int x = 0; x < view.e.result.rank; ++x)
      if (group[x] == g && has(of_b, x)) return true;
    return false;
  }
  /// Are all elements where matrices have them?
  constexpr bool fits(bool transposed) const {
    expression::index_expression const& e = view.e;
    long const k_step = transposed ? 1 : out.c, c_step = transposed ? depth : 1;
    long const rows = has_group(1) ? out.h : 1, images = has_group(0) ? out.n : 1;
    if (view.operand_of(a).count() != long(out.n) * out.h * out.w * depth) return false;
    if (view.operand_of(b).count() != images * rows * depth * out.c) return false;
    long inner[4]{1, 1, 1, 1};  // elements of the group behind an axis
    for (int x = e.result.rank; x-- > 0;) {
      if (e.extent[x] == 1) continue;
      int const g = group[x];
      long const step = inner[g];
      inner[g] *= e.extent[x];
      long const in_a = g == 3 ? 0 : e.result.stride(x) / out.c * depth;
      long in_b = 0;
      if (g == 3) in_b = step * c_step;
      if (g == 1 && has_group(1)) in_b = step * depth * out.c;
      if (g == 0 && has_group(0)) in_b = step * rows * depth * out.c;
      if (of_a.of[x] != in_a || of_b.of[x] != in_b) return false;
    }
    long next = 1;
    for (bool found = true; found && next < depth;) {
      found = false;
      for (int x = e.result.rank; x < e.axis_count && !found; ++x)
        if ((folded >> x & 1) && e.extent[x] > 1 && of_a.of[x] == next) {
          if (of_b.of[x] != next * k_step) return false;
          next *= e.extent[x];
          found = true;
        }
    }
    return next == depth;
  }
};

/// Expressions whose root is a fold, or a fold times a number.
constexpr bool recognise_fold(index_view const& view, recognition_list& list, int fold, double factor,
                              unsigned parameters) {
  using expression::node_kind;
  expression::index_expression const& e = view.e;
  expression::node const& root = e.body.nodes[fold];
  unsigned const folded = root.bits;
  for (int n = 0; n < fold; ++n)
    if (expression::is_fold(e.body.nodes[n].kind)) return false;
  expression::product_factors f;
  if (root.kind == node_kind::sum) f.add(e, root.operand[0]);
  double points = 1;
  for (int x = 0; x < e.axis_count; ++x)
    if (folded >> x & 1) points *= e.extent[x];
  if (root.kind == node_kind::sum && f.count == 2 && f.others == 0) {
    int const a = f.accesses[0], b = f.accesses[1];
    bool const a_trained = parameters >> view.access(a).operand & 1;
    bool const b_trained = parameters >> view.access(b).operand & 1;
    if (a_trained || b_trained) {
      if (f.scale * factor != 1 || a_trained == b_trained) return false;
      return recognise_convolution(view, list, a_trained ? b : a, a_trained ? a : b, folded);
    }
    return matmul_finder{view, list, folded, a, b, float(f.scale * factor)}.find();
  }
  if (root.kind == node_kind::sum && f.count == 1 && f.others == 0) {
    int const a = f.accesses[0];
    double const scale = f.scale * factor;
    bool const mean = scale != 1 && scale * points < 1 + 1e-6 && scale * points > 1 - 1e-6;
    if (!mean && scale != 1) return false;
    if (!view.access(a).padded && recognise_reduction(view, list, mean ? op::reduce_mean : op::reduce_sum, a, folded))
      return true;
    return mean && recognise_pool(view, list, op::avg_pool, a, folded);
  }
  expression::node const& body = e.body.nodes[root.operand[0]];
  if (factor != 1 || body.kind != node_kind::read) return false;
  int const a = body.operand[0];
  op const kind = root.kind == node_kind::maximum_of   ? op::reduce_max
                  : root.kind == node_kind::minimum_of ? op::reduce_min
                                                       : op::reduce_product;
  if (root.kind == node_kind::sum) return false;
  if (!view.access(a).padded && recognise_reduction(view, list, kind, a, folded)) return true;
  return kind == op::reduce_max && recognise_pool(view, list, op::max_pool, a, folded);
}

}  // namespace ago::recognition
