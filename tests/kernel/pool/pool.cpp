// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/pool/max_pool.hpp>

#include "kernel/support.hpp"
#include "support/rounds.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(structure what, isa target, bool partial) {
  return {.what = what, .target = target, .partial = partial};
}

/// The number of windows along one axis as PyTorch counts them. `ceil`: a window may extend beyond the far pads if it
/// starts on the image or on its near pads.
int windows(int extent, int kernel, int stride, int dilation, int near, int far, bool ceil) {
  int const span = dilation * (kernel - 1) + 1, room = extent + near + far - span;
  int const reach = room + (ceil ? stride - 1 : 0);
  if (reach < 0) return 0;
  int count = reach / stride + 1;
  if (ceil && (count - 1) * stride >= extent + near) --count;
  return count;
}

double average(planned_data const& s, float const* in, int n, int oy, int ox, int c) {
  window const& w = s.win;
  double sum = 0;
  int inside = 0, with_pads = 0;
  for (int ky = 0; ky < w.kernel_h; ++ky)
    for (int kx = 0; kx < w.kernel_w; ++kx) {
      int const y = oy * w.stride_h - w.pad_top + ky * w.dilation_h,
                x = ox * w.stride_w - w.pad_left + kx * w.dilation_w;
      if (y < s.in.h + w.pad_bottom && x < s.in.w + w.pad_right) ++with_pads;
      if (y < 0 || x < 0 || y >= s.in.h || x >= s.in.w) continue;
      ++inside;
      sum += double(in[test::index_of(s.in, s.source.pixel_stride, n, y, x, c)]);
    }
  return inside == 0 ? 0 : sum / (s.count_pads ? with_pads : inside);
}

double maximum(planned_data const& s, float const* in, int n, int oy, int ox, int c) {
  window const& w = s.win;
  double best = -INFINITY;
  for (int ky = 0; ky < w.kernel_h; ++ky)
    for (int kx = 0; kx < w.kernel_w; ++kx) {
      int const y = oy * w.stride_h - w.pad_top + ky * w.dilation_h,
                x = ox * w.stride_w - w.pad_left + kx * w.dilation_w;
      if (y < 0 || x < 0 || y >= s.in.h || x >= s.in.w) continue;
      best = std::fmax(best, double(in[test::index_of(s.in, s.source.pixel_stride, n, y, x, c)]));
    }
  return best;
}

int channels(test::numbers& r, isa target, bool partial) {
  int const l = lanes(target), odd[] = {1, 3, 17, 24, 58, 116, l, l + 1, 2 * l - 1, 5 * l + 1},
            even[] = {l, 2 * l, 4 * l, 5 * l};
  return partial ? r.one_of(odd) : r.one_of(even);
}

/// `known`: the kernel is compiled for the window.
template <class Kernel, class Reference>
void many_windows(isa target, bool partial, bool dilated, Reference reference, window const& known = {0, 0}) {
  int const seeds = known.kernel_h > 0 ? test::rounds(75) : 150;  // there are many known windows
  for (int seed = 0; seed < seeds; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    planned_data s;
    window& w = s.win;
    w = {r.integer(1, 5), r.integer(1, 5), r.integer(1, 3), r.integer(1, 3)};
    if (known.kernel_h > 0) w = known;
    if (dilated) {
      w.dilation_h = r.integer(1, 3);
      w.dilation_w = r.integer(1, 3);
    }
    w.pad_top = r.integer(0, w.kernel_h - 1);
    w.pad_bottom = r.integer(0, w.kernel_h - 1);
    w.pad_left = r.integer(0, w.kernel_w - 1);
    w.pad_right = r.integer(0, w.kernel_w - 1);
    bool const ceil = r.integer(0, 1) == 1;
    s.count_pads = r.integer(0, 1) == 1;
    s.in = s.out = {r.integer(1, 3), r.integer(1, 14), r.integer(1, 14), channels(r, target, partial)};
    s.out.h = windows(s.in.h, w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, w.pad_bottom, ceil);
    s.out.w = windows(s.in.w, w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, w.pad_right, ceil);
    if (s.out.h == 0 || s.out.w == 0) continue;
    s.source = {place::area::input, 0, 0, s.in.c + r.integer(0, 5)};
    s.destination = {place::area::output, 0, 0, s.out.c + r.integer(0, 5)};
    test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
    r.fill(in.data(), in.size(), -3, -1);  // below zero, so that pads would win a maximum
    test::call<Kernel>(s, nullptr, {in.data()}, out.data());
    CAPTURE(seed);
    test::check_output(
        s.out, s.destination.pixel_stride, out,
        [&](int n, int y, int x, int c) { return reference(s, in.data(), n, y, x, c); }, 2e-6);
  }
}

}  // namespace

TEST_CASE("a maximum over windows ignores the pads, in floor and in ceil mode") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    many_windows<max_pool_kernel<key(structure::max_pool, I, true)>>(I, true, true, maximum);
  });
  many_windows<max_pool_kernel<key(structure::max_pool, native_isa, false)>>(native_isa, false, true, maximum);
}

