// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define AGO_TEST_ALL 1
#include <ago/simd/transpose.hpp>

#include "kernel/support.hpp"

using namespace ago;
using namespace ago::ir;

namespace {

/// A matrix of `columns` rows of `rows` floats, `apart` floats from each other, transposed.
template <isa I>
void check(long rows, long columns, long apart, test::numbers& r) {
  CAPTURE(rows);
  CAPTURE(columns);
  CAPTURE(apart);
  long const width = columns + r.integer(0, 5);
  test::guarded from(std::size_t((columns - 1) * apart + rows)), to(std::size_t((rows - 1) * width + columns));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = r.real(-1, 1);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = -2;
  simd::transpose<I>(from.data(), apart, to.data(), width, rows, columns);
  bool right = to.intact() && from.intact();
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < (i + 1 < rows ? width : columns); ++j) {
      float const x = to[std::size_t(i * width + j)];
      right = right && (j < columns ? x == from[std::size_t(j * apart + i)] : x == -2);
    }
  CHECK(right);
}

}  // namespace

TEST_CASE("matrices of any size are transposed, also if lines compete for a set of a cache, and nothing beside them") {
  test::for_each_isa([]<isa I>(std::integral_constant<isa, I>) {
    constexpr int V = lanes(I);
    test::numbers r(1);
    int const around[] = {1, 2, 3, 4, 5, V - 1, V, V + 1, 2 * V, 2 * V + 3, 4 * V + 1};
    for (int const rows : around)
      for (int const columns : around) {
        if (rows == 0 || columns == 0) continue;
        check<I>(rows, columns, rows, r);
        check<I>(rows, columns, rows + r.integer(1, 9), r);
        check<I>(rows, columns, 1024, r);
      }
    check<I>(70, 2 * V, 3072, r);
    check<I>(1024, V, 1024, r);
  });
}
