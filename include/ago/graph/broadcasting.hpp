// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of different shapes side by side: which fit, and what is repeated.
#pragma once

#include <ago/graph/axis.hpp>
#include <ago/graph/recording.hpp>

namespace ago {

namespace detail {

/// Can an operator on shape `whole` read a value of shape `s` where it lies: all of it, one pixel or all, with one
/// channel or all?
constexpr bool is_read_in_place(shape const& s, shape const& whole) {
  bool const one_pixel = s.h == 1 && s.w == 1;
  return one_pixel || (s.h == whole.h && s.w == whole.w);
}

/// The extents of both, the larger ones.
constexpr shape common_shape(shape const& s, shape const& t) {
  shape r = s;
  for (int i = 0; i < 4; ++i)
    if (extent_along(t, i) > extent_along(r, i)) extent_along(r, i) = extent_along(t, i);
  return r;
}

/// Complains unless all extents are equal, or, with `stretch`, 1.
constexpr bool check_extents(recording& r, shape const& s, shape const& t, bool stretch = true) {
  constexpr int order[] = {3, 1, 2, 0};  // of complaints: channels, height, width, images
  for (int const i : order) {
    int const expected = extent_along(s, i), got = extent_along(t, i);
    if (expected == got || (stretch && (expected == 1 || got == 1))) continue;
    r.complain(i == 3 ? fault::shapes_differ : fault::extents_differ, expected, got);
    return false;
  }
  return true;
}

/// `x` repeated along its axes of extent 1 to shape `whole`; x itself if it has that.
constexpr tensor append_expand(recording& r, tensor x, shape const& whole) {
  return x.dims() == whole ? x : r.append({.kind = op::expand, .out = whole}, x);
}

}  // namespace detail

/// Repeated along axes of extent 1; 0: as before.
struct expand {
  int n = 0, h = 0, w = 0, c = 0;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    detail::recording r(op::expand, line, x);
    shape const s = x.dims();
    auto const extent = [&](int wanted, int before) { return wanted ? r.positive(wanted) : before; };
    shape const whole{extent(n, s.n), extent(h, s.h), extent(w, s.w), extent(c, s.c)};
    for (int i = 0; i < 4; ++i) {
      int const before = detail::extent_along(s, i), after = detail::extent_along(whole, i);
      if (before == after || before == 1) continue;
      r.complain(i == 3 ? fault::channels_differ : fault::extents_differ, before, after);
      return x;
    }
    return detail::append_expand(r, x, whole);
  }
};

/// A row of copies of x along each axis, as torch.tile has it.
struct tile {
  int n = 1, h = 1, w = 1, c = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    detail::recording r(op::expand, line, x);
    int const times[] = {r.positive(n), r.positive(h), r.positive(w), r.positive(c)};
    for (int i = 3; i >= 0; --i) x = along(r, x, i, times[i]);
    return x;
  }

 private:
  /// With everything before the axis as rows and everything from it on as channels, a row becomes `times` rows.
  static constexpr tensor along(detail::recording& r, tensor x, int axis, int times) {
    shape out = x.dims();
    if (times == 1) return x;
    long before = 1, from = 1;
    for (int i = 0; i < 4; ++i) (i < axis ? before : from) *= detail::extent_along(out, i);
    int const rows = r.fitting(before), channels = r.fitting(from);
    detail::extent_along(out, axis) = r.fitting(long(detail::extent_along(out, axis)) * times);
    if (detail::limited_count(out) > detail::int_limit) {
      r.complain(fault::too_large, detail::int_limit, detail::limited_count(out));
      return x;
    }
    x = r.append({.kind = op::reshape, .out = {1, rows, 1, channels}}, x);
    x = r.append({.kind = op::expand, .out = {1, rows, times, channels}}, x);
    return r.append({.kind = op::reshape, .out = out}, x);
  }
};

}  // namespace ago
