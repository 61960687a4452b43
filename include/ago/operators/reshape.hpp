// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same elements with other extents.
#pragma once

#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

/// The same elements in memory order, with other extents; an extent of 0 keeps that of x.
struct reshape {
  int n = 0, h = 0, w = 0, c = 0;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::reshape, line, x);
    shape const in = x.dims();
    auto const extent = [&](int wanted, int before) { return wanted ? r.positive(wanted) : before; };
    shape const out{extent(n, in.n), extent(h, in.h), extent(w, in.w), extent(c, in.c)};
    long const elements = tracing::limited_count(out);
    if (elements == in.count()) return r.append({.kind = op::reshape, .out = out}, x);
    r.complain(ir::fault::elements_differ, in.count(), elements);
    return x;
  }
};

namespace described {

constexpr operand reshape(node const& n, std::same_as<operand> auto x) {
  shape const& out = n.out;
  int const h = x.extent(1), w = x.extent(2), channels = x.extent(3);
  var i{out.n}, y{out.h}, j{out.w}, c{out.c};
  affine const place = ((i * out.h + y) * out.w + j) * out.c + c;
  return result(i, y, j, c) =
             x(place / (h * w * channels), place / (w * channels) % h, place / channels % w, place % channels);
}

}  // namespace described

}  // namespace ago
