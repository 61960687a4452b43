// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/plan/convolution_schedule.hpp>

#include "kernel/matrix/support.hpp"

namespace {

using namespace matrix_test;

constexpr window square{3, 3, 1, 1, 1, 1, 1, 1, 1, 1};

struct layer {
  shape in;
  int outputs;
  window win = square;
  int groups = 1;
};

constexpr device megabyte{.l1_bytes = 32 << 10, .l2_bytes = 1 << 20};

/// The default schedule of a layer, on a machine with 1 MB of L2 unless another one is given.
struct scheduled {
  kernel_key key{};
  planned_data step{};
};
constexpr scheduled schedule_of(layer const& l, isa target, schedule const& wish = {}, winograd allowed = winograd::on,
                                device const& on = megabyte) {
  scheduled r;
  r.key.what = structure::convolution;
  r.key.target = target;
  window const& w = l.win;
  r.step.in = l.in;
  r.step.out = {l.in.n, (l.in.h + w.pad_top + w.pad_bottom - w.span_h()) / w.stride_h + 1,
                (l.in.w + w.pad_left + w.pad_right - w.span_w()) / w.stride_w + 1, l.outputs};
  r.step.win = w;
  r.step.groups = l.groups;
  choose_convolution(r.key, r.step, wish, {.target = target, .device = on, .winograd = allowed});
  return r;
}
constexpr structure structure_of(layer const& l, isa target = isa::avx512) { return schedule_of(l, target).key.what; }

TEST_CASE("the default schedule is the one measured to be fastest") {
  using enum structure;
  static_assert(structure_of({{1, 55, 55, 16}, 64}) == winograd_4);
  static_assert(structure_of({{1, 27, 27, 32}, 128}) == winograd_4);
  static_assert(structure_of({{1, 13, 13, 64}, 256}) == winograd_4);
  static_assert(structure_of({{1, 14, 14, 256}, 256}) == winograd_4);
  static_assert(structure_of({{1, 6, 6, 64}, 256}) == winograd_2);  // its weights are 4/9 of the other tile's
  static_assert(structure_of({{1, 3, 3, 64}, 256}) == im2col);      // reading weights takes nearly all the time
  static_assert(schedule_of({{1, 3, 3, 64}, 256}, isa::avx2).key.what == winograd_2);  // slower arithmetic
  static_assert(structure_of({{1, 5, 5, 1}, 1}) == convolution);
  static_assert(structure_of({{1, 224, 224, 3}, 64}) != winograd_2);
  static_assert(schedule_of({{1, 55, 55, 16}, 64}, isa::avx512, {}, winograd::off).key.what == convolution);
  static_assert(schedule_of({{1, 3, 3, 64}, 256}, isa::avx512, {}, winograd::off).key.what == im2col);
  // Not computable by Winograd.
  static_assert(structure_of({{1, 55, 55, 16}, 64, {3, 3, 2, 2, 1, 1, 1, 1, 1, 1}}) == convolution);
  static_assert(structure_of({{1, 55, 55, 16}, 64, {3, 3, 1, 1, 2, 2, 1, 1, 1, 1}}) == convolution);
  static_assert(structure_of({{1, 55, 55, 16}, 64, {3, 1, 1, 1, 1, 1, 1, 0, 1, 0}}) == convolution);
  static_assert(structure_of({{1, 55, 55, 16}, 64, square, 2}) == convolution);
  constexpr layer strided{{1, 55, 55, 16}, 64, {3, 3, 1, 2, 1, 1, 1, 1, 1, 1}};
  static_assert(schedule_of(strided, isa::avx512, {.winograd = 4}).key.what == convolution);
}

TEST_CASE("every schedule fits its kernel") {
  random_numbers random(11);
  int chosen = 0, copied = 0;
  for (int problem = 0; problem < 3000; ++problem) {
    layer const l{{random.between(1, 2), random.between(1, 60), random.between(1, 60), random.between(1, 300)},
                  random.between(1, 300)};
    for (isa target : {isa::scalar, isa::sse2, isa::avx2, isa::avx512, isa::neon}) {
      constexpr int wishes[] = {-1, 0, 1, 2, 4};
      schedule const wish{.winograd = wishes[random.below(5)]};
      device on = random.below(4) == 0 ? cortex_a55 : megabyte;
      on.threads = random.between(1, 4);
      scheduled const s = schedule_of(l, target, wish, winograd::on, on);
      int const tile = winograd_tile(s.key.what);
      if (wish.winograd < 0) REQUIRE(s.key.what == structure::convolution);
      if (wish.winograd > 1) REQUIRE(tile == wish.winograd);
      if (wish.winograd == 1) REQUIRE(tile == 0);
      if (s.key.what == structure::im2col) {
        ++copied;
        REQUIRE(is_matrix_tile(target, s.key.tile.pixels, s.key.tile.vectors));
        REQUIRE(s.key.tile.pixels_left == s.step.out.pixels() % s.key.tile.pixels);
        REQUIRE(scratch_floats(s.key, s.step) == 9 * l.in.c * s.step.out.pixels());
      }
      if (tile == 0) continue;
      ++chosen;
      winograd_layout const layout = layout_of_winograd(s.key, s.step);
      register_tile const& t = s.key.tile;
      REQUIRE(layout.tiles == l.in.n * ((l.in.h + tile - 1) / tile) * ((l.in.w + tile - 1) / tile));
      REQUIRE(is_matrix_tile(target, t.pixels, t.vectors));
      REQUIRE(t.pixels_left == layout.tiles % t.pixels);
      REQUIRE(t.vectors_left == layout.padded_channels / lanes(target) % t.vectors);
      REQUIRE(t.pixels <= layout.tiles);
      REQUIRE(t.vectors * lanes(target) <= layout.padded_channels);
      REQUIRE((layout.block == layout.tiles || layout.block % t.pixels == 0));
      REQUIRE(layout.block > 0);
    }
  }
  CHECK(chosen > 3000);
  CHECK(copied > 100);
}

TEST_CASE("Winograd, whose sums are others, computes the same layers for any number of threads") {
  random_numbers random(12);
  int with = 0, without = 0;
  for (int problem = 0; problem < 500; ++problem) {
    layer const l{{1, random.between(1, 40), random.between(1, 40), random.between(1, 200)}, random.between(1, 300)};
    device on = problem % 2 == 0 ? cortex_a55 : megabyte;
    isa const target = problem % 2 == 0 ? isa::neon : problem % 4 == 1 ? isa::avx2 : isa::avx512;
    int const expected = winograd_tile(schedule_of(l, target, {}, winograd::on, on).key.what);
    ++(expected > 0 ? with : without);
    for (int const threads : {2, 3, 8}) {
      on.threads = threads;
      REQUIRE(winograd_tile(schedule_of(l, target, {}, winograd::on, on).key.what) == expected);
    }
  }
  CHECK(with > 100);
  CHECK(without > 100);
}

TEST_CASE("a requested register tile and block are used if Winograd is requested too") {
  constexpr layer l{{1, 27, 27, 32}, 128};
  constexpr scheduled s = schedule_of(l, isa::avx512, {.pixels = 5, .vectors = 3, .block = 10, .winograd = 2});
  static_assert(s.key.what == structure::winograd_2);
  static_assert(s.key.tile == register_tile{5, 3, 196 % 5, 8 % 3});
  static_assert(s.step.block == 10);
}

}  // namespace
