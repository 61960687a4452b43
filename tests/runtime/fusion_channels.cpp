// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines by channels, and by channels and rows: chunks that divide the channels and chunks that do not.
#include "fusion.hpp"

using namespace model_test;

namespace {

inline constexpr auto pair = input{.h = 9, .w = 7, .c = 5} | pw(37) | dw(3, 1, all(1));
inline constexpr auto pair_stride = input{.n = 2, .h = 12, .w = 14, .c = 16} | pw(64) | dw(3, 2, all(1));
inline constexpr auto pair_even_kernel = input{.h = 6, .w = 5, .c = 3} | pw(40) | dw(2, 1, {0, 1, 1, 0});
inline constexpr auto pair_seven = input{.h = 15, .w = 8, .c = 8} | pw(43) | dw(7, 2, all(3));
inline constexpr auto pair_one = input{.n = 2, .h = 5, .w = 3, .c = 24} | pw(49) | dw(1, 2, all(0));
inline constexpr auto pair_unread_rows = input{.h = 9, .w = 9, .c = 4} | pw(33) | dw(2, 3, all(0));
inline constexpr auto pair_dilated =
    input{.h = 11, .w = 12, .c = 4} | pw(50) | silu{} | depthwise{.kernel = 3, .pad = 2, .dilation = 2};
inline constexpr auto stem = input{.n = 2, .h = 13, .w = 11, .c = 3} |
                             conv2d{.out = 34, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} |
                             dw(3, 1, all(1));
inline constexpr auto two_depthwise = input{.n = 2, .h = 11, .w = 6, .c = 39} | dw(3, 1, all(1)) | dw(5, 2, all(2));
inline constexpr auto three_depthwise =
    input{.h = 9, .w = 9, .c = 36} | dw(3, 1, all(1)) | dw(3, 2, all(0)) | dw(3, 1, all(1));
/// The first part's epilogue multiplies by another whole value, which is read in chunks too.
inline constexpr auto gated = input{.h = 6, .w = 7, .c = 12} | [](tensor x) {
  tensor const gate = x | pointwise{45} | sigmoid{};
  return (x | pointwise{45} | bias{}) * gate | bias{} | dw(3, 1, all(1));
};

inline constexpr auto triple = input{.h = 8, .w = 14, .c = 40} | inverted_residual(96);
inline constexpr auto triple_batch = input{.n = 3, .h = 4, .w = 3, .c = 36} | inverted_residual(70);
inline constexpr auto triple_paired = input{.h = 5, .w = 5, .c = 24} | inverted_residual(96);
inline constexpr auto triple_stride =
    input{.h = 15, .w = 13, .c = 24} | pw(72) | dw(5, 2, all(2)) | pointwise{47} | batch_norm{} | hard_swish{};
inline constexpr auto stem_triple = input{.h = 19, .w = 17, .c = 3} |
                                    conv2d{.out = 34, .kernel = {3, 2}, .stride = 2, .pad = 1} | leaky_relu{.1f} |
                                    dw(3, 1, all(1)) | pointwise{33} | bias{};
inline constexpr auto concatenated = input{.h = 7, .w = 7, .c = 20} | [](tensor x) {
  return concat(x | pw(40) | dw(3, 1, all(1)) | pointwise{37}, x | relu{}) | max_pool{.kernel = 2};
};
inline constexpr auto down = input{.h = 10, .w = 9, .c = 33} | dw(3, 1, all(1)) | pw(36);
inline constexpr auto two_pointwise = input{.n = 2, .h = 5, .w = 6, .c = 7} | pw(39) | pw(48);
inline constexpr auto dense =
    input{.h = 6, .w = 5, .c = 9} | conv2d{.out = 52, .kernel = 3, .pad = 1} | relu{} | pointwise{35};

#ifdef AGO_TEST_FULL
constexpr bool both = true;
#else
constexpr bool both = false;
#endif

/// Both tilings, or one of them in turn: for pairs, and without AGO_TEST_FULL.
template <auto const& Net, int Tile, int Turn, bool Both>
void compare_tilings(char const* name) {
  if constexpr (Both || Turn % 2 == 0) compare<Net, joined<tiling::channels, Tile>>(name);
  if constexpr (Both || Turn % 2 == 1) compare<Net, joined<tiling::channels_rows, Tile>>(name);
}
#define CHECK_PAIR(net, tile) compare_tilings<net, tile, __COUNTER__, false>(#net)
#define CHECK_NET(net, tile) compare_tilings<net, tile, __COUNTER__, both>(#net)

}  // namespace

