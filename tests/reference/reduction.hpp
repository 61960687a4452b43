// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along axes.
#pragma once

#include <algorithm>
#include <limits>

#include "movement.hpp"

namespace reference::detail {

/// Reduces the axes along which the result has one element.
inline void reduce(ago::ir::node const& n, value const& in, value& out) {
  using ago::op;
  indices const before = extents_of(in.extents), after = extents_of(n.out);
  double terms = 1;
  for (std::size_t a = 0; a < 4; ++a) {
    check(after[a] == before[a] || after[a] == 1, n, "shape");
    if (after[a] != before[a]) terms *= before[a];
  }
  bool const product = n.kind == op::reduce_product;
  bool const extremum = n.kind == op::reduce_max || n.kind == op::reduce_min;
  double const start = n.kind == op::reduce_max   ? -std::numeric_limits<double>::infinity()
                       : n.kind == op::reduce_min ? std::numeric_limits<double>::infinity()
                                                  : double(product);
  std::fill(out.exact.begin(), out.exact.end(), start);
  for_each_index(in.extents, [&](indices i) {
    auto const from = std::size_t(flat(in, i));
    for (std::size_t a = 0; a < 4; ++a)
      if (after[a] == 1) i[a] = 0;
    auto const to = std::size_t(flat(out, i));
    double const x = in.exact[from], e = in.error[from];
    double &y = out.exact[to], &error = out.error[to];
    if (n.kind == op::reduce_max) y = std::max(y, x);
    else if (n.kind == op::reduce_min) y = std::min(y, x);
    else if (product) error = error * (std::abs(x) + e) + std::abs(y) * e + roundoff * std::abs(y * x), y *= x;
    else y += x;
    if (extremum) error = std::max(error, e);
    else if (!product) error += e + roundoff * std::abs(x);
  });
  if (n.kind == op::reduce_mean)
    for (std::size_t i = 0; i < out.exact.size(); ++i) {
      out.exact[i] /= terms;
      out.error[i] = out.error[i] / terms + roundoff * std::abs(out.exact[i]);
    }
}

/// The index of the largest channel of each pixel. If others are within the errors, any of them may be chosen.
inline void arg_max(ago::ir::node const& n, value const& in, value& out) {
  ago::shape const& s = in.extents;
  check(n.out == ago::shape{s.n, s.h, s.w, 1}, n, "shape");
  for (std::size_t i = 0; i < out.exact.size(); ++i) {
    auto const at = [&](int c) { return i * std::size_t(s.c) + std::size_t(c); };
    int best = 0;
    for (int c = 1; c < s.c; ++c)
      if (in.exact[at(c)] > in.exact[at(best)] || (n.last_of_equals && in.exact[at(c)] == in.exact[at(best)])) best = c;
    out.exact[i] = best;
    for (int c = 0; c < s.c; ++c) {
      double const reach = in.error[at(c)] + in.error[at(best)];
      if (reach > 0 && in.exact[at(best)] - in.exact[at(c)] <= 10 * reach)
        out.error[i] = std::max(out.error[i], double(std::abs(c - best)));
    }
  }
}

}  // namespace reference::detail
