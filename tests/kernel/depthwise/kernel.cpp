// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/depthwise/kernel.hpp>
#include <ago/kernel/depthwise/pack.hpp>
#include <ago/kernel/depthwise/schedule.hpp>
#include <ago/kernel/units.hpp>

#include "kernel/support.hpp"

using namespace ago;
using ago::ir::has_lane_fma;
using ago::ir::lanes;
using ago::ir::vector_registers;
using ago::ir::window;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

/// A depthwise convolution with its memory and its reference.
struct problem {
  planned_data s;
  std::vector<float> blob;  ///< weights [c][taps], bias [c], gamma, beta, mean, variance
  parameter_source from;
  std::unique_ptr<test::guarded> in;

  problem(test::numbers& r, shape const& input, window const& w, int gap_in, int gap_out) {
    int const c = input.c, taps = w.kernel_h * w.kernel_w;
    s.in = s.out = input;
    s.out.h = (input.h + w.pad_top + w.pad_bottom - w.span_h()) / w.stride_h + 1;
    s.out.w = (input.w + w.pad_left + w.pad_right - w.span_w()) / w.stride_w + 1;
    s.win = w;
    s.source = {place::area::input, 0, 0, c + gap_in};
    s.destination = {place::area::output, 0, 0, c + gap_out};
    blob = r.vector(std::size_t(c) * std::size_t(taps + 5));
    for (int i = 0; i < c; ++i) blob[std::size_t(c * (taps + 4) + i)] = r.real(0.1f, 2.f);
    from = {.weight = 0, .shift = c * taps};
    in = std::make_unique<test::guarded>(test::extent(s.in, s.source.pixel_stride));
    r.fill(in->data(), in->size());
  }

  double reference(int n, int oy, int ox, int c) const {
    window const& w = s.win;
    double scale = 1, sum = 0;
    long const C = s.out.c;
    float const* const norm = from.norm < 0 ? nullptr : &blob[std::size_t(from.norm)];
    if (norm) scale = norm[c] / std::sqrt(double(norm[3 * C + c]) + from.epsilon);
    for (int ky = 0; ky < w.kernel_h; ++ky)
      for (int kx = 0; kx < w.kernel_w; ++kx) {
        int const y = oy * w.stride_h - w.pad_top + ky * w.dilation_h,
                  x = ox * w.stride_w - w.pad_left + kx * w.dilation_w;
        if (y < 0 || y >= s.in.h || x < 0 || x >= s.in.w) continue;
        sum += double((*in)[std::size_t(test::index_of(s.in, s.source.pixel_stride, n, y, x, c))]) *
               blob[std::size_t((c * w.kernel_h + ky) * w.kernel_w + kx)];
      }
    double const shift = from.shift < 0 ? 0. : blob[std::size_t(from.shift + c)];
    if (!norm) return sum + shift;
    return sum * scale + (shift - norm[2 * C + c]) * scale + norm[C + c];
  }

  template <kernel_key K>
  std::unique_ptr<test::guarded> run() const {
    test::aligned packed(std::size_t(packed_floats(K, s)));
    pack_depthwise<K.target>(K, s, from, blob.data(), packed.data());
    auto out = std::make_unique<test::guarded>(test::extent(s.out, s.destination.pixel_stride));
    test::call<depthwise_kernel<K>>(s, packed.data(), {in->data()}, out->data());
    return out;
  }

  template <kernel_key K>
  void check() const {
    auto const out = run<K>();
    test::check_output(
        s.out, s.destination.pixel_stride, *out, [&](int n, int y, int x, int c) { return reference(n, y, x, c); },
        (from.norm < 0 ? 2e-6 : 2e-5) * s.win.kernel_h * s.win.kernel_w);
  }
};

constexpr kernel_key key(isa target, int columns, int rows, bool partial, int kernel_h = 0, int kernel_w = 0,
                         int stride_h = 0, int stride_w = 0) {
  return {.what = structure::depthwise,
          .target = target,
          .tile = {columns, rows},
          .partial = partial,
          .kernel_h = kernel_h,
          .kernel_w = kernel_w,
          .stride_h = stride_h,
          .stride_w = stride_w};
}

