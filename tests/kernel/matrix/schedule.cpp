// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/schedule.hpp>

#include "kernel/matrix/support.hpp"

#include <utility>

namespace {

using namespace matrix_test;

constexpr isa every_isa[] = {isa::scalar, isa::sse2, isa::sse42,       isa::avx2,
                             isa::avx512, isa::neon, isa::emulated128, isa::emulated512};

TEST_CASE("a default tile is on the menu and has the right remainders") {
  for (isa const target : every_isa)
    for (bool const streams : {false, true})
      for (long const pixels : {1L, 2L, 5L, 7L, 13L, 49L, 111L, 196L, 12544L})
        for (int channels = 1; channels < 300; channels += channels < 70 ? 1 : 37) {
          register_tile const t = matrix_tile(target, {.pixels = pixels, .channels = channels, .streams = streams});
          int const vectors = (channels + lanes(target) - 1) / lanes(target);
          bool const right = is_matrix_tile(target, t.pixels, t.vectors) && t.pixels <= pixels &&
                             t.vectors <= vectors && t.pixels_left == pixels % t.pixels &&
                             t.vectors_left == vectors % t.vectors;
          CHECK_MESSAGE(right, name_of(target), ' ', pixels, ' ', channels, ": ", t.pixels, 'x', t.vectors);
        }
}

TEST_CASE("convolutions prefetch images of a few channels, unless loops are scheduled by hand") {
  auto const fetches = [](isa target, structure what, int inputs, int groups = 1) {
    kernel_key key{.what = what, .target = target};
    planned_data s;
    s.in = {1, 24, 24, inputs};
    s.out = {1, 12, 12, 32};
    s.groups = groups;
    s.win = {3, 3, 2, 2, 1, 1, 1, 1, 1, 1};
    choose_matrix(key, s, {});
    return key.fetches_input;
  };
  for (isa const target : {isa::avx2, isa::avx512}) {
    CHECK(fetches(target, structure::convolution, 1));
    CHECK(fetches(target, structure::convolution, 3));
    CHECK(fetches(target, structure::convolution, 4));
    CHECK_FALSE(fetches(target, structure::convolution, 5));
    CHECK_FALSE(fetches(target, structure::convolution, 4, 2));
  }
  CHECK_FALSE(fetches(isa::neon, structure::convolution, 3));
}

TEST_CASE("emulated instruction sets have the tiles and blocks of those they emulate") {
  auto const scheduled = [](isa target, structure what, int size, int inputs, int outputs) {
    kernel_key key{.what = what, .target = target};
    planned_data s;
    s.in = {1, size, size, inputs};
    s.out = {1, size, size, outputs};
    if (what == structure::convolution) s.win = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    choose_matrix(key, s, {});
    key.target = isa::scalar;  // everything else must be equal
    return std::pair(key, s.block);
  };
  for (structure const what : {structure::pointwise, structure::convolution})
    for (int size : {1, 7, 14, 56})
      for (int inputs : {3, 16, 160, 960})
        for (int outputs : {1, 24, 58, 144, 1000}) {
          CHECK(scheduled(isa::neon, what, size, inputs, outputs) ==
                scheduled(isa::emulated128, what, size, inputs, outputs));
          CHECK(scheduled(isa::avx512, what, size, inputs, outputs) ==
                scheduled(isa::emulated512, what, size, inputs, outputs));
        }
}

TEST_CASE("the menu leaves registers for weights and inputs") {
  CHECK(is_matrix_tile(isa::avx512, 14, 2));
  CHECK(is_matrix_tile(isa::avx512, 7, 3));
  CHECK_FALSE(is_matrix_tile(isa::avx512, 7, 4));
  CHECK(is_matrix_tile(isa::avx2, 4, 3));
  CHECK_FALSE(is_matrix_tile(isa::avx2, 7, 2));
  CHECK(is_matrix_tile(isa::sse42, 6, 2));
  CHECK_FALSE(is_matrix_tile(isa::sse42, 4, 3));  // 12 + 3 + input + product
  CHECK(is_matrix_tile(isa::neon, 7, 3));         // 21 + 3 + 7 inputs by lane
  CHECK_FALSE(is_matrix_tile(isa::neon, 8, 3));
  CHECK(is_matrix_tile(isa::emulated128, 7, 3));  // the tiles of neon
  CHECK_FALSE(is_matrix_tile(isa::emulated128, 8, 3));
  CHECK(is_matrix_tile(isa::emulated512, 14, 2));  // the tiles of avx512
  CHECK_FALSE(is_matrix_tile(isa::avx512, 0, 1));
  CHECK_FALSE(is_matrix_tile(isa::avx512, 1, 0));
}

TEST_CASE("a requested tile is used if it is on the menu") {
  CHECK(matrix_tile(isa::avx512, {50, 7 * 16}, {6, 4, 0}) == register_tile{6, 4, 2, 3});
  CHECK(matrix_tile(isa::avx512, {50, 7 * 16}, {8, 8, 0}) == matrix_tile(isa::avx512, {50, 7 * 16}));
  CHECK(matrix_tile(isa::avx512, {50, 7 * 16}, {6, 0, 0}) == matrix_tile(isa::avx512, {50, 7 * 16}));
}

TEST_CASE("the default leaves no remainder of pixels where this costs nothing") {
  for (long const pixels : {12544L, 3136L, 784L, 196L})
    for (int const channels : {32, 64, 96, 192}) CHECK(matrix_tile(isa::avx512, {pixels, channels}).pixels_left == 0);
}

TEST_CASE("the smaller K, the smaller the tile, unless loops are scheduled by hand") {
  auto const results = [](isa target, int depth) {
    kernel_key key{.what = structure::pointwise, .target = target};
    planned_data s;
    s.in = {1, 56, 56, depth};
    s.out = {1, 56, 56, 96};
    choose_matrix(key, s, {}, {tiling::rows, 1});
    return key.tile.pixels * key.tile.vectors;
  };
  CHECK(results(isa::avx512, 16) <= 14);
  CHECK(results(isa::avx512, 16) < results(isa::avx512, 48));
  CHECK(results(isa::avx512, 48) < results(isa::avx512, 576));
  CHECK(results(isa::avx512, 576) == 28);
  CHECK(results(isa::neon, 16) == results(isa::neon, 576));
}

TEST_CASE("a panel that exceeds L1 is multiplied with many pixels, unless there are few") {
  for (int const channels : {64, 96, 128, 160, 192}) {
    CHECK(matrix_tile(isa::avx512, {196, channels, 640}).pixels >= 5);
    CHECK(matrix_tile(isa::avx512, {4, channels, 640}).pixels == 4);
    CHECK(matrix_tile(isa::avx512, {.pixels = 1, .channels = channels, .depth = 640, .cold = true}).vectors > 1);
  }
}

TEST_CASE("with AVX2, where broadcasts are separate instructions, several vectors share an input") {
  for (long const pixels : {9L, 16L, 49L, 196L, 784L})
    for (int const channels : {16, 32, 40, 64, 1000})
      CHECK(matrix_tile(isa::avx2, {pixels, channels, 512}).vectors > 1);
  CHECK(matrix_tile(isa::avx2, {49, 8, 512}).vectors == 1);
}

TEST_CASE("a convolution's tile fits the columns whose windows lie inside the image") {
  kernel_key key = key_of<isa::avx512>(structure::convolution, {}, false);
  planned_data s;
  s.in = {1, 56, 56, 64};
  s.out = {1, 56, 56, 64};
  s.win = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
  choose_matrix(key, s, {});
  CHECK(54 % key.tile.pixels == key.tile.pixels_left);
  CHECK(key.tile.pixels_left == 0);
  choose_matrix(key, s, {5, 2, 7});
  CHECK(key.tile == register_tile{5, 2, 4, 0});
  CHECK(s.block == 7);
}

TEST_CASE("a cache block holds whole tiles, and exists only if the input is read more than once") {
  kernel_key key = key_of<isa::avx512>(structure::pointwise, {}, false);
  planned_data s;
  s.in = {1, 56, 56, 256};
  s.out = {1, 56, 56, 128};
  choose_matrix(key, s, {});
  CHECK(s.block > 0);
  CHECK(s.block % key.tile.pixels == 0);
  s.out.c = 32;  // one panel
  choose_matrix(key, s, {});
  CHECK(s.block == 0);
  s.in = {1, 14, 14, 256};  // fits the cache
  s.out = {1, 14, 14, 128};
  choose_matrix(key, s, {});
  CHECK(s.block == 0);
}

TEST_CASE("a requested block orders the loops: a block of all pixels is none, a block of one pixel is used") {
  kernel_key key = key_of<isa::avx512>(structure::pointwise, {}, false);
  planned_data s;
  s.in = {1, 56, 56, 256};
  s.out = {1, 56, 56, 128};
  for (int const block : {1, 64, 56 * 56 - 1, 56 * 56, 10000}) {
    choose_matrix(key, s, {.block = block});
    CHECK(s.block == (block < 56 * 56 ? block : 0));
  }
}

TEST_CASE("weights are packed in pairs or singly as requested, if the kernel supports it") {
  planned_data s;
  s.in = {1, 14, 14, 96};
  s.out = {1, 14, 14, 24};
  auto const is_paired = [&](isa target, int packing, bool in_runs = false, bool accumulates = false) {
    kernel_key key{.what = structure::pointwise, .target = target, .accumulates = accumulates, .in_runs = in_runs};
    choose_matrix(key, s, {.packing = packing}, accumulates ? chain_tiling{tiling::channels, 32} : chain_tiling{});
    return key.paired;
  };
  CHECK(is_paired(isa::avx512, 0));
  CHECK_FALSE(is_paired(isa::avx512, 1));
  s.out.c = 32;
  CHECK_FALSE(is_paired(isa::avx512, 0));
  CHECK(is_paired(isa::avx512, 2));
  CHECK(is_paired(isa::avx512, 2, true));
  CHECK_FALSE(is_paired(isa::avx512, 2, false, true));
  CHECK_FALSE(is_paired(isa::neon, 2));
}

/// The block of a pointwise step on 1 x size x size pixels, each in cache lines of `pixel_floats`; 0: contiguous.
int block_on(device const& on, int size, int inputs, int outputs, kernel_key key = {}, chain_tiling const& in = {},
             int pixel_floats = 0) {
  key.what = structure::pointwise;
  key.target = isa::neon;
  key.in_runs = pixel_floats > 0;
  planned_data s;
  s.in = {1, size, size, inputs};
  s.out = {1, size, size, outputs};
  choose_matrix(key, s, {}, in, on, pixel_floats);
  CHECK(s.block % key.tile.pixels == 0);
  return s.block;
}

TEST_CASE("blocks follow the L2 of the device") {
  device const devices[] = {cortex_a55, cortex_a53, cortex_a76, {}, {.l2_bytes = 4 << 20}};
  int blocks = 0;
  for (device const& on : devices)
    for (int size : {7, 14, 28, 56, 112})
      for (int inputs : {16, 96, 144, 384, 576, 960})
        for (int outputs : {24, 96, 160, 320}) {
          long const input = 4L * size * size * inputs;
          int const block = block_on(on, size, inputs, outputs);
          blocks += block > 0;
          if (input <= on.l2_bytes / 2) CHECK(block == 0);  // there is room for a panel of weights
          else CHECK(4L * block * inputs < on.l2_bytes);
        }
  CHECK(blocks > 100);
  CHECK(block_on(cortex_a55, 56, 144, 24) > 0);  // 1.8 MB
  CHECK(block_on(cortex_a55, 56, 144, 24) < block_on(cortex_a76, 56, 144, 24));
  CHECK(block_on({.l2_bytes = 4 << 20}, 56, 144, 24) == 0);
}

TEST_CASE("the block of an input in segments takes account of the cache lines that they share with other channels") {
  auto const block = [](int pixel_floats) { return block_on(cortex_a55, 14, 116, 116, {}, {}, pixel_floats); };
  CHECK(block(116) == 0);  // 91 KB
  CHECK(block(251) > 0);   // 197 KB of lines
  CHECK(4 * 251 * block(251) < cortex_a55.l2_bytes);
  CHECK(block(400) <= block(251));
}

TEST_CASE("there is no block if it would read all weights again for a few pixels") {
  CHECK(block_on(cortex_a55, 14, 576, 96) > 0);
  CHECK(block_on(cortex_a55, 7, 960, 160) == 0);  // no room for four tiles beside a panel
  CHECK(block_on(cortex_a53, 14, 3072, 768) == 0);
}

TEST_CASE("a product that accumulates chunks of K has blocks for the chunks only") {
  kernel_key const adds{.accumulates = true};
  CHECK(block_on(cortex_a55, 14, 576, 96, adds, {tiling::channels, 64}) == 0);  // 50 KB at a time
  CHECK(block_on(cortex_a55, 14, 576, 96, adds, {tiling::channels, 192}) > 0);  // 151 KB
}

}  // namespace
