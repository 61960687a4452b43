// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row pipelines give bit-identical results to unfused operators: the same kernels add in the same order.
#include "fusion.hpp"

using namespace model_test;

namespace {

inline constexpr auto pair_rows = input{.h = 9, .w = 7, .c = 5} | pw(17) | dw(3, 1, all(1));
inline constexpr auto pair_stride = input{.n = 2, .h = 12, .w = 14, .c = 16} | pw(32) | dw(3, 2, all(1));
inline constexpr auto pair_even_kernel = input{.h = 6, .w = 5, .c = 3} | pw(24) | dw(2, 1, {0, 1, 1, 0});
inline constexpr auto pair_five = input{.h = 11, .w = 8, .c = 8} | pw(40) | dw(5, 2, all(2));
inline constexpr auto pair_tall_pads = input{.h = 3, .w = 4, .c = 4} | pw(16) | dw(3, 1, all(2));
inline constexpr auto down = input{.h = 10, .w = 9, .c = 33} | dw(3, 1, all(1)) | pw(20);
inline constexpr auto down_stride = input{.n = 2, .h = 7, .w = 7, .c = 58} | dw(3, 2, {0, 0, 1, 1}) | pw(58);
inline constexpr auto two_pointwise = input{.h = 5, .w = 6, .c = 7} | pw(19) | pw(1);
inline constexpr auto two_depthwise = input{.h = 13, .w = 6, .c = 24} | dw(3, 2, all(1)) | dw(5, 1, all(2));
inline constexpr auto three_depthwise =
    input{.h = 9, .w = 9, .c = 16} | dw(3, 1, all(1)) | dw(3, 2, all(0)) | dw(3, 1, all(1));
inline constexpr auto triple = input{.h = 8, .w = 14, .c = 16} | inverted_residual(96);
inline constexpr auto triple_odd = input{.n = 3, .h = 1, .w = 3, .c = 17} | inverted_residual(31);
inline constexpr auto triple_stride =
    input{.h = 15, .w = 13, .c = 24} | pw(72) | dw(3, 2, all(1)) | pointwise{40} | batch_norm{};
inline constexpr auto stem = input{.h = 19, .w = 17, .c = 3} | conv2d{.out = 32, .kernel = 3, .stride = 2, .pad = 1} |
                             batch_norm{} | relu6{} | dw(3, 1, all(1)) | pointwise{16};
inline constexpr auto stem_dilated = input{.h = 16, .w = 12, .c = 4} |
                                     conv2d{.out = 10, .kernel = {3, 2}, .pad = 2, .dilation = 2} | silu{} |
                                     depthwise{.kernel = 3, .pad = 2, .dilation = 2} | pw(11);
inline constexpr auto mapped = input{.h = 6, .w = 7, .c = 8} | pointwise{20} | map{[](auto x) { return x * x + 1.f; }} |
                               dw(3, 1, all(1)) | pointwise{8} | hard_swish{};

inline constexpr auto stem_pool = input{.n = 2, .h = 21, .w = 23, .c = 3} |
                                  conv2d{.out = 24, .kernel = 3, .stride = 2} | relu{} |
                                  max_pool{.kernel = 3, .stride = 2, .ceil = true} | pw(18);
inline constexpr auto wide_pool =
    input{.h = 12, .w = 9, .c = 7} | pw(33) | max_pool{.kernel = 5, .stride = 2, .pad = 2};
inline constexpr auto dw_pool =
    input{.h = 13, .w = 8, .c = 20} | dw(3, 1, all(1)) | max_pool{.kernel = {3, 2}, .stride = 2};
inline constexpr auto mean_pool =
    input{.h = 9, .w = 8, .c = 16} | pw(20) | avg_pool{.kernel = 3, .stride = 1, .pad = 1} | pointwise{5};

inline constexpr auto normalised = input{.n = 2, .h = 9, .w = 8, .c = 21} | batch_norm{} | silu{} | dw(5, 2, all(2));
inline constexpr auto sum_of_two =
    trace([](tensor x, tensor y) { return (x + y) | relu{} | pointwise{19} | bias{} | dw(3, 1, all(1)); },
          input{.h = 7, .w = 9, .c = 16}, input{.h = 7, .w = 9, .c = 16});
inline constexpr auto gated_images = trace([](tensor x, tensor gate) { return (x * gate) | dw(3, 1, all(1)) | pw(10); },
                                           input{.n = 3, .h = 5, .w = 8, .c = 33}, input{.n = 3, .c = 33});

}  // namespace

#define CHECK_NET(net) compare<net, joined<tiling::rows>>(#net)

TEST_CASE("pairs of operators fused by rows are bit-identical to the two operators") {
  CHECK_NET(pair_rows);
  CHECK_NET(pair_stride);
  CHECK_NET(pair_even_kernel);
  CHECK_NET(pair_five);
  CHECK_NET(pair_tall_pads);
  CHECK_NET(down);
  CHECK_NET(down_stride);
  CHECK_NET(two_pointwise);
  CHECK_NET(two_depthwise);
}

TEST_CASE("chains of three fused by rows are bit-identical to the three operators") {
  CHECK_NET(three_depthwise);
  CHECK_NET(triple);
  CHECK_NET(triple_odd);
  CHECK_NET(triple_stride);
  CHECK_NET(stem);
  CHECK_NET(stem_dilated);
  CHECK_NET(mapped);
}

TEST_CASE("pooling fused by rows is bit-identical to the operators alone") {
  CHECK_NET(stem_pool);
  CHECK_NET(wide_pool);
  CHECK_NET(dw_pool);
  CHECK_NET(mean_pool);
  compare<stem_pool, joined<tiling::rows>, isa::scalar>("stem_pool");
  compare<dw_pool, joined<tiling::rows>, isa::emulated128>("dw_pool");
}

TEST_CASE("elementwise operators before what they are fused with by rows are bit-identical to a step of their own") {
  CHECK_NET(normalised);
  CHECK_NET(sum_of_two);
  CHECK_NET(gated_images);
  compare<normalised, joined<tiling::rows>, isa::scalar>("normalised");
  compare<gated_images, joined<tiling::rows>, isa::emulated128>("gated_images");
}

TEST_CASE("fusion is bit-identical with the scalar instruction set as well") {
  compare<triple, joined<tiling::rows>, isa::scalar>("triple");
  compare<stem, joined<tiling::rows>, isa::scalar>("stem");
}

TEST_CASE("fusion is bit-identical with emulated registers of four and of sixteen lanes as well") {
  compare<triple_odd, joined<tiling::rows>, isa::emulated128>("triple_odd");
  compare<triple_odd, joined<tiling::rows>, isa::emulated512>("triple_odd");
  compare<stem, joined<tiling::rows>, isa::emulated128>("stem");
}

TEST_CASE("a fused inverted residual needs a fraction of the arena") {
  using fused = program<triple, joined<tiling::rows>>;
  using unfused = program<triple, untuned, policy::ago_ni>;
  static_assert(fused::arena_bytes == 4 * (4 * 14 * 96 + 2 * 14 * 96));  // a ring of four rows, and two rows
  static_assert(unfused::arena_bytes == 4 * 2 * (8 * 14 * 96));
}