int channels(test::numbers& r, isa target, bool partial) {
  int const l = lanes(target), odd[] = {1, 3, 17, 24, 58, 116, l - 1 + (l == 1), l, l + 1, 2 * l - 1, 2 * l, 3 * l + 1};
  int const even[] = {l, 2 * l, 3 * l, 5 * l};
  return partial ? r.one_of(odd) : r.one_of(even);
}

/// Random pads, and an image that is large enough for the window.
shape fit(test::numbers& r, window& w, int c, int largest) {
  w.pad_top = r.integer(0, w.kernel_h);
  w.pad_bottom = r.integer(0, w.kernel_h);
  w.pad_left = r.integer(0, w.kernel_w);
  w.pad_right = r.integer(0, w.kernel_w);
  shape s{r.integer(1, 3), r.integer(1, largest), r.integer(1, largest), c};
  while (s.h + w.pad_top + w.pad_bottom < w.span_h()) ++s.h;
  while (s.w + w.pad_left + w.pad_right < w.span_w()) ++s.w;
  return s;
}

template <kernel_key K>
void many_images(int cases) {
  for (int seed = 0; seed < cases; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    window w{K.kernel_h, K.kernel_w, K.stride_h, K.stride_w};
    if (K.kernel_h == 0) {
      w = {r.integer(1, 7), r.integer(1, 7), r.integer(1, 3), r.integer(1, 3)};
      w.dilation_h = r.integer(1, 3);
      w.dilation_w = r.integer(1, 3);
    }
    shape const in = fit(r, w, channels(r, K.target, K.partial), 19);
    bool const dense = seed % 3 == 0;
    problem p(r, in, w, dense ? 0 : r.integer(1, 9), dense ? 0 : r.integer(1, 9));
    p.s.block = r.integer(0, 3);
    CAPTURE(seed);
    p.template check<K>();
  }
}

}  // namespace

TEST_CASE("a depthwise convolution with a known window fits any image, padding, channel count and pixel stride") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) { many_images<key(I, 4, 2, true, 3, 3, 1, 1)>(60); });
  test::for_each_isa_in_turn<2>(
      []<isa I>(std::integral_constant<isa, I>) { many_images<key(I, 3, 2, true, 3, 3, 2, 2)>(60); });
}

TEST_CASE("whole vectors of channels need no partial registers") {
  test::for_each_isa_in_turn<1>(
      []<isa I>(std::integral_constant<isa, I>) { many_images<key(I, 2, 3, false, 3, 3, 1, 1)>(40); });
}

TEST_CASE("rectangular and even windows with different strides, 5x5 and 7x7") {
  many_images<key(native_isa, 3, 2, true, 2, 5, 1, 2)>(60);
  many_images<key(native_isa, 4, 1, true, 1, 3, 3, 1)>(60);
  many_images<key(native_isa, 7, 1, true, 5, 5, 1, 1)>(60);
  many_images<key(native_isa, 2, 1, true, 7, 7, 2, 2)>(60);
  many_images<key(native_isa, 1, 1, true, 1, 1, 1, 1)>(20);
}

TEST_CASE("any window is possible at run time: rectangular, even, dilated, with different strides") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) { many_images<key(I, 4, 1, true)>(120); });
  many_images<key(native_isa, 6, 1, false)>(60);
}

TEST_CASE("results are bit-identical for every tile and block") {
  for (int seed = 0; seed < 40; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    window w{3, 3, 1, 1};
    problem p(r, fit(r, w, channels(r, native_isa, true), 23), w, 0, 0);
    auto const a = p.run<key(native_isa, 4, 2, true, 3, 3, 1, 1)>();
    p.s.block = 1;
    auto const b = p.run<key(native_isa, 7, 2, true, 3, 3, 1, 1)>();
    p.s.block = 2;
    auto const c = p.run<key(native_isa, 4, 1, true)>();
    CAPTURE(seed);
    CHECK(std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0);
    CHECK(std::memcmp(a->data(), c->data(), a->size() * sizeof(float)) == 0);
  }
}

