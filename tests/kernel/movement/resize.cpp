// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/movement/resize.hpp>

#include "kernel/support.hpp"

#include <algorithm>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(structure what, isa target, bool partial) {
  return {.what = what, .target = target, .partial = partial};
}

double pixel(planned_data const& s, float const* in, int n, int y, int x, int c) {
  return double(in[test::index_of(s.in, s.source.pixel_stride, n, y, x, c)]);
}

/// The source position of pixel i, by the step's rule or else `standard`.
double place_of(planned_data const& s, int i, int in, int out, sampling standard) {
  auto const how = s.positions == sampling::standard ? standard : s.positions;
  if (out == 1 && (how == sampling::align_corners || how == sampling::half_pixel_or_first)) return 0;
  if (how == sampling::align_corners) return i * (in - 1.) / (out - 1);
  if (how == sampling::asymmetric) return double(i) * in / out;
  return ((2. * i + 1) * in - out) / (2. * out);
}
/// The nearest pixel, or the one before or after.
int nearest(planned_data const& s, int i, int in, int out) {
  double const at = std::clamp(place_of(s, i, in, out, sampling::asymmetric), 0., in - 1.);
  auto const how = s.rounds;
  int best = 0;
  for (int p = 0; p < in; ++p) {
    double const nearer = std::fabs(best - at) - std::fabs(p - at);
    if (how == rounding::down ? p <= at
        : how == rounding::up ? best < at
                              : nearer > 0 || (nearer == 0 && how == rounding::nearest_or_up))
      best = p;
  }
  return best;
}
double nearest_pixel(planned_data const& s, float const* in, int n, int y, int x, int c) {
  return pixel(s, in, n, nearest(s, y, s.in.h, s.out.h), nearest(s, x, s.in.w, s.out.w), c);
}

/// Linear interpolation as a sum of hat functions around pixel centres; the outermost values continue beyond the edges.
double hat(planned_data const& s, int p, int i, int in, int out) {
  double const at = std::clamp(place_of(s, i, in, out, sampling::half_pixel), 0., in - 1.);
  return std::max(0., 1 - std::fabs(at - p));
}
double interpolated(planned_data const& s, float const* in, int n, int y, int x, int c) {
  double sum = 0;
  for (int p = 0; p < s.in.h; ++p)
    for (int q = 0; q < s.in.w; ++q)
      sum += hat(s, p, y, s.in.h, s.out.h) * hat(s, q, x, s.in.w, s.out.w) * pixel(s, in, n, p, q, c);
  return sum;
}

template <class Kernel, class Reference>
void many_sizes(isa target, bool partial, double tolerance, Reference reference) {
  int const l = lanes(target);
  for (int seed = 0; seed < 240; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    planned_data s;
    s.positions = sampling(seed % 2 ? r.integer(1, 4) : 0);
    s.rounds = rounding(seed % 2 ? r.integer(0, 3) : 0);
    int const odd = r.one_of({1, 2, 3, 17, 24, l, l + 1, 2 * l - 1, 3 * l + 1}), even = r.one_of({l, 2 * l, 3 * l});
    s.in = s.out = {r.integer(1, 3), r.integer(1, 9), r.integer(1, 9), partial ? odd : even};
    bool const doubles = r.integer(0, 2) == 0;
    s.out.h = doubles ? 2 * s.in.h : r.integer(1, 14);
    s.out.w = doubles ? 2 * s.in.w : r.integer(1, 14);
    s.source = {place::area::input, 0, 0, s.in.c + r.one_of({0, 0, 1, 5})};
    s.destination = {place::area::output, 0, 0, s.out.c + r.one_of({0, 0, 1, 5})};
    test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
    r.fill(in.data(), in.size());
    test::call<Kernel>(s, nullptr, {in.data()}, out.data());
    CAPTURE(seed);
    test::check_output(
        s.out, s.destination.pixel_stride, out,
        [&](int n, int y, int x, int c) { return reference(s, in.data(), n, y, x, c); }, tolerance);
  }
}

}  // namespace

TEST_CASE("the nearest pixel is taken, for any larger or smaller extents") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    many_sizes<resize_nearest_kernel<key(structure::resize_nearest, I, true)>>(I, true, 0, nearest_pixel);
    many_sizes<resize_nearest_kernel<key(structure::resize_nearest, I, false)>>(I, false, 0, nearest_pixel);
  });
}

