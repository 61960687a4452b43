// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define AGO_TEST_ALL 1
#include <ago/kernel/elementwise/kernel.hpp>
#include <ago/kernel/pack_stages.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::ir;
using ago::kernel::elementwise_kernel;
using ago::kernel::pack_stages;
using ago::kernel::packed_floats;
using namespace ago::plan;

namespace {

template <class... Kinds>
constexpr kernel_key key(isa target, bool partial, Kinds... kinds) {
  kernel_key k{.what = structure::elementwise, .target = target, .partial = partial};
  int i = 0;
  ((k.after.stages[i++].kind = kinds), ...);
  return k;
}

int channels(test::numbers& r, isa target, bool partial) {
  int const l = lanes(target), odd[] = {1, 3, 17, 24, 58, l, l + 1, 2 * l - 1}, even[] = {l, 2 * l, 3 * l};
  return partial ? r.one_of(odd) : r.one_of(even);
}

/// A random image as source, and binary operands as inputs 1 ...: dense, strided, one pixel per image, or one image for
/// the whole batch.
struct problem {
  planned_data s;
  std::vector<std::unique_ptr<test::guarded>> inputs;
  shape shapes[max_stages]{};  ///< of the operands
  int strides[max_stages]{};

  problem(test::numbers& r, int c, int operands) {
    bool const dense = r.integer(0, 1) == 0;
    auto const gap = [&] { return dense ? 0 : r.integer(0, 5); };
    s.in = s.out = {r.integer(1, 3), r.integer(1, 7), r.integer(1, 7), c};
    s.source = {place::area::input, 0, 0, c + gap()};
    s.destination = {place::area::output, 0, 0, c + gap()};
    inputs.push_back(std::make_unique<test::guarded>(test::extent(s.in, s.source.pixel_stride)));
    for (int i = 0; i < operands; ++i) {
      add_operand(i, {r.integer(0, 2) ? s.out.n : 1, s.out.h, s.out.w, c}, c + gap(), r.integer(0, 2) == 0);
    }
    for (auto& in : inputs) r.fill(in->data(), in->size());
  }
  double source(int n, int y, int x, int c) const {
    return double((*inputs[0])[std::size_t(test::index_of(s.in, s.source.pixel_stride, n, y, x, c))]);
  }
  /// Operand `i` of the epilogue has these extents; with `one_pixel`, one pixel per image.
  void add_operand(int i, shape extents, int stride, bool one_pixel) {
    if (one_pixel) extents = {extents.n, 1, 1, extents.c}, stride = extents.c;
    stage_data& d = s.after[i];
    d.operand = {place::area::input, std::uint16_t(i + 1), 0, one_pixel ? 0 : stride};
    if (one_pixel) d.image_step = extents.n == 1 ? 0 : extents.c;
    else if (extents.n != s.out.n) d.image_step = -s.out.h * s.out.w * stride;
    inputs.push_back(std::make_unique<test::guarded>(test::extent(extents, stride)));
    shapes[i] = extents, strides[i] = stride;
  }
  double operand(int i, int n, int y, int x, int c) const {
    shape const& e = shapes[i];
    long const at = test::index_of(e, strides[i], n % e.n, y % e.h, x % e.w, c % e.c);
    return double((*inputs[std::size_t(i + 1)])[std::size_t(at)]);
  }
  template <kernel_key K, class Expected>
  void check(Expected expected, float const* packed = nullptr) const {
    std::vector<float const*> in;
    for (auto const& i : inputs) in.push_back(i->data());
    test::guarded out(test::extent(s.out, s.destination.pixel_stride));
    test::call<elementwise_kernel<K>>(s, packed, in, out.data());
    test::check_output(s.out, s.destination.pixel_stride, out, expected, 2e-6);
  }
};

}  // namespace

