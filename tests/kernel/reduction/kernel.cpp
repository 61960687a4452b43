// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/reduction/kernel.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

template <op K, isa I>
constexpr kernel_key key() {
  kernel_key k{.what = structure::reduction, .target = I, .partial = true};
  k.reduces = K;
  k.after.stages[0].kind = op::add;
  k.after.stages[0].one_channel = true;  // one number per pixel
  k.after.stages[1].kind = op::leaky_relu;
  return k;
}

struct problem {
  planned_data s;
  test::guarded in, other;

  /// Reduces along the axes whose bits are set in `along`: images, rows, columns, channels.
  problem(test::numbers& r, int c, int along)
      : s(made(r, c, along)), in(test::extent(s.in, s.source.pixel_stride)), other(std::size_t(s.out.pixels())) {
    r.fill(in.data(), in.size(), .5f, 1.5f);
    for (std::size_t i = 0; i < in.size(); i += 3) in[i] = -in[i];
    r.fill(other.data(), other.size());
    s.after[0].operand = {place::area::input, 1, 0, 1};
    s.after[1].alpha = .125f;
  }
  static planned_data made(test::numbers& r, int c, int along) {
    planned_data s;
    s.in = s.out = {r.integer(1, 3), r.integer(1, 6), r.integer(1, 7), c};
    if (along & 1) s.out.n = 1;
    if (along & 2) s.out.h = 1;
    if (along & 4) s.out.w = 1;
    if (along & 8) s.out.c = 1;
    s.source = {place::area::input, 0, 0, c + r.integer(0, 2)};
    s.destination = {place::area::output, 0, 0, s.out.c + r.integer(0, 2)};
    return s;
  }

  /// Calls f(x) for all elements that are reduced to element (n, y, x, c) of the result.
  template <class F>
  void each(int n, int y, int x, int c, F f) const {
    shape const &a = s.in, &b = s.out;
    for (int i = 0; i < a.n / b.n; ++i)
      for (int j = 0; j < a.h / b.h; ++j)
        for (int k = 0; k < a.w / b.w; ++k)
          for (int l = 0; l < a.c / b.c; ++l)
            f(double(in[std::size_t(test::index_of(a, s.source.pixel_stride, n + i, y + j, x + k, c + l))]), l);
  }
  double expected(op kind, int n, int y, int x, int c) const {
    bool const sums = kind == op::reduce_sum || kind == op::reduce_mean;
    double all = sums ? 0 : kind == op::reduce_product ? 1 : kind == op::reduce_min ? 1e9 : -1e9, count = 0, best = 0;
    each(n, y, x, c, [&](double v, int channel) {
      ++count;
      if (kind == op::arg_max && (s.last_of_equals ? v >= all : v > all)) best = channel;
      if (sums) all += v;
      else if (kind == op::reduce_product) all *= v;
      else all = kind == op::reduce_min ? std::fmin(all, v) : std::fmax(all, v);
    });
    if (kind == op::reduce_mean) all /= count;
    if (kind == op::arg_max) all = best;
    all += double(other[std::size_t(test::index_of(s.out, 1, n, y, x, 0))]);
    return all < 0 ? all * .125 : all;
  }
};

template <op K, isa I>
void check(problem const& p) {
  CAPTURE(name_of(K));
  double const tolerance = K == op::reduce_sum ? 2e-3 : K == op::reduce_product ? 2e-4 : 1e-5;
  test::guarded out(test::extent(p.s.out, p.s.destination.pixel_stride));
  test::call<reduction_kernel<key<K, I>()>>(p.s, nullptr, {p.in.data(), p.other.data()}, out.data());
  if (K == op::reduce_product && p.s.in.count() / p.s.out.count() > 12) return;  // too large, or too small
  test::check_output(
      p.s.out, p.s.destination.pixel_stride, out, [&](int n, int y, int x, int c) { return p.expected(K, n, y, x, c); },
      tolerance);
}

}  // namespace

TEST_CASE("reductions along any axes, of any number of channels and pixel stride, pass through the epilogue") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int along = 1; along < 16; ++along)
      for (int seed = 0; seed < 8; ++seed) {
        CAPTURE(along);
        CAPTURE(seed);
        test::numbers r(static_cast<unsigned>(seed));
        int const counts[] = {1, 3, lanes(I), lanes(I) + 1, 4 * lanes(I), 4 * lanes(I) + 3, 5 * lanes(I) - 1, 70};
        problem const p(r, counts[seed], along);
        check<op::reduce_sum, I>(p);
        if constexpr (test::has_turn(I, 0)) check<op::reduce_mean, I>(p);
        if constexpr (test::has_turn(I, 1)) check<op::reduce_max, I>(p);
        if constexpr (test::has_turn(I, 2)) check<op::reduce_min, I>(p);
        if constexpr (test::has_turn(I, 3)) check<op::reduce_product, I>(p);
      }
  });
}

TEST_CASE("the index of the largest channel, the first or the last of several") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 40; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem p(r, r.integer(1, 50), 8);
      for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i] = float(r.integer(-3, 3));
      p.s.last_of_equals = seed % 2 == 1;
      CAPTURE(seed);
      check<op::arg_max, I>(p);
    }
  });
}

TEST_CASE("sums of many terms are as exact as documented") {
  constexpr isa I = native_isa;
  planned_data s;
  s.in = {1, 200, 300, 2};
  s.out = {1, 1, 1, 2};
  s.source = {place::area::input, 0, 0, 2};
  s.destination = {place::area::output, 0, 0, 2};
  test::numbers r(3);
  std::vector<float> const in = r.vector(std::size_t(s.in.count()), 0, 1);
  float out[2];
  kernel_key constexpr k = [] {
    kernel_key made = key<op::reduce_sum, I>();
    made.after = epilogue{};
    return made;
  }();
  test::call<reduction_kernel<k>>(s, nullptr, {in.data()}, out);
  for (int c = 0; c < 2; ++c) {
    double exact = 0;
    for (std::size_t i = std::size_t(c); i < in.size(); i += 2) exact += double(in[i]);
    CHECK(std::fabs(double(out[c]) - exact) <= (500 + lanes(I)) * 0x1p-24 * exact);
  }
}
