// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that compute positions: bilinear resizing, rows of a table.
#pragma once

#include <algorithm>
#include <span>

#include "movement.hpp"

namespace reference::detail {

/// The two of `in` elements between which element i of `out` lies, and its distance from the first.
struct between {
  int first, second;
  double part;

  between(ago::ir::node const& n, int i, int in, int out) {
    double const at = std::max(place_of(n, i, in, out, ago::sampling::half_pixel), 0.);
    first = std::min(int(at), in - 1);
    second = std::min(first + 1, in - 1);
    part = at - first;
  }
};

inline void resize_bilinear(ago::ir::node const& n, value const& in, value& out) {
  check(in.extents.n == n.out.n && in.extents.c == n.out.c, n, "shape");
  for_each_index(n.out, [&](indices const& i) {
    between const y(n, i[1], in.extents.h, n.out.h), x(n, i[2], in.extents.w, n.out.w);
    double sum = 0, size = 0, carried = 0;
    for (int corner = 0; corner < 4; ++corner) {
      bool const down = corner / 2 == 1, right = corner % 2 == 1;
      double const weight = (down ? y.part : 1 - y.part) * (right ? x.part : 1 - x.part);
      auto const from = std::size_t(in.index(i[0], down ? y.second : y.first, right ? x.second : x.first, i[3]));
      sum += weight * in.exact[from];
      size += weight * std::abs(in.exact[from]);
      carried += weight * in.error[from];
    }
    auto const to = std::size_t(flat(out, i));
    out.exact[to] = sum;
    out.error[to] = carried + 4 * roundoff * size;
  });
}

/// Rows of a table [entries][channels]; numbers are rounded toward zero and clamped to the table.
inline void embedding(ago::ir::node const& n, std::span<float const> parameters, value const& ids, value& out) {
  ago::shape const& s = ids.extents;
  check(s.c == 1 && n.out == ago::shape{s.n, s.h, s.w, n.out.c} && n.entries > 0, n, "shape");
  for (std::size_t i = 0; i < out.exact.size(); ++i) {
    std::size_t const c = i % std::size_t(n.out.c), pixel = i / std::size_t(n.out.c);
    auto const entry = [&](double id) {
      auto const row = std::size_t(std::clamp(id, 0., double(n.entries - 1)));
      return double(parameters[std::size_t(n.weight) + row * std::size_t(n.out.c) + c]);
    };
    double const id = ids.exact[pixel], e = ids.error[pixel], y = entry(id);
    out.exact[i] = y;
    out.error[i] = std::max(std::abs(entry(id + e) - y), std::abs(entry(id - e) - y));
  }
}

}  // namespace reference::detail