TEST_CASE("a copy keeps every bit, between any pixel strides") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 60; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p(r, channels(r, I, true), 0);
      CAPTURE(seed);
      test::guarded out(test::extent(p.s.out, p.s.destination.pixel_stride));
      test::call<elementwise_kernel<key(I, true)>>(p.s, nullptr, {p.inputs[0]->data()}, out.data());
      test::check_output(
          p.s.out, p.s.destination.pixel_stride, out, [&](int n, int y, int x, int c) { return p.source(n, y, x, c); },
          0);
    }
  });
}

TEST_CASE("sums and products take operands of any pixel stride, and one pixel per image") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 100; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      bool const whole = seed % 4 == 0;
      problem const p(r, channels(r, I, !whole), 2);
      CAPTURE(seed);
      auto const expected = [&](int n, int y, int x, int c) {
        return (p.source(n, y, x, c) + p.operand(0, n, y, x, c)) * p.operand(1, n, y, x, c);
      };
      p.check<key(I, true, op::add, op::mul)>(expected);
      if (whole) p.check<key(I, false, op::add, op::mul)>(expected);
    }
  });
}

namespace {

double combine(op kind, double x, double y) {
  switch (kind) {
    case op::sub: return x - y;
    case op::div: return x / y;
    case op::maximum: return std::fmax(x, y);
    case op::minimum: return std::fmin(x, y);
    case op::less: return x < y;
    case op::power: return std::pow(x, y);
    default: return kind == op::add ? x + y : x * y;
  }
}

template <op K, bool Reversed, bool OneChannel, isa I>
void check_binary(test::numbers& r) {
  constexpr kernel_key k = [] {
    kernel_key made = key(I, true, K);
    made.after.stages[0].reversed = Reversed;
    made.after.stages[0].one_channel = OneChannel;
    return made;
  }();
  problem p(r, channels(r, I, true), 0);
  int const c = OneChannel ? 1 : p.s.out.c;
  p.add_operand(0, {r.integer(0, 1) ? p.s.out.n : 1, p.s.out.h, p.s.out.w, c}, c + r.integer(0, 2),
                r.integer(0, 2) == 0);
  for (auto& in : p.inputs) r.fill(in->data(), in->size(), .5f, 2.f);
  p.check<k>([&](int n, int y, int x, int channel) {
    double const a = p.source(n, y, x, channel), b = p.operand(0, n, y, x, channel);
    return Reversed ? combine(K, b, a) : combine(K, a, b);
  });
}

/// The four forms of an operator have different turns.
template <long Turn, op K>
void check_binaries() {
  CAPTURE(name_of(K));
  auto const check = []<long At, bool Reversed, bool OneChannel>() {
    test::for_each_isa_in_turn<Turn + At>([]<isa I>(std::integral_constant<isa, I>) {
      for (int seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        test::numbers r(static_cast<unsigned>(seed));
        check_binary<K, Reversed, OneChannel, I>(r);
      }
    });
  };
  check.template operator()<0, false, false>();
  check.template operator()<1, false, true>();
  check.template operator()<2, true, false>();
  check.template operator()<3, true, true>();
}

}  // namespace

TEST_CASE("binary operators take operands in both orders, and a full, one-pixel or one-channel second operand") {
  check_binaries<0, op::add>();
  check_binaries<1, op::mul>();
  check_binaries<2, op::sub>();
  check_binaries<3, op::div>();
  check_binaries<4, op::maximum>();
  check_binaries<5, op::minimum>();
  check_binaries<6, op::less>();
  check_binaries<7, op::power>();
}

namespace {

/// The parameters of two stages, one after the other.
template <isa I>
test::aligned packed_stages(kernel_key const& k, planned_data& s, packing_data const& from,
                            std::vector<float> const& blob) {
  s.after[0].parameters = 0;
  s.after[1].parameters = packed_floats(k.after.stages[0], I, s.out);
  test::aligned packed(std::size_t(s.after[1].parameters + packed_floats(k.after.stages[1], I, s.out)));
  pack_stages<I>(k, s, from, blob.data(), packed.data());
  return packed;
}

}  // namespace