constexpr kernel_key in_order(kernel_key k) {
  k.in_order = true;
  return k;
}
constexpr kernel_key with(op after, kernel_key k) {
  k.after.stages[0].kind = after;
  return k;
}

template <kernel_key K>
void same_bits_in_order(window w, int count) {
  for (int seed = 0; seed < count; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    problem const p(r, fit(r, w, channels(r, K.target, true), 23), w, 0, 3);
    auto const a = p.run<K>(), b = p.run<in_order(K)>();
    CAPTURE(seed);
    CHECK(std::memcmp(a->data(), b->data(), a->size() * sizeof(float)) == 0);
  }
}

TEST_CASE("an order takes few cycles more than its actions, and is found for any epilogue") {
  using kernel::depthwise_shape;
  static_assert(kernel::depthwise_order_of<depthwise_shape{3, 3, 1, 1, 2, 7, 2}>.cycles <= 126 + 4 * 14 + 6);
  static_assert(kernel::depthwise_order_of<depthwise_shape{5, 5, 1, 1, 2, 7, 1}>.cycles <= 350 + 3 * 14 + 6);
  static_assert(kernel::has_depthwise_order<depthwise_shape{3, 3, 2, 2, 2, 7, 2}>());
  static_assert(kernel::has_depthwise_order<depthwise_shape{3, 3, 2, 2, 2, 7, -1}>());
  CHECK(kernel::depthwise_order_of<depthwise_shape{3, 3, 2, 2, 2, 7, 2}>.registers <= vector_registers(isa::neon));
}

TEST_CASE("a depthwise convolution that loads halves reads the same and has the same bits") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    if constexpr (has_lane_fma(I)) {
      constexpr int row = test::is_sanitized ? 3 : 7;  // the same code, half as often
      many_images<in_order(key(I, row, 2, true, 3, 3, 1, 1))>(40);
      same_bits_in_order<key(I, 4, 3, true, 3, 3, 1, 1)>({3, 3, 1, 1}, 20);
#ifdef AGO_TEST_FULL  // an order takes seconds to find, and with sanitizers much longer to compile
      same_bits_in_order<key(I, 4, 1, true, 5, 5, 1, 1)>({5, 5, 1, 1}, 20);
      same_bits_in_order<key(I, 3, 2, true, 2, 2, 1, 1)>({2, 2, 1, 1}, 20);
      same_bits_in_order<key(I, 4, 1, true, 1, 1, 1, 1)>({1, 1, 1, 1}, 10);
      same_bits_in_order<with(op::relu6, key(I, 4, 2, true, 3, 3, 2, 2))>({3, 3, 2, 2}, 20);
      same_bits_in_order<with(op::relu, key(I, 2, 1, true, 5, 5, 2, 2))>({5, 5, 2, 2}, 20);
      same_bits_in_order<with(op::silu, key(I, 2, 2, true, 3, 3, 1, 1))>({3, 3, 1, 1}, 10);
#endif
      same_bits_in_order<with(op::hard_swish, key(I, row, 2, true, 3, 3, 2, 2))>({3, 3, 2, 2}, 10);
    }
  });
}

TEST_CASE("batch norm is folded into depthwise weights and bias") {
  test::for_each_isa_in_turn<2>([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 10; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      window w{3, 3, 2, 2};
      problem p(r, fit(r, w, channels(r, I, true), 9), w, 0, 0);
      int const taps = w.kernel_h * w.kernel_w;
      p.from.norm = p.from.shift_norm = p.s.out.c * (taps + 1);
      p.from.epsilon = 1e-3f;
      p.check<key(I, 3, 2, true, 3, 3, 2, 2)>();
      p.from.shift = -1;
      p.check<key(I, 3, 2, true, 3, 3, 2, 2)>();
    }
  });
}

namespace {

/// The key that the plan would use for a square depthwise convolution.
constexpr kernel_key scheduled(isa target, int size, int channels, int kernel, int stride, schedule wish = {}) {
  kernel_key k{.what = structure::depthwise, .target = target};
  planned_data s;
  s.in = {1, size, size, channels};
  s.out = {1, (size - 1) / stride + 1, (size - 1) / stride + 1, channels};
  s.win = {kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2, kernel / 2, kernel / 2};
  s.source.pixel_stride = channels;
  choose_depthwise(k, s, wish);
  return k;
}

}  // namespace

