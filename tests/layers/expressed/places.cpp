// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that depend on where an element is equal plain loops.
#include "run.hpp"

using namespace ago;
using namespace operators_test;

namespace {

constexpr int N = 3, L = 9, C = 5;
constexpr input from{.h = N, .w = L, .c = C};

inline constexpr auto others = trace(
    [](tensor x) {
      tensor const v = x | view{N, L, C};
      return outputs(v | hardmax{}, v | triangle{}, v | triangle{.diagonal = -2},
                     v | triangle{.diagonal = 1, .lower = true});
    },
    from);

}  // namespace

TEST_CASE("hardmax marks the first maximum, triangles keep one side of a diagonal") {
  auto const x = some_numbers(N * L * C, 2);
  auto const at = [&](int n, int i, int c) { return double(x[std::size_t((n * L + i) * C + c)]); };
  std::vector<double> expected;
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < L; ++i)
      for (int c = 0; c < C; ++c) {
        bool first = true;
        for (int k = 0; k < L; ++k) first = first && (k < i ? at(n, k, c) < at(n, i, c) : at(n, k, c) <= at(n, i, c));
        expected.push_back(first);
      }
  for (int const which : {0, 1, 2})
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < L; ++i)
        for (int c = 0; c < C; ++c)
          expected.push_back((which == 0 ? c >= i : which == 1 ? c >= i - 2 : c <= i + 1) ? at(n, i, c) : 0);
  check_values<others>({}, x, expected);
}
