// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Winograd and im2col in whole networks: their scratch does not overlap live values, and results are close or equal to
// the direct ones.
#include "fusion.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

using namespace model_test;

namespace {

template <int Tile, int Block = 0>
inline constexpr plan::uniform_schedule tiles_of{{.block = Block, .winograd = Tile}};

inline constexpr plan::uniform_schedule join_and_wish{{.join = 1, .tiling = tiling::rows, .winograd = 4}};

constexpr auto conv(int out) { return conv2d{.out = out, .kernel = 3, .pad = 1} | batch_norm{}; }

// Results inside a concatenation, a residual in the epilogue, a value that is live across both, the user's outputs and
// inputs, partial vectors, several images, asymmetric and wide pads.
inline constexpr auto stacked = input{.n = 2, .h = 11, .w = 9, .c = 5} | conv(21) | relu{} | [](tensor x) {
  tensor const y = x + (x | conv(24) | silu{} | conv(21));
  return concat(y | conv(19) | relu6{}, x, y | conv(35)) | pointwise{17} | conv(3);
};
inline constexpr auto padded_widely =
    input{.h = 7, .w = 6, .c = 18} | conv2d{.out = 33, .kernel = 3, .pad = pads{0, 2, 1, 3}, .bias = true} |
    hard_swish{} | max_pool{.kernel = 2} | conv2d{.out = 20, .kernel = 3, .bias = true};

inline constexpr auto joinable = input{.h = 16, .w = 16, .c = 16} | conv(48) | relu{} | pointwise{16};

template <class Program>
constexpr int kernels_of(ago::plan::structure what) {
  int n = 0;
  for (auto const& s : Program::plan.steps) n += s.key.what == what;
  return n;
}
template <class Program>
constexpr int winograd_kernels() {
  return kernels_of<Program>(ago::plan::structure::winograd_2) + kernels_of<Program>(ago::plan::structure::winograd_4);
}

template <class Program, auto const& Net, int kernels>
void compare_to_direct() {
  using direct = program<Net, tiles_of<-1>>;
  static_assert(kernels_of<direct>(ago::plan::structure::convolution) == kernels);
  static_assert(winograd_kernels<Program>() == kernels);
  CHECK(Program::arena_bytes > direct::arena_bytes);
  auto const expected = result_of<direct, Net>(differential::edge::end);
  for (auto const edge : {differential::edge::begin, differential::edge::end}) {
    auto const found = result_of<Program, Net>(edge);
    float largest = 0, worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      worst = std::max(worst, found[i] == found[i] ? std::abs(found[i] - expected[i]) : 1e30f);
    }
    CHECK(worst <= 2e-5f * largest);
  }
}

}  // namespace

TEST_CASE("networks computed by Winograd agree with the direct ones, wherever memory ends") {
  compare_to_direct<program<stacked, tiles_of<2>>, stacked, 6>();
  compare_to_direct<program<stacked, tiles_of<4>>, stacked, 6>();
  compare_to_direct<program<stacked, tiles_of<4, 2>>, stacked, 6>();
  compare_to_direct<program<stacked, tiles_of<4>, isa::scalar>, stacked, 6>();
  compare_to_direct<program<padded_widely, tiles_of<2, 3>>, padded_widely, 2>();
  compare_to_direct<program<padded_widely, tiles_of<4>>, padded_widely, 2>();
}

TEST_CASE("networks with im2col agree with the direct ones") {
  using copied = program<padded_widely, tiles_of<1>, device{}>;  // whose L2 has room for the windows
  using direct = program<padded_widely, tiles_of<-1>, device{}>;
  static_assert(kernels_of<copied>(ago::plan::structure::im2col) == 2);
  for (auto const edge : {differential::edge::begin, differential::edge::end})
    CHECK(result_of<copied, padded_widely>(edge) == result_of<direct, padded_widely>(edge));
}

TEST_CASE("a convolution that begins a pipeline stays direct, and winograd::off disables Winograd") {
  using fused = program<joinable, join_and_wish>;
  static_assert(fused::steps == 1 && winograd_kernels<fused>() == 0);
  static_assert(winograd_kernels<program<joinable, tiles_of<4>, policy::ago_ni>>() == 1);
  static_assert(winograd_kernels<program<joinable, tiles_of<4>, winograd::off>>() == 0);
}
