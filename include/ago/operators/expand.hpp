// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broadcasting: which shapes fit each other, and what is expanded.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

namespace tracing {

/// Can an operator on shape `whole` read a value of shape `s` in place? It can if `s` has one pixel or all; either may
/// have one channel.
constexpr bool is_read_in_place(shape const& s, shape const& whole) {
  bool const one_pixel = s.h == 1 && s.w == 1;
  return one_pixel || (s.h == whole.h && s.w == whole.w);
}

/// The larger extent of both along each axis.
constexpr shape common_shape(shape const& s, shape const& t) {
  shape r = s;
  for (int i = 0; i < 4; ++i)
    if (extent_along(t, i) > extent_along(r, i)) extent_along(r, i) = extent_along(t, i);
  return r;
}

/// Reports a fault unless all extents are equal or, with `stretch`, 1.
constexpr bool check_extents(recording& r, shape const& s, shape const& t, bool stretch = true) {
  constexpr int order[] = {3, 1, 2, 0};  // of the checks: channels, height, width, images
  for (int const i : order) {
    int const expected = extent_along(s, i), got = extent_along(t, i);
    if (expected == got || (stretch && (expected == 1 || got == 1))) continue;
    r.complain(i == 3 ? ir::fault::shapes_differ : ir::fault::extents_differ, expected, got);
    return false;
  }
  return true;
}

/// `x` repeated along its axes of extent 1 to shape `whole`; x itself if it has that shape.
constexpr tensor append_expand(recording& r, tensor x, shape const& whole) {
  return x.dims() == whole ? x : r.append({.kind = op::expand, .out = whole}, x);
}

}  // namespace tracing

/// x repeated along axes of extent 1; an extent of 0 keeps that of x.
struct expand {
  int n = 0, h = 0, w = 0, c = 0;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::expand, line, x);
    shape const s = x.dims();
    auto const extent = [&](int wanted, int before) { return wanted ? r.positive(wanted) : before; };
    shape const whole{extent(n, s.n), extent(h, s.h), extent(w, s.w), extent(c, s.c)};
    for (int i = 0; i < 4; ++i) {
      int const before = ir::extent_along(s, i), after = ir::extent_along(whole, i);
      if (before == after || before == 1) continue;
      r.complain(i == 3 ? ir::fault::channels_differ : ir::fault::extents_differ, before, after);
      return x;
    }
    return tracing::append_expand(r, x, whole);
  }
};

/// The given number of copies of x along each axis, like torch.tile.
struct tile {
  int n = 1, h = 1, w = 1, c = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::expand, line, x);
    int const times[] = {r.positive(n), r.positive(h), r.positive(w), r.positive(c)};
    for (int i = 3; i >= 0; --i) x = along(r, x, i, times[i]);
    return x;
  }

 private:
  /// Takes the axes before `axis` as rows and the others as channels; each row becomes `times` rows.
  static constexpr tensor along(tracing::recording& r, tensor x, int axis, int times) {
    shape out = x.dims();
    if (times == 1) return x;
    long before = 1, from = 1;
    for (int i = 0; i < 4; ++i) (i < axis ? before : from) *= ir::extent_along(out, i);
    int const rows = r.fitting(before), channels = r.fitting(from);
    ir::extent_along(out, axis) = r.fitting(long(ir::extent_along(out, axis)) * times);
    if (tracing::limited_count(out) > tracing::int_limit) {
      r.complain(ir::fault::too_many_elements, tracing::int_limit, tracing::limited_count(out));
      return x;
    }
    x = r.append({.kind = op::reshape, .out = {1, rows, 1, channels}}, x);
    x = r.append({.kind = op::expand, .out = {1, rows, times, channels}}, x);
    return r.append({.kind = op::reshape, .out = out}, x);
  }
};

namespace described {

constexpr operand expand(node const& n, std::same_as<operand> auto x) {
  var i{n.out.n}, y{n.out.h}, j{n.out.w}, c{n.out.c};
  affine const at[] = {i, y, j, c};
  auto const index = [&](int d) { return x.extent(d) == 1 ? affine(0) : at[d]; };
  return result(i, y, j, c) = x(index(0), index(1), index(2), index(3));
}

}  // namespace described

}  // namespace ago