TEST_CASE("scales and slopes are per channel, or one for all channels") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 40; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem p(r, channels(r, I, true), 0);
      bool const shared = seed % 2;
      constexpr kernel_key k = key(I, true, op::scale, op::prelu);
      int const C = p.s.out.c;
      auto const blob = r.vector(std::size_t(3 + 2 * C));  // 3 unrelated floats, scale, slopes
      packing_data from;
      from.after[0].weight = 3;
      from.after[1] = {.weight = 3 + C, .step = shared ? 0 : 1};
      test::aligned packed = packed_stages<I>(k, p.s, from, blob);
      CAPTURE(seed);
      p.check<k>(
          [&](int n, int y, int x, int c) {
            double const v = p.source(n, y, x, c) * double(blob[std::size_t(3 + c)]);
            return v < 0 ? v * double(blob[std::size_t(3 + C + (shared ? 0 : c))]) : v;
          },
          packed.data());
    }
  });
}

TEST_CASE("bias and batch norm are per channel") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 40; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem p(r, channels(r, I, true), 0);
      constexpr kernel_key k = key(I, true, op::bias, op::batch_norm, op::relu);
      int const C = p.s.out.c;
      auto blob = r.vector(std::size_t(5 * C));  // bias, gamma, beta, mean, variance
      for (int c = 0; c < C; ++c) blob[std::size_t(4 * C + c)] = r.real(0.1f, 2.f);
      packing_data from;
      from.after[0].shift = 0;
      from.after[1] = {.shift_norm = C, .epsilon = 1e-3f};
      test::aligned packed = packed_stages<I>(k, p.s, from, blob);
      CAPTURE(seed);
      p.check<k>(
          [&](int n, int y, int x, int c) {
            auto const at = [&](int row) { return double(blob[std::size_t(row * C + c)]); };
            double const v = (p.source(n, y, x, c) + at(0) - at(3)) / std::sqrt(at(4) + double(1e-3f)) * at(1) + at(2);
            return v > 0 ? v : 0.;
          },
          packed.data());
    }
  });
}

TEST_CASE("a bias is packed with the norm that was folded into it") {
  constexpr isa I = native_isa;
  test::numbers r(5);
  problem p(r, 37, 0);
  constexpr kernel_key k = key(I, true, op::bias);
  auto blob = r.vector(5 * 37);
  for (std::size_t c = 0; c < 37; ++c) blob[4 * 37 + c] = r.real(0.1f, 2.f);
  packing_data from;
  from.after[0] = {.shift = 0, .shift_norm = 37, .epsilon = 1e-5f};
  p.s.after[0].parameters = 0;
  test::aligned packed(std::size_t(packed_floats(k.after.stages[0], I, p.s.out)));
  pack_stages<I>(k, p.s, from, blob.data(), packed.data());
  p.check<k>(
      [&](int n, int y, int x, int c) {
        auto const at = [&](int row) { return double(blob[std::size_t(row * 37 + c)]); };
        return p.source(n, y, x, c) + (at(0) - at(3)) / std::sqrt(at(4) + double(1e-5f)) * at(1) + at(2);
      },
      packed.data());
}

TEST_CASE("a value can be changed in place") {
  constexpr kernel_key k = key(native_isa, true, op::add, op::relu);
  test::numbers r(6);
  problem p(r, 21, 1);
  p.s.source.pixel_stride = p.s.destination.pixel_stride = p.s.after[0].operand.pixel_stride = 21;
  std::size_t const count = std::size_t(p.s.out.count());
  test::guarded x(count), y(count);
  r.fill(x.data(), count);
  r.fill(y.data(), count);
  std::vector<float> const before(x.data(), x.data() + count);
  test::call<elementwise_kernel<k>>(p.s, nullptr, {x.data(), y.data()}, x.data());
  for (std::size_t i = 0; i < count; ++i) CHECK(x[i] == std::fmax(before[i] + y[i], 0.f));
}