TEST_CASE("the default tile fits the registers and divides the row if possible") {
  for (isa const target : {isa::scalar, isa::sse2, isa::avx2, isa::avx512, isa::neon, isa::emulated512})
    for (int kernel = 1; kernel <= 7; ++kernel)
      for (int stride = 1; stride <= 2; ++stride)
        for (int size = 1; size <= 112; ++size) {
          kernel_key const k = scheduled(target, size, 64, kernel, stride);
          int const width = (size - 1) / stride + 1;
          CAPTURE(size);
          CHECK(k.tile.pixels >= 1);
          CHECK(k.tile.pixels <= width);
          CHECK(k.kernel_h == kernel);
          if (width % 7 == 0) CHECK(k.tile.pixels == 7);
          if (width < 7) CHECK(k.tile.pixels == width);
          if (k.tile.vectors > 1) CHECK(vector_registers(target) == 32);
        }
}

TEST_CASE("emulated instruction sets have the depthwise tiles of those they emulate") {
  for (int kernel : {1, 3, 5, 7, 9})
    for (int stride = 1; stride <= 3; ++stride)
      for (int size : {1, 7, 14, 112}) {
        kernel_key neon = scheduled(isa::neon, size, 96, kernel, stride);
        neon.target = isa::emulated128;
        CHECK(neon == scheduled(isa::emulated128, size, 96, kernel, stride));
        kernel_key wide = scheduled(isa::avx512, size, 96, kernel, stride);
        wide.target = isa::emulated512;
        CHECK(wide == scheduled(isa::emulated512, size, 96, kernel, stride));
      }
}

TEST_CASE("a requested tile and block are used as far as the kernel supports them") {
  constexpr kernel_key k = scheduled(isa::avx512, 14, 64, 3, 1, {.pixels = 5, .vectors = 3});
  static_assert(k.tile.pixels == 5 && k.tile.vectors == 3);
  constexpr kernel_key most = scheduled(isa::avx512, 14, 64, 7, 2, {.pixels = 1000, .vectors = 1000});
  static_assert(most.tile.pixels == 12 && most.tile.vectors == 8);
  constexpr kernel_key any = scheduled(isa::avx512, 40, 64, 11, 1, {.pixels = 4, .vectors = 4});
  static_assert(any.kernel_h == 0 && any.tile.pixels == 4 && any.tile.vectors == 1);
  kernel_key key{.what = structure::depthwise, .target = isa::avx512};
  planned_data s;
  s.in = s.out = {1, 14, 14, 64};
  s.win = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  choose_depthwise(key, s, {.block = 3});
  CHECK(s.block == 3);
  choose_depthwise(key, s, {.block = 4});  // all four vectors of channels: no block
  CHECK(s.block == 0);
}

TEST_CASE("the kernels of the default schedule are correct for the shapes of real networks") {
  auto const check =
      []<int size, int channels, int kernel, int stride>(std::integer_sequence<int, size, channels, kernel, stride>) {
        constexpr kernel_key k = [] {
          kernel_key key = scheduled(native_isa, size, channels, kernel, stride);
          key.partial = channels % lanes(native_isa) != 0;
          return key;
        }();
        test::numbers r(1);
        window const w{kernel, kernel, stride, stride, 1, 1, kernel / 2, kernel / 2, kernel / 2, kernel / 2};
        problem p(r, {1, size, size, channels}, w, 0, 0);
        kernel_key ignored = k;
        choose_depthwise(ignored, p.s, {});
        p.check<k>();
      };
  check(std::integer_sequence<int, 28, 192, 3, 1>{});
  check(std::integer_sequence<int, 7, 960, 3, 1>{});
  check(std::integer_sequence<int, 28, 58, 3, 2>{});
  check(std::integer_sequence<int, 14, 480, 5, 1>{});
}
