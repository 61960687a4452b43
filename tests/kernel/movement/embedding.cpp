// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/movement/embedding.hpp>

#include "kernel/support.hpp"

#include <limits>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr kernel_key key(isa target, bool partial) {
  return {.what = structure::embedding, .target = target, .partial = partial};
}

int row_of(float id, int entries) {
  for (int row = entries - 1; row > 0; --row)
    if (id >= float(row)) return row;
  return 0;
}

template <isa I, bool Partial>
void many_tables() {
  int const l = lanes(I);
  for (int seed = 0; seed < 80; ++seed) {
    test::numbers r(static_cast<unsigned>(seed));
    planned_data s;
    s.in = s.out = {r.integer(1, 3), r.integer(1, 4), r.integer(1, 9), 1};
    s.out.c = Partial ? r.one_of({1, 2, 3, 17, 24, l, l + 1, 2 * l - 1, 3 * l + 1}) : r.one_of({l, 2 * l, 3 * l});
    s.groups = r.integer(1, 9);
    s.weights = 16;
    s.source = {place::area::input, 0, 0, r.one_of({1, 1, 2, 5})};
    s.destination = {place::area::output, 0, 0, s.out.c + r.one_of({0, 0, 1, 5})};
    auto const floats = std::size_t(s.groups * s.out.c);
    std::vector<float> const blob = r.vector(floats + 5);
    test::guarded packed(16 + floats);  // no row is read beyond the table
    pack_embedding<I>(s, {.weight = 3}, blob.data(), packed.data() + 16);
    test::guarded ids(test::extent(s.in, s.source.pixel_stride)), out(test::extent(s.out, s.destination.pixel_stride));
    r.fill(ids.data(), ids.size(), -2, float(s.groups) + 2);
    if (seed % 2 == 0)
      for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::trunc(ids[i]);
    test::call<embedding_kernel<key(I, Partial)>>(s, packed.data(), {ids.data()}, out.data());
    CAPTURE(seed);
    test::check_output(
        s.out, s.destination.pixel_stride, out,
        [&](int n, int y, int x, int c) {
          float const id = ids[std::size_t(test::index_of(s.in, s.source.pixel_stride, n, y, x, 0))];
          return double(blob[std::size_t(3 + row_of(id, s.groups) * s.out.c + c)]);
        },
        0);
  }
}

}  // namespace

TEST_CASE("numbers select rows of a table") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    many_tables<I, true>();
    many_tables<I, false>();
  });
}

TEST_CASE("no number selects a row outside the table") {
  float const infinity = std::numeric_limits<float>::infinity(), huge = std::numeric_limits<float>::max();
  float const ids[] = {-infinity, -huge, -1, -0.f, .999f, 1, 1.999f, 2, 2.5f, 3, 4e9f, huge, infinity, std::nanf("")};
  int const rows[] = {0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 0};
  float const table[] = {10, 11, 12};
  float out[14]{};
  planned_data s;
  s.in = s.out = {1, 1, 14, 1};
  s.groups = 3;
  s.source = s.destination = {place::area::input, 0, 0, 1};
  s.destination.in = place::area::output;
  test::call<embedding_kernel<key(native_isa, true)>>(s, table, {ids}, out);
  for (int i = 0; i < 14; ++i) {
    CAPTURE(i);
    CHECK(out[i] == table[rows[i]]);
  }
}

TEST_CASE("an epilogue follows the table") {
  constexpr kernel_key k = [] {
    kernel_key with = key(native_isa, true);
    with.after.stages[0].kind = op::add;
    with.after.stages[1].kind = op::mul;
    return with;
  }();
  test::numbers r(1);
  planned_data s;
  s.in = {2, 1, 5, 1};
  s.out = {2, 1, 5, 19};
  s.groups = 4;
  s.source = {place::area::input, 0, 0, 1};
  s.destination = {place::area::output, 0, 0, 19};
  s.after[0].operand = {place::area::input, 1, 0, 20};
  s.after[1].operand = {place::area::input, 2, 0, 0};
  s.after[1].image_step = s.out.c;
  test::guarded ids(10), other(test::extent(s.out, 20)), gate(38), out(190);
  std::vector<float> const table = r.vector(76);
  r.fill(ids.data(), 10, 0, 4);
  r.fill(other.data(), other.size());
  r.fill(gate.data(), 38);
  test::call<embedding_kernel<k>>(s, table.data(), {ids.data(), other.data(), gate.data()}, out.data());
  test::check_output(
      s.out, 19, out,
      [&](int n, int, int x, int c) {
        int const row = row_of(ids[std::size_t(n * 5 + x)], 4);
        double const sum = double(table[std::size_t(row * 19 + c)]) +
                           double(other[std::size_t(test::index_of(s.out, 20, n, 0, x, c))]);
        return sum * double(gate[std::size_t(n * 19 + c)]);
      },
      1e-6);
}
