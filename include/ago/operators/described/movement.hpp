// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements as index expressions.
#pragma once

#include <ago/operators/described/parts.hpp>

namespace ago::described {

/// Each element is one of x's, or what is read outside of it.
constexpr operand movement(node const& n, operand x) {
  shape const& out = n.out;
  int const ph = n.win.stride_h, pw = n.win.stride_w;
  var i{out.n}, y{out.h}, j{out.w}, c{out.c};
  affine const at[] = {i, y, j, c};
  auto const copied = [&](affine const& a, affine const& b, affine const& d, affine const& e) {
    return result(i, y, j, c) = x(a, b, d, e);
  };
  switch (n.kind) {
    case op::slice: {
      auto const index = [&](int d) { return d == n.axis ? n.begin + n.step * at[d] : at[d]; };
      return copied(index(0), index(1), index(2), index(3));
    }
    case op::channel_shuffle: return copied(i, y, j, c % n.groups * (out.c / n.groups) + c / n.groups);
    case op::reshape: {
      int const h = x.extent(1), w = x.extent(2), channels = x.extent(3);
      affine const place = ((i * out.h + y) * out.w + j) * out.c + c;
      return copied(place / (h * w * channels), place / (w * channels) % h, place / channels % w, place % channels);
    }
    case op::permute: {
      affine from[4];
      for (int k = 0; k < 4; ++k) from[n.order[k]] = at[k];
      return copied(from[0], from[1], from[2], from[3]);
    }
    case op::unfold: {
      int const columns = x.extent(2) / pw;
      return copied(i / (ph * pw), j / columns * ph + i / pw % ph, j % columns * pw + i % pw, c);
    }
    case op::fold: return copied(i * (ph * pw) + y % ph * pw + j % pw, 0, y / ph * (out.w / pw) + j / pw, c);
    case op::pad: x = padded(x, n.alpha); return copied(i, y - n.win.pad_top, j - n.win.pad_left, c - n.begin);
    case op::expand: {
      auto const index = [&](int d) { return x.extent(d) == 1 ? affine(0) : at[d]; };
      return copied(index(0), index(1), index(2), index(3));
    }
    default: no_case_for_this_value();
  }
}

/// Channel-first images; the operand has the extents of its stored order.
constexpr operand from_nchw(operand x) {
  var i, y, j, c;
  return result(i, y, j, c) = x(i, c, y, j);
}
/// The result has the extents of its stored order.
constexpr operand to_nchw(operand x) {
  var i, y, j, c;
  return result(i, c, y, j) = x(i, y, j, c);
}

/// The rows of a table at indices that are values.
constexpr operand embedding(node const& n, operand row, parameters const& parameter) {
  operand const table = parameter("table", n.weight, n.entries, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = table(row(i, y, j, 0), c);
}

/// Parameters as a value.
constexpr operand constant(node const& n, parameters const& parameter) {
  operand const value = parameter("value", n.weight, n.out.n, n.out.h, n.out.w, n.out.c);
  var i, y, j, c;
  return result(i, y, j, c) = value(i, y, j, c);
}

}  // namespace ago::described
