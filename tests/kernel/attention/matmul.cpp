// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/attention/matmul.hpp>

#include "kernel/attention/support.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;
using namespace product_test;

namespace {

struct problem {
  int n = 1, h = 1, rows = 1, depth = 1, columns = 1;
  int other_n = 1, other_h = 1;
  float factor = 1;

  shape in() const { return {n, h, rows, depth}; }
  shape out() const { return {n, h, rows, columns}; }
  shape other(bool transposed) const {
    return {other_n, other_h, transposed ? columns : depth, transposed ? depth : columns};
  }
};

problem random_problem(test::numbers& r, isa target) {
  int const l = lanes(target), sizes[] = {1, 2, 3, 5, 8, 13, 24, 49, 64, l, l + 1, 3 * l + 1, 7 * l};
  problem p;
  p.n = r.integer(1, 3);
  p.h = r.integer(1, 4);
  p.rows = r.one_of(sizes);
  p.depth = r.one_of(sizes);
  p.columns = r.one_of(sizes);
  p.other_n = r.integer(0, 1) ? p.n : 1;
  p.other_h = r.integer(0, 1) ? p.h : 1;
  p.factor = r.integer(0, 1) ? 1.f : r.real(-2, 2);
  return p;
}

template <kernel_key K>
void check(problem const& p, test::numbers& r) {
  slice const a(r, p.in()), b(r, p.other(K.transposed)), added(r, p.out());
  planned_data s;
  s.in = p.in();
  s.out = p.out();
  s.other_shape = p.other(K.transposed);
  s.alpha = p.factor;
  s.source = a.input(0);
  s.other[0] = b.input(1);
  s.after[0].operand = added.input(2);
  s.destination = {place::area::output, 0, 0, p.columns + r.integer(0, 1) * r.integer(0, 20)};
  test::guarded out(test::extent(p.out(), s.destination.pixel_stride));
  run<matmul_kernel<K>>(K.what, K.target, s, nullptr, {a.base(), b.base(), added.base()}, out.data());
  // Terms are at most |factor|, the addend at most 1.
  double const bound = (p.depth + 3) * 0x1p-24 * (p.depth * std::fabs(double(p.factor)) + 1);
  test::check_output(
      p.out(), s.destination.pixel_stride, out,
      [&](int n, int y, int x, int o) {
        int const m = p.other_n == 1 ? 0 : n, row = p.other_h == 1 ? 0 : y;
        double sum = 0;
        for (int c = 0; c < p.depth; ++c)
          sum += double(a.at(n, y, x)[c]) * double(K.transposed ? b.at(m, row, o)[c] : b.at(m, row, c)[o]);
        sum *= double(p.factor);
        return K.after.count() > 0 ? std::fmax(sum + double(added.at(n, y, x)[o]), 0) : sum;
      },
      bound);
}

template <isa I, class... Kinds>
constexpr kernel_key transposed(Kinds... kinds) {
  kernel_key k = key(structure::matmul, I, kinds...);
  k.transposed = true;
  return k;
}

}  // namespace

TEST_CASE("a matrix product takes any extents, strides and broadcasts, plain and transposed") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 150; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p = random_problem(r, I);
      CAPTURE(seed);
      check<key(structure::matmul, I)>(p, r);
      check<transposed<I>()>(p, r);
    }
  });
}

TEST_CASE("a matrix product takes so many rows and columns that the results of a few rows exceed the cache") {
  problem const p{.n = 2, .h = 1, .rows = 77, .depth = 31, .columns = 1003, .other_n = 2, .other_h = 1};
  test::for_each_isa([&]<isa I>(std::integral_constant<isa, I>) {
    test::numbers r(1);
    check<key(structure::matmul, I)>(p, r);
    check<transposed<I>()>(p, r);
  });
}

TEST_CASE("an epilogue follows a matrix product") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    for (int seed = 0; seed < 20; ++seed) {
      test::numbers r(static_cast<unsigned>(seed));
      problem const p = random_problem(r, I);
      CAPTURE(seed);
      check<key(structure::matmul, I, op::add, op::relu)>(p, r);
      check<transposed<I>(op::add, op::relu)>(p, r);
    }
  });
}
