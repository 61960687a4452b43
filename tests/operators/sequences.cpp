// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators along an axis equal plain loops.
#include "run.hpp"

using namespace ago;
using namespace operators_test;

namespace {

constexpr int N = 3, L = 9, C = 5;
constexpr input from{.h = N, .w = L, .c = C};

inline constexpr auto sums = trace(
    [](tensor x) {
      tensor const v = x | view{N, L, C};
      return outputs(v | cumulative_sum{}, v | cumulative_sum{.exclusive = true}, v | cumulative_sum{.reverse = true},
                     v | cumulative_sum{.exclusive = true, .reverse = true});
    },
    from);
inline constexpr auto others = trace(
    [](tensor x) {
      tensor const v = x | view{N, L, C};
      return outputs(v | hardmax{}, v | triangle{}, v | triangle{.diagonal = -2},
                     v | triangle{.diagonal = 1, .lower = true});
    },
    from);

}  // namespace

TEST_CASE("running sums begin at either end, with or without the element") {
  auto const x = some_numbers(N * L * C, 1);
  std::vector<double> expected;
  for (int const way : {0, 1, 2, 3})
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < L; ++i)
        for (int c = 0; c < C; ++c) {
          double sum = 0;
          for (int k = 0; k < L; ++k)
            if ((way / 2 == 0 ? k < i : k > i) || (k == i && way % 2 == 0))
              sum += double(x[std::size_t((n * L + k) * C + c)]);
          expected.push_back(sum);
        }
  check_values<sums>({}, x, expected);
}

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
