// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/norm/softmax.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

template <class... Kinds>
constexpr kernel_key key(isa target, Kinds... kinds) {
  kernel_key k{.what = structure::softmax, .target = target};
  int i = 0;
  ((k.after.stages[i++].kind = kinds), ...);
  return k;
}

planned_data step(test::numbers& r, shape const& s) {
  planned_data d;
  d.in = d.out = s;
  d.source = {place::area::input, 0, 0, s.c + r.integer(0, 1) * r.integer(0, 9)};
  d.destination = {place::area::output, 0, 0, s.c + r.integer(0, 1) * r.integer(0, 9)};
  return d;
}

/// The definition in double for the pixel that starts at x.
std::vector<double> definition(float const* x, int channels) {
  double most = -INFINITY, sum = 0;
  for (int c = 0; c < channels; ++c) most = std::fmax(most, double(x[c]));
  std::vector<double> y;
  for (int c = 0; c < channels; ++c) sum += y.emplace_back(std::exp(double(x[c]) - most));
  for (double& v : y) v /= sum;
  return y;
}

/// Runs a step and compares every channel within the bound that the kernel documents.
template <kernel_key K>
void check(planned_data const& s, test::guarded const& in) {
  test::guarded out(test::extent(s.out, s.destination.pixel_stride));
  test::call<softmax_kernel<K>>(s, nullptr, {in.data()}, out.data());
  double worst = 0;  // as a fraction of the bound
  bool gaps = out.intact();
  for (long p = 0; p < s.out.pixels(); ++p) {
    float const* const x = in.data() + p * s.source.pixel_stride;
    float const* const y = out.data() + p * s.destination.pixel_stride;
    auto const exact = definition(x, s.out.c);
    double most = -INFINITY;
    for (int c = 0; c < s.out.c; ++c) most = std::fmax(most, double(x[c]));
    for (int c = 0; c < s.out.c; ++c) {
      double const e = exact[std::size_t(c)], steps = 8 + double(s.out.c) / lanes(K.target) + most - double(x[c]);
      double const error = std::fabs(double(y[c]) - e) / (steps * 0x1p-24 * e + 2e-38);
      if (!(error <= worst)) worst = error;
    }
    if (p + 1 < s.out.pixels())
      for (int c = s.out.c; c < s.destination.pixel_stride; ++c) gaps = gaps && y[c] == test::guarded::canary;
  }
  CHECK(worst <= 1);
  CHECK(gaps);
}

}  // namespace

TEST_CASE("softmax is exact to its bound for any number of channels, pixels and any stride") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int const l = lanes(I), channels[] = {1, 2, 3, 10, 17, 49, 128, 196, 256, 1000, l, l + 1, 2 * l - 1, 5 * l + 1};
    for (int seed = 0; seed < 120; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      planned_data const s = step(r, {r.integer(1, 2), r.integer(1, 5), r.integer(1, 5), r.one_of(channels)});
      test::guarded in(test::extent(s.in, s.source.pixel_stride));
      float const size = seed % 4 == 0 ? 200.f : seed % 4 == 1 ? 1e-3f : 8.f, middle = seed % 3 == 0 ? -1000.f : 0.f;
      r.fill(in.data(), in.size(), middle - size, middle + size);
      CAPTURE(seed);
      check<key(I)>(s, in);
    }
  });
}

TEST_CASE("softmax of minus infinity is 0") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int channels : {2, 5, lanes(I), lanes(I) + 3}) {
      test::numbers r(1);
      planned_data const s = step(r, {1, 1, 3, channels < 2 ? 2 : channels});
      test::guarded in(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
      r.fill(in.data(), in.size(), -600, -590);
      in[0] = -INFINITY;
      test::call<softmax_kernel<key(I)>>(s, nullptr, {in.data()}, out.data());
      CHECK(out[0] == 0.f);
      check<key(I)>(s, in);
    }
  });
}

TEST_CASE("softmax of a pixel is NaN if it has a NaN or plus infinity, or if all channels are minus infinity") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int const channels = 2 * lanes(I) + 1;
    for (int at = 0; at < channels; ++at)
      for (float bad : {float(NAN), INFINITY, -INFINITY}) {
        test::numbers r(1);
        planned_data const s = step(r, {1, 1, 3, channels});
        test::guarded in(test::extent(s.in, s.source.pixel_stride)),
            out(test::extent(s.out, s.destination.pixel_stride));
        r.fill(in.data(), in.size());
        float* const middle = in.data() + s.source.pixel_stride;
        middle[at] = bad;
        for (int c = 0; c < channels; ++c)
          if (bad < 0) middle[c] = bad;
        test::call<softmax_kernel<key(I)>>(s, nullptr, {in.data()}, out.data());
        bool good = true;
        for (int p = 0; p < 3; ++p)
          for (int c = 0; c < channels; ++c)
            good = good && std::isnan(out[std::size_t(p * s.destination.pixel_stride + c)]) == (p == 1);
        CHECK(good);
      }
  });
}

TEST_CASE("an epilogue follows softmax") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(3);
    planned_data s = step(r, {1, 3, 3, 21});
    s.after[0].operand = {place::area::input, 1, 0, 23};
    s.after[1].alpha = .1f;
    s.after[1].beta = 1.2f;
    test::guarded in(test::extent(s.in, s.source.pixel_stride)), other(test::extent(s.out, 23)),
        out(test::extent(s.out, s.destination.pixel_stride));
    r.fill(in.data(), in.size());
    r.fill(other.data(), other.size());
    test::call<softmax_kernel<key(I, op::add, op::clip)>>(s, nullptr, {in.data(), other.data()}, out.data());
    test::check_output(
        s.out, s.destination.pixel_stride, out,
        [&](int, int y, int x, int c) {
          double const v = definition(in.data() + (y * 3 + x) * s.source.pixel_stride, 21)[std::size_t(c)];
          double const sum = v + double(other[std::size_t((y * 3 + x) * 23 + c)]);
          return std::fmin(std::fmax(sum, double(.1f)), double(1.2f));
        },
        1e-6);
  });
}
