// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/norm/layer_norm.hpp>
#include <ago/kernel/units.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

template <class... Kinds>
constexpr kernel_key key(isa target, Kinds... kinds) {
  kernel_key k{.what = structure::layer_norm, .target = target};
  int i = 0;
  ((k.after.stages[i++].kind = kinds), ...);
  return k;
}

/// A step with its packed parameters. Gamma and beta are at `offset` in the blob.
template <isa I>
struct problem {
  planned_data s;
  std::vector<float> blob;
  test::aligned packed;
  test::guarded in, out;
  static constexpr int offset = 5;

  problem(test::numbers& r, shape const& image, float epsilon)
      : s(step(r, image, epsilon)), blob(r.vector(std::size_t(offset + 2 * image.c))),
        packed(std::size_t(16 + packed_floats(key(I), s))), in(test::extent(s.in, s.source.pixel_stride)),
        out(test::extent(s.out, s.destination.pixel_stride)) {
    s.weights = 16;
    pack_layer_norm<I>(s, {.weight = offset, .shift = offset + image.c}, blob.data(), packed.data() + 16);
    r.fill(in.data(), in.size());
  }
  static planned_data step(test::numbers& r, shape const& image, float epsilon) {
    planned_data d;
    d.in = d.out = image;
    d.alpha = epsilon;
    d.source = {place::area::input, 0, 0, image.c + r.integer(0, 1) * r.integer(0, 9)};
    d.destination = {place::area::output, 0, 0, image.c + r.integer(0, 1) * r.integer(0, 9)};
    return d;
  }

  double gamma(int c) const { return double(blob[std::size_t(offset + c)]); }
  double beta(int c) const { return double(blob[std::size_t(offset + s.out.c + c)]); }
  /// The definition in double at pixel p; `scaled` is the result without beta.
  double expected(long p, int c, double* scaled = nullptr) const {
    float const* const x = in.data() + p * s.source.pixel_stride;
    double mean = 0, variance = 0;
    for (int k = 0; k < s.in.c; ++k) mean += double(x[k]) / s.in.c;
    for (int k = 0; k < s.in.c; ++k) variance += (double(x[k]) - mean) * (double(x[k]) - mean) / s.in.c;
    double const y = (double(x[c]) - mean) / std::sqrt(variance + double(s.alpha)) * gamma(c);
    if (scaled) *scaled = y;
    return y + beta(c);
  }

  /// Compares every channel within the bound that the kernel documents.
  void check() {
    test::call<layer_norm_kernel<key(I)>>(s, packed.data(), {in.data()}, out.data());
    double worst = 0;  // as a fraction of the bound
    bool gaps = out.intact();
    for (long p = 0; p < s.out.pixels(); ++p) {
      float const* const y = out.data() + p * s.destination.pixel_stride;
      for (int c = 0; c < s.out.c; ++c) {
        double scaled = 0;
        double const exact = expected(p, c, &scaled);
        double const steps = 8 + 2. * s.out.c / lanes(I);
        double const bound = 0x1p-24 * (steps * (std::fabs(scaled) + std::fabs(gamma(c))) + std::fabs(exact));
        double const error = std::fabs(double(y[c]) - exact) / bound;
        if (!(error <= worst)) worst = error;
      }
      if (p + 1 < s.out.pixels())
        for (int c = s.out.c; c < s.destination.pixel_stride; ++c) gaps = gaps && y[c] == test::guarded::canary;
    }
    CHECK(worst <= 1);
    CHECK(gaps);
  }
};

int channels(test::numbers& r, isa target) {
  int const l = lanes(target), many[] = {1, 2, 3, 17, 64, 96, 128, 144, 192, 240, 500, l, l + 1, 2 * l - 1, 5 * l + 1};
  return r.one_of(many);
}

}  // namespace

TEST_CASE("layer norm is exact to its bound for any number of channels, pixels and any stride") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 120; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem<I> p(r, {r.integer(1, 2), r.integer(1, 5), r.integer(1, 5), channels(r, I)}, seed % 2 ? 1e-5f : 1e-12f);
      CAPTURE(seed);
      p.check();
    }
  });
}

TEST_CASE("layer norm is accurate if the mean is large compared with the deviation") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 60; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem<I> p(r, {1, 3, 4, 4 + channels(r, I)}, 1e-12f);
      float const mean = std::ldexp(r.real(1, 2), r.integer(0, 16)), deviation = std::ldexp(mean, -r.integer(4, 20));
      for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i] = mean + p.in[i] * deviation;
      CAPTURE(seed);
      p.check();
    }
  });
}

TEST_CASE("layer norm of equal channels is beta") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int channels : {1, 3, 48, 2 * lanes(I) + 1}) {
      test::numbers r(1);
      problem<I> p(r, {1, 1, 2, channels}, 1e-12f);
      for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i] = 256.25f;
      test::call<layer_norm_kernel<key(I)>>(p.s, p.packed.data(), {p.in.data()}, p.out.data());
      for (int c = 0; c < channels; ++c) CHECK(double(p.out[std::size_t(c)]) == p.beta(c));
    }
  });
}

TEST_CASE("layer norm is NaN for pixels with a NaN or an infinity, and for no others") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    int const channels = 2 * lanes(I) + 1;
    for (int at = 0; at < channels; ++at)
      for (float bad : {float(NAN), INFINITY, -INFINITY}) {
        test::numbers r(1);
        problem<I> p(r, {1, 1, 3, channels}, 1e-5f);
        p.in[std::size_t(p.s.source.pixel_stride + at)] = bad;
        test::call<layer_norm_kernel<key(I)>>(p.s, p.packed.data(), {p.in.data()}, p.out.data());
        bool good = true;
        for (int pixel = 0; pixel < 3; ++pixel)
          for (int c = 0; c < channels; ++c)
            good = good && std::isnan(p.out[std::size_t(pixel * p.s.destination.pixel_stride + c)]) == (pixel == 1);
        CHECK(good);
      }
  });
}

TEST_CASE("layer norm without gamma and beta only normalises") {
  constexpr isa I = native_isa;
  test::numbers r(2);
  problem<I> p(r, {1, 2, 3, 37}, 1e-5f);
  pack_layer_norm<I>(p.s, {}, p.blob.data(), p.packed.data() + 16);
  for (int c = 0; c < 37; ++c) {
    p.blob[std::size_t(p.offset + c)] = 1;
    p.blob[std::size_t(p.offset + 37 + c)] = 0;
  }
  p.check();
}

TEST_CASE("an epilogue follows layer norm") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(3);
    problem<I> p(r, {1, 3, 3, 21}, 1e-5f);
    p.s.after[0].operand = {place::area::input, 1, 0, 23};
    test::guarded other(test::extent(p.s.out, 23));
    r.fill(other.data(), other.size());
    test::call<layer_norm_kernel<key(I, op::add, op::relu)>>(p.s, p.packed.data(), {p.in.data(), other.data()},
                                                             p.out.data());
    test::check_output(
        p.s.out, p.s.destination.pixel_stride, p.out,
        [&](int, int y, int x, int c) {
          return std::fmax(p.expected(y * 3 + x, c) + double(other[std::size_t((y * 3 + x) * 23 + c)]), 0);
        },
        4e-6);
  });
}
