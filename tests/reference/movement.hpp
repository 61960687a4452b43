// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements and compute nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <ago/ir/sampling.hpp>

#include "value.hpp"
#include "windows.hpp"

namespace reference::detail {

/// The images, rows, columns, channels of a shape, or the position of an element.
using indices = std::array<int, 4>;

inline indices extents_of(ago::shape const& s) { return {s.n, s.h, s.w, s.c}; }

/// Calls f(i) for every element of `s`, in memory order.
template <class F>
void for_each_index(ago::shape const& s, F f) {
  for (int n = 0; n < s.n; ++n)
    for (int h = 0; h < s.h; ++h)
      for (int w = 0; w < s.w; ++w)
        for (int c = 0; c < s.c; ++c) f(indices{n, h, w, c});
}

inline long flat(value const& v, indices const& i) { return v.index(i[0], i[1], i[2], i[3]); }

inline bool is_inside(ago::shape const& s, indices const& i) {
  indices const e = extents_of(s);
  for (std::size_t a = 0; a < 4; ++a)
    if (i[a] < 0 || i[a] >= e[a]) return false;
  return true;
}

/// The shape of the result of a movement of `in`, except where the node gives it.
inline ago::shape moved_shape(ago::ir::node const& n, ago::shape const& in) {
  auto const [ph, pw] = n.patch;
  indices const e = extents_of(in);
  auto const along = [&](int k) { return e[std::size_t(n.order[k])]; };
  switch (n.kind) {
    case ago::op::permute: return {along(0), along(1), along(2), along(3)};
    case ago::op::unfold: return {in.n * ph * pw, 1, in.h / ph * (in.w / pw), in.c};
    case ago::op::pad:
      return {in.n, in.h + n.win.pad_top + n.win.pad_bottom, in.w + n.win.pad_left + n.win.pad_right,
              std::max(n.out.c, in.c + n.pad_channels)};
    case ago::op::channel_shuffle: return in;
    default: return n.out;
  }
}

inline void check_movement(ago::ir::node const& n, ago::shape const& in) {
  using ago::op;
  auto const [ph, pw] = n.patch;
  check(n.out == moved_shape(n, in), n, "shape");
  if (n.kind == op::channel_shuffle) check(in.c % n.groups == 0, n, "groups do not divide channels");
  if (n.kind == op::unfold) check(in.h % ph == 0 && in.w % pw == 0, n, "patches do not divide the image");
  if (n.kind == op::fold) {
    check(n.out.h % ph == 0 && n.out.w % pw == 0, n, "patches do not divide the image");
    check(in == ago::shape{n.out.n * ph * pw, 1, n.out.h / ph * (n.out.w / pw), n.out.c}, n, "shape");
  }
  if (n.kind == op::reshape) check(in.count() == n.out.count(), n, "number of elements");
  if (n.kind == op::expand)
    for (std::size_t a = 0; a < 4; ++a)
      check(extents_of(in)[a] == 1 || extents_of(in)[a] == extents_of(n.out)[a], n, "shape");
  if (n.kind == op::resize_nearest) check(in.n == n.out.n && in.c == n.out.c, n, "shape");
  if (n.kind == op::slice)
    for (std::size_t a = 0; a < 4; ++a)
      check(int(a) == n.axis || extents_of(in)[a] == extents_of(n.out)[a], n, "shape");
}

/// The position of pixel i of `out` among `in` pixels, see ago::sampling; `standard`: the meaning of that.
inline double place_of(ago::ir::node const& n, int i, int in, int out, ago::sampling standard) {
  using ago::sampling;
  auto const how = n.positions == sampling::standard ? standard : n.positions;
  bool const corners = how == sampling::align_corners;
  if (out == 1 && (corners || how == sampling::half_pixel_or_first)) return 0;
  if (corners) return i * (in - 1.) / (out - 1.);
  return how == sampling::asymmetric ? double(i) * in / out : ((2. * i + 1) * in - out) / (2. * out);
}

inline int nearest(ago::ir::node const& n, int i, int in, int out) {
  double const at = place_of(n, i, in, out, ago::sampling::asymmetric);
  double rounded = std::floor(at);
  if (n.rounds == ago::rounding::up) rounded = std::ceil(at);
  if (n.rounds == ago::rounding::nearest_or_down) rounded = std::ceil(at - .5);
  if (n.rounds == ago::rounding::nearest_or_up) rounded = std::floor(at + .5);
  return std::clamp(int(rounded), 0, in - 1);
}

/// The position in the operand of element `i` of the result; a pad if outside.
inline indices source_of(ago::ir::node const& n, ago::shape const& in, indices i) {
  using ago::op;
  auto const [ph, pw] = n.patch;
  switch (n.kind) {
    case op::slice: i[std::size_t(n.axis)] = n.begin + i[std::size_t(n.axis)] * n.step; return i;
    case op::channel_shuffle: i[3] = i[3] % n.groups * (in.c / n.groups) + i[3] / n.groups; return i;
    case op::permute: {
      indices from{};
      for (std::size_t k = 0; k < 4; ++k) from[std::size_t(n.order[k])] = i[k];
      return from;
    }
    case op::unfold: {
      int const py = i[0] / pw % ph, px = i[0] % pw, ty = i[2] / (in.w / pw), tx = i[2] % (in.w / pw);
      return {i[0] / (ph * pw), ty * ph + py, tx * pw + px, i[3]};
    }
    case op::fold: return {(i[0] * ph + i[1] % ph) * pw + i[2] % pw, 0, i[1] / ph * (n.out.w / pw) + i[2] / pw, i[3]};
    case op::pad: return {i[0], i[1] - n.win.pad_top, i[2] - n.win.pad_left, i[3] - n.pad_channels};
    case op::expand:
      for (std::size_t k = 0; k < 4; ++k)
        if (extents_of(in)[k] == 1) i[k] = 0;
      return i;
    case op::resize_nearest: return {i[0], nearest(n, i[1], in.h, n.out.h), nearest(n, i[2], in.w, n.out.w), i[3]};
    default: throw std::logic_error(std::string("reference: not a movement: ") + name_of(n.kind));
  }
}

inline void move(ago::ir::node const& n, value const& in, value& out) {
  check_movement(n, in.extents);
  if (n.kind == ago::op::reshape) {
    out.exact = in.exact;
    out.error = in.error;
    return;
  }
  for_each_index(n.out, [&](indices const& i) {
    indices const from = source_of(n, in.extents, i);
    bool const inside = is_inside(in.extents, from);
    check(inside || n.kind == ago::op::pad, n, "reads outside its operand");
    auto const to = std::size_t(flat(out, i)), source = inside ? std::size_t(flat(in, from)) : 0;
    out.exact[to] = inside ? in.exact[source] : double(n.alpha);
    out.error[to] = inside ? in.error[source] : 0;
  });
}

/// Copies an operand of a concat to its place, `first` elements along the axis of the result.
inline void place_part(ago::ir::node const& n, value const& in, int first, value& out) {
  for_each_index(in.extents, [&](indices i) {
    auto const from = std::size_t(flat(in, i));
    i[std::size_t(n.axis)] += first;
    check(is_inside(n.out, i), n, "extents");
    out.exact[std::size_t(flat(out, i))] = in.exact[from];
    out.error[std::size_t(flat(out, i))] = in.error[from];
  });
}

}  // namespace reference::detail