namespace {
template <long Turn, int KH, int KW, int SH, int SW, int Columns, int Left>
void known_window() {
  test::for_each_isa_in_turn<Turn>([]<isa I>(std::integral_constant<isa, I>) {
    constexpr kernel_key k = [] {
      kernel_key with = key(structure::max_pool, I, true);
      with.kernel_h = KH, with.kernel_w = KW, with.stride_h = SH, with.stride_w = SW, with.tile = {Columns, 1, Left, 0};
      return with;
    }();
    many_windows<max_pool_kernel<k>>(I, true, false, maximum, {KH, KW, SH, SW});
  });
}

}  // namespace

TEST_CASE("a maximum over windows is the same if the window is known at compile time") {
  known_window<0, 3, 3, 2, 2, 7, 6>();
  known_window<1, 3, 3, 2, 2, 3, 2>();
  known_window<2, 2, 2, 2, 2, 3, 1>();
  known_window<3, 3, 3, 1, 1, 4, 3>();
  known_window<2, 2, 3, 3, 1, 1, 0>();
  known_window<1, 1, 2, 1, 3, 2, 0>();
}

TEST_CASE("an average over windows divides by the pixels inside, or with the pads counted") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    many_windows<avg_pool_kernel<key(structure::avg_pool, I, true)>>(I, true, false, average);
  });
  many_windows<avg_pool_kernel<key(structure::avg_pool, native_isa, false)>>(native_isa, false, true, average);
}

TEST_CASE("global pooling reduces every image of the batch") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 60; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      planned_data s;
      s.in = {r.integer(1, 3), r.integer(1, 17), r.integer(1, 17), channels(r, I, true)};
      s.out = {s.in.n, 1, 1, s.in.c};
      s.win.kernel_h = s.in.h;
      s.win.kernel_w = s.in.w;
      s.source = {place::area::input, 0, 0, s.in.c + r.integer(0, 5)};
      s.destination = {place::area::output, 0, 0, s.out.c + r.integer(0, 5)};
      test::guarded in(test::extent(s.in, s.source.pixel_stride));
      r.fill(in.data(), in.size(), -3, -1);
      CAPTURE(seed);
      test::guarded mean(test::extent(s.out, s.destination.pixel_stride)), most(mean.size());
      test::call<global_avg_pool_kernel<key(structure::global_avg_pool, I, true)>>(s, nullptr, {in.data()},
                                                                                   mean.data());
      test::call<global_max_pool_kernel<key(structure::global_max_pool, I, true)>>(s, nullptr, {in.data()},
                                                                                   most.data());
      auto const with = [&](auto reference) {
        return [&s, &in, reference](int n, int y, int x, int c) { return reference(s, in.data(), n, y, x, c); };
      };
      test::check_output(s.out, s.destination.pixel_stride, mean, with(average), 1e-6);
      test::check_output(s.out, s.destination.pixel_stride, most, with(maximum), 0);
    }
  });
}

TEST_CASE("the average of a hundred thousand pixels is as accurate as that of a few") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(1);
    planned_data s;
    s.in = {1, 317, 331, 3};
    s.out = {1, 1, 1, 3};
    s.win.kernel_h = s.in.h;
    s.win.kernel_w = s.in.w;
    s.source = {place::area::input, 0, 0, 3};
    s.destination = {place::area::output, 0, 0, 3};
    std::vector<float> in = r.vector(std::size_t(s.in.count()));
    for (std::size_t i = 0; i < in.size(); i += 3) {
      in[i] = 0.7f;       // equal values: the roundings of a plain sum do not cancel
      in[i + 1] *= 1e6f;  // values that almost cancel
    }
    test::guarded out(3);
    test::call<global_avg_pool_kernel<key(structure::global_avg_pool, I, true)>>(s, nullptr, {in.data()}, out.data());
    double const magnitude[] = {0.7, 0.5e6, 0.5};
    for (int c = 0; c < 3; ++c)
      CHECK(std::fabs(out[std::size_t(c)] - average(s, in.data(), 0, 0, 0, c)) < 40 * 0x1p-24 * magnitude[c]);
  });
}

TEST_CASE("an epilogue follows pooling") {
  constexpr kernel_key k = [] {
    kernel_key with = key(structure::avg_pool, native_isa, true);
    with.after.stages[0].kind = op::add;
    with.after.stages[1].kind = op::relu;
    return with;
  }();
  test::numbers r(3);
  planned_data s;
  s.in = {2, 6, 6, 21};
  s.out = {2, 3, 3, 21};
  s.win = {2, 2, 2, 2};
  s.source = {place::area::input, 0, 0, 21};
  s.destination = {place::area::output, 0, 0, 21};
  s.after[0].operand = {place::area::input, 1, 0, 23};
  test::guarded in(test::extent(s.in, 21)), other(test::extent(s.out, 23)), out(test::extent(s.out, 21));
  r.fill(in.data(), in.size());
  r.fill(other.data(), other.size());
  test::call<avg_pool_kernel<k>>(s, nullptr, {in.data(), other.data()}, out.data());
  test::check_output(
      s.out, 21, out,
      [&](int n, int y, int x, int c) {
        double const sum =
            average(s, in.data(), n, y, x, c) + double(other[std::size_t(test::index_of(s.out, 23, n, y, x, c))]);
        return sum > 0 ? sum : 0.;
      },
      1e-6);
}