TEST_CASE("pairs fused by channels are bit-identical to the two operators") {
  CHECK_PAIR(pair, 16);
  CHECK_PAIR(pair, 32);
  CHECK_PAIR(pair_stride, 32);
  CHECK_PAIR(pair_stride, 48);
  CHECK_NET(pair_even_kernel, 16);
  CHECK_PAIR(pair_seven, 16);
  CHECK_PAIR(pair_one, 48);
  CHECK_NET(pair_unread_rows, 32);
  CHECK_PAIR(pair_dilated, 32);
  CHECK_NET(stem, 16);
  CHECK_NET(two_depthwise, 32);
  CHECK_NET(three_depthwise, 16);
  CHECK_NET(gated, 16);
}

TEST_CASE("chains fused by channels accumulate partial sums in the order of the unfused operator") {
  CHECK_NET(triple, 32);
  CHECK_NET(triple, 80);
  CHECK_NET(triple_batch, 64);
  CHECK_NET(triple_stride, 16);
  CHECK_NET(stem_triple, 16);
  CHECK_NET(concatenated, 16);
  CHECK_NET(down, 16);
  CHECK_NET(two_pointwise, 16);
  CHECK_NET(dense, 48);
}

TEST_CASE("a sum that the unfused operator adds two steps at a time differs by rounding only") {
  CHECK_NET(triple_paired, 32);
}

TEST_CASE("fusion by channels is bit-identical with other instruction sets as well") {
  compare<triple, joined<tiling::channels, 7>, isa::scalar>("triple");
  compare<pair_stride, joined<tiling::channels_rows, 5>, isa::scalar>("pair_stride");
  compare<triple_batch, joined<tiling::channels_rows, 20>, isa::emulated128>("triple_batch");
  compare<stem_triple, joined<tiling::channels, 12>, isa::emulated128>("stem_triple");
  compare<pair_stride, joined<tiling::channels_rows, 16>, isa::emulated512>("pair_stride");
}

TEST_CASE("a chunk needs memory for itself only: all rows of an image, or a ring of them") {
  using chunks = program<triple, joined<tiling::channels, 32>>;
  static_assert(chunks::arena_bytes == 4 * 2 * (8 * 14 * 32));
  using rings = program<triple, joined<tiling::channels_rows, 32>>;
  static_assert(rings::arena_bytes == 4 * (4 * 14 * 32 + 2 * 14 * 32));
  using strided = program<pair_stride, joined<tiling::channels, 16>>;  // of one image
  static_assert(strided::arena_bytes == 4 * (12 * 14 * 16));
}

TEST_CASE("a chunk of all channels is refused") {
  using fused = program<triple, joined<tiling::channels, 96>>;
  static_assert(fused::steps == 1 && fused::tiling_of(0).tile < 96);
  using narrow = program<triple, joined<tiling::channels, 1>>;
  static_assert(narrow::tiling_of(0).tile == lanes(native_isa));  // whole vectors
}

namespace {
inline constexpr auto small_images =
    input{.n = 2, .h = 7, .w = 7, .c = 160} | pw(960) | dw(3, 1, all(1)) | pointwise{160} | batch_norm{};
inline constexpr auto middle_images =
    input{.n = 2, .h = 14, .w = 14, .c = 64} | pw(384) | dw(3, 1, all(1)) | pointwise{64} | batch_norm{};

/// Whether the network gives the same result with the chains and cache blocks that are the defaults for a device as
/// without them.
template <auto const& Net, device On>
void compare_on() {
  using fused = program<Net, untuned, options{.device = On}>;
  using unfused = program<Net, untuned, options{.policy = policy::ago_ni, .device = device{.l2_bytes = 1 << 30}}>;
  static_assert(fused::steps < 3 && unfused::steps == 3);
  using differential::edge;
  CHECK(agree(result_of<fused, Net>(edge::end), result_of<unfused, Net>(edge::end), reordered_depth<fused, unfused>()));
}
}  // namespace

TEST_CASE("chains for a core with a small L2 give the result of the operators alone") {
  compare_on<small_images, cortex_a55>();
  compare_on<middle_images, cortex_a55>();
  compare_on<middle_images, cortex_a76>();
}
