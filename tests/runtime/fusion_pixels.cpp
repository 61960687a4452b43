// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of matrix products in runs of pixels: results are bit-identical to unfused ones, for any rows.
#include "fusion.hpp"

using namespace model_test;

namespace {

inline constexpr auto images = input{.n = 2, .h = 5, .w = 9, .c = 7} | pw(39) | pw(24);
inline constexpr auto rows = input{.n = 3, .h = 1, .w = 43, .c = 16} | linear{64} | gelu{} | linear{16} | relu{};
inline constexpr auto columns = input{.h = 101, .w = 1, .c = 20} | linear{33} | linear{50} | silu{} | linear{9};
inline constexpr auto perceptron =
    input{.h = 1, .w = 67, .c = 32} | [](tensor x) { return x + (x | linear{96} | gelu{} | linear{32}); };
inline constexpr auto one = input{.h = 1, .w = 1, .c = 40} | linear{30} | relu{} | linear{10};

}  // namespace

#define CHECK_NET(net, tile) compare<net, joined<tiling::pixels, tile>>(#net)

TEST_CASE("matrix products fused in runs of pixels are bit-identical to single ones") {
  CHECK_NET(images, 12);
  CHECK_NET(images, 89);
  CHECK_NET(rows, 28);
  CHECK_NET(rows, 84);
  CHECK_NET(columns, 24);
  CHECK_NET(perceptron, 17);
  CHECK_NET(perceptron, 56);
  CHECK_NET(one, 28);
}

TEST_CASE("fusion by pixels is bit-identical with other instruction sets as well") {
  compare<perceptron, joined<tiling::pixels, 8>, isa::scalar>("perceptron");
  compare<images, joined<tiling::pixels, 24>, isa::emulated128>("images");
}

TEST_CASE("a run of pixels needs memory for itself only") {
  using fused = program<rows, joined<tiling::pixels, 28>>;
  static_assert(fused::arena_bytes == 4 * 28 * 64);
  using whole = program<rows, joined<tiling::pixels, 1000>>;
  static_assert(whole::arena_bytes == 4 * 3 * 43 * 64);
}