TEST_CASE("pixels are interpolated between the centres of neighbours") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    many_sizes<resize_bilinear_kernel<key(structure::resize_bilinear, I, true)>>(I, true, 5e-7, interpolated);
    many_sizes<resize_bilinear_kernel<key(structure::resize_bilinear, I, false)>>(I, false, 5e-7, interpolated);
  });
}

TEST_CASE("interpolation to the same extents is a copy, and equal pixels stay equal within two roundings") {
  constexpr kernel_key k = key(structure::resize_bilinear, native_isa, true);
  test::numbers r(1);
  planned_data s;
  s.in = s.out = {2, 5, 7, 19};
  s.source = {place::area::input, 0, 0, 19};
  s.destination = {place::area::output, 0, 0, 19};
  test::guarded in(test::extent(s.in, 19)), out(test::extent(s.out, 19));
  r.fill(in.data(), in.size());
  test::call<resize_bilinear_kernel<k>>(s, nullptr, {in.data()}, out.data());
  test::check_output(s.out, 19, out, [&](int n, int y, int x, int c) { return pixel(s, in.data(), n, y, x, c); }, 0);
  s.out = {2, 17, 23, 19};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1;
  test::guarded even(test::extent(s.out, 19));
  test::call<resize_bilinear_kernel<k>>(s, nullptr, {in.data()}, even.data());
  test::check_output(s.out, 19, even, [](int, int, int, int) { return 1.; }, 4 * 0x1p-24);
}

TEST_CASE("weights are exact over ten thousand pixels") {
  constexpr kernel_key k = key(structure::resize_bilinear, native_isa, true);
  planned_data s;
  s.in = {1, 1, 10007, 1};
  s.out = {1, 1, 9001, 1};
  s.source = {place::area::input, 0, 0, 1};
  s.destination = {place::area::output, 0, 0, 1};
  test::guarded in(10007), out(9001);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i % 2);  // a wrong position gives a wrong value
  test::call<resize_bilinear_kernel<k>>(s, nullptr, {in.data()}, out.data());
  test::check_output(
      s.out, 1, out,
      [](int, int, int x, int) {
        double const at = (x + .5) * 10007 / 9001 - .5, part = at - std::floor(at);
        return int(std::floor(at)) % 2 == 0 ? part : 1 - part;
      },
      2e-7);
}

TEST_CASE("an epilogue follows resizing") {
  constexpr auto with = [](structure what) {
    kernel_key k = key(what, native_isa, true);
    k.after.stages[0].kind = op::add;
    k.after.stages[1].kind = op::mul;
    k.after.stages[2].kind = op::relu;
    return k;
  };
  constexpr kernel_key near = with(structure::resize_nearest), between = with(structure::resize_bilinear);
  test::numbers r(3);
  planned_data s;
  s.in = {2, 3, 4, 21};
  s.out = {2, 6, 5, 21};
  s.source = {place::area::input, 0, 0, 21};
  s.destination = {place::area::output, 0, 0, 22};
  s.after[0].operand = {place::area::input, 1, 0, 23};
  s.after[1].operand = {place::area::input, 2, 0, 0};  // one pixel per image
  s.after[1].image_step = 21;
  test::guarded in(test::extent(s.in, 21)), other(test::extent(s.out, 23)), gate(2 * 21);
  r.fill(in.data(), in.size());
  r.fill(other.data(), other.size());
  r.fill(gate.data(), gate.size());
  auto const check = [&](auto kernel, auto reference) {
    test::guarded out(test::extent(s.out, 22));
    test::call<decltype(kernel)>(s, nullptr, {in.data(), other.data(), gate.data()}, out.data());
    test::check_output(
        s.out, 22, out,
        [&](int n, int y, int x, int c) {
          double const sum =
              reference(s, in.data(), n, y, x, c) + double(other[std::size_t(test::index_of(s.out, 23, n, y, x, c))]);
          return std::max(0., sum * double(gate[std::size_t(n * 21 + c)]));
        },
        1e-6);
  };
  check(resize_nearest_kernel<near>{}, nearest_pixel);
  check(resize_bilinear_kernel<between>{}, interpolated);
}
