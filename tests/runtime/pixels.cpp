// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of pixels that become channels, and back, compared with their index formulas.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace ago;

namespace {

/// The result of `Net`, which has no parameters, for the input 0, 1, 2, ...
template <auto const& Net>
std::vector<float> moved() {
  using program = ago::program<Net>;
  std::vector<float> x(program::input_size(0));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  return model_test::result_of<Net>(x, {});
}

/// Checks that every element (n, y, x, c) of the result is element `from(n, y, x, c)` of the source.
template <auto const& Net, class F>
void check_moves(F from) {
  shape const in = program<Net>::graph.nodes[0].out;
  auto const& g = program<Net>::graph;
  shape const out = g.nodes[g.outputs[0]].out;
  auto const y = moved<Net>();
  std::size_t k = 0, wrong = 0;
  for (int n = 0; n < out.n; ++n)
    for (int h = 0; h < out.h; ++h)
      for (int w = 0; w < out.w; ++w)
        for (int c = 0; c < out.c; ++c, ++k) {
          shape const at = from(n, h, w, c);
          wrong += y[k] != float(((long(at.n) * in.h + at.h) * in.w + at.w) * in.c + at.c);
        }
  CHECK(wrong == 0);
}

constexpr input deep{.n = 2, .h = 3, .w = 4, .c = 36}, wide{.n = 2, .h = 6, .w = 9, .c = 5};
constexpr auto to_space = deep | depth_to_space{2};
constexpr auto to_space_3 = deep | depth_to_space{3};
constexpr auto shuffled = deep | pixel_shuffle{2};
constexpr auto shuffled_3 = deep | pixel_shuffle{3};
constexpr auto to_depth = wide | space_to_depth{3};
constexpr auto unshuffled = wide | pixel_unshuffle{3};

}  // namespace

TEST_CASE("channels become blocks of pixels") {
  check_moves<to_space>([](int n, int y, int x, int c) { return shape{n, y / 2, x / 2, (y % 2 * 2 + x % 2) * 9 + c}; });
  check_moves<to_space_3>(
      [](int n, int y, int x, int c) { return shape{n, y / 3, x / 3, (y % 3 * 3 + x % 3) * 4 + c}; });
  check_moves<shuffled>([](int n, int y, int x, int c) { return shape{n, y / 2, x / 2, c * 4 + y % 2 * 2 + x % 2}; });
  check_moves<shuffled_3>([](int n, int y, int x, int c) { return shape{n, y / 3, x / 3, c * 9 + y % 3 * 3 + x % 3}; });
}

TEST_CASE("blocks of pixels become channels") {
  check_moves<to_depth>([](int n, int y, int x, int c) { return shape{n, y * 3 + c / 15, x * 3 + c / 5 % 3, c % 5}; });
  check_moves<unshuffled>([](int n, int y, int x, int c) { return shape{n, y * 3 + c % 9 / 3, x * 3 + c % 3, c / 9}; });
}
