// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/pointwise.hpp>
#include <ago/kernel/matrix/schedule.hpp>

#include "kernel/matrix/support.hpp"

namespace {

using namespace matrix_test;

template <isa I, class... S>
constexpr kernel_key pointwise_key(register_tile tile, bool partial, S... after) {
  return key_of<I>(structure::pointwise, tile, partial, after...);
}

/// Runs a kernel that gathers, with scratch that is initially all NaN: in portions of about a third of K if it
/// accumulates, from three segments if it reads segments.
template <kernel_key K>
void run_gathering(step_data const& whole, kernel_memory const& memory) {
  step_data s = whole;
  kernel_memory m = memory;
  s.portion = {0, K.accumulates ? s.in.c / 3 + 1 : s.in.c};
  input_run runs[3];
  if (K.in_runs) {
    for (input_run& r : runs) {
      r.start = int(&r - runs) * s.in.c / 3;
      int const end = (int(&r - runs) + 1) * s.in.c / 3;
      r.at = s.source;
      r.at.offset += r.start;
      r.count = end - r.start;
    }
    s.run_count = 3;
    m.tables.runs = runs;
  }
  long const tiles = (s.block > 0 ? s.block + K.tile.pixels - 1 : s.out.pixels()) / K.tile.pixels;
  long const pixels = s.block > 0 ? tiles * K.tile.pixels : s.out.pixels();
  matrix_test::guarded scratch(pixels * s.portion.last);
  pointwise_kernel<K>::run(s, m, scratch.data());
  CHECK(scratch.guards_untouched());
}

template <kernel_key K>
void check(problem const& p) {
  if constexpr (K.gathers) matrix_test::check(p, K, &run_gathering<K>, &pack_matrix<K.target>);
  else matrix_test::check(p, K, &pointwise_kernel<K>::run, &pack_matrix<K.target>);
}

constexpr kernel_key gathering(kernel_key key, bool accumulates, bool in_runs) {
  key.gathers = true;
  key.accumulates = accumulates;
  key.in_runs = in_runs;
  return key;
}

constexpr kernel_key transposing(kernel_key key, bool in_runs) {
  key = gathering(key, false, in_runs);
  key.transposed = true;
  return key;
}

/// An image with a total of `pixels` pixels.
problem image_of(long pixels, int inputs, int outputs, int seed) {
  int const n = pixels % 2 == 0 ? 2 : 1, h = pixels / n % 3 == 0 ? 3 : 1;
  return {.in = {n, h, int(pixels / n / h), inputs}, .outputs = outputs, .seed = seed};
}

/// All numbers of pixels and channels around whole tiles and panels that the key allows, with K around the lanes.
template <kernel_key K>
void check_extents() {
  random_numbers random(K.tile.pixels * 1000 + K.tile.vectors);
  int seed = 0;
  for (int depth : {1, 2, 3, 4, 7, 16, 17})
    for (int tiles : {0, 1, 2, 5})
      for (int panels : {0, 1, 3}) {
        int const pixels = tiles * K.tile.pixels + K.tile.pixels_left;
        int const outputs = panels + K.tile.vectors_left == 0 ? 0 : fitting_channels(K, panels, random);
        if (pixels == 0 || outputs == 0) continue;
        problem p = image_of(pixels, depth, outputs, ++seed);
        p.bias = random.below(4) > 0;
        p.norm = random.below(2) > 0;
        p.arena = random.below(2) > 0;
        p.broadcast = random.below(3) == 0;
        p.block = random.below(3) * random.below(2 * K.tile.pixels);
        p.source_gap = random.below(2) * random.below(20);
        p.destination_gap = random.below(2) * random.below(20);
        check<K>(p);
      }
}

template <isa I, int PIXELS, int CHANNELS>
void check_default(int depth) {
  constexpr register_tile tile = matrix_tile(I, {PIXELS, CHANNELS});
  check<pointwise_key<I>(tile, CHANNELS % lanes(I) != 0, op::relu6)>(image_of(PIXELS, depth, CHANNELS, depth));
}

TEST_CASE("a pointwise convolution computes every extent around its tiles") {
  on_every_isa([]<isa I>() { check_extents<pointwise_key<I>({4, 3, 3, 2}, true, op::relu6)>(); });
  on_isas_in_turn<3>([]<isa I>() { check_extents<pointwise_key<I>({7, 2, 1, 1}, true, op::add)>(); });
  on_machines_in_turn<0>([]<isa I>() { check_extents<pointwise_key<I>({4, 3, 0, 0}, false)>(); });
  on_machines_in_turn<1>([]<isa I>() { check_extents<pointwise_key<I>({6, 2, 5, 0}, true, op::add, op::relu)>(); });
  on_machines_in_turn<2>([]<isa I>() { check_extents<pointwise_key<I>({12, 1, 4, 0}, true)>(); });
  on_machines_in_turn<0>([]<isa I>() { check_extents<pointwise_key<I>({1, 4, 0, 1}, false)>(); });
  on_machines_in_turn<2>(
      []<isa I>() { check_extents<pointwise_key<I>({5, 2, 2, 1}, false, op::bias, op::add, op::batch_norm)>(); });
}

TEST_CASE("a pointwise convolution that loads halves computes every extent around its tiles") {
  on_every_in_order([]<isa I>() {
    check_extents<in_order(pointwise_key<I>({7, 3, 6, 2}, true, op::relu6))>();
    check_extents<in_order(pointwise_key<I>({5, 4, 1, 1}, true, op::silu))>();
    check_extents<in_order(pointwise_key<I>({8, 2, 3, 0}, false, op::add))>();
    check_extents<in_order(pointwise_key<I>({14, 1, 7, 0}, true))>();
    check_extents<in_order(pointwise_key<I>({4, 5, 2, 3}, true))>();
  });
}

TEST_CASE("a pointwise convolution that copies blocks of its input first computes every extent around its tiles") {
  on_every_in_order([]<isa I>() {
    check_extents<gathering(in_order(pointwise_key<I>({7, 3, 6, 2}, true, op::relu6)), false, true)>();
    check_extents<gathering(in_order(pointwise_key<I>({5, 4, 1, 1}, true, op::silu)), true, false)>();
    check_extents<gathering(in_order(pointwise_key<I>({8, 2, 3, 0}, false, op::add)), true, true)>();
  });
}

TEST_CASE("a pointwise convolution of four pixels that transposes its input computes every extent around its panels") {
  on_every_in_order([]<isa I>() {
    check_extents<transposing(in_order(pointwise_key<I>({4, 5, 0, 1}, true, op::relu6)), true)>();
    check_extents<transposing(in_order(pointwise_key<I>({4, 4, 0, 3}, false, op::add)), false)>();
    check_extents<transposing(in_order(pointwise_key<I>({4, 2, 0, 0}, true, op::silu)), false)>();
  });
}

constexpr register_tile tile_of_epilogues{3, 2, 2, 1};

TEST_CASE("a pointwise convolution applies any epilogue") {
  on_machines_in_turn<0>(
      []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::clip, op::mul)>(); });
  on_machines_in_turn<1>(
      []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::tanh, op::batch_norm)>(); });
  if constexpr (!test::is_sanitized) {  // these only compute, as kernel/epilogue.cpp does with sanitizers
    on_machines_in_turn<2>(
        []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::hard_swish, op::leaky_relu)>(); });
    on_machines_in_turn<0>(
        []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::hard_sigmoid, op::bias)>(); });
    on_machines_in_turn<1>(
        []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::sigmoid, op::mul)>(); });
    on_machines_in_turn<2>([]<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::gelu)>(); });
    on_machines_in_turn<0>([]<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, false, op::gelu_tanh)>(); });
    on_machines_in_turn<1>(
        []<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, op::silu, op::add)>(); });
    on_machines_in_turn<2>([]<isa I>() { check_extents<pointwise_key<I>(tile_of_epilogues, true, user_stage)>(); });
  }
}

TEST_CASE("the default tile works for any extents") {
  on_every_isa([]<isa I>() {
    check_default<I, 29, 58>(24);
    check_default<I, 8, 4 * lanes(I) + 1>(7);
  });
  on_machines_in_turn<0>([]<isa I>() { check_default<I, 49, 1>(3); });
  on_machines_in_turn<1>([]<isa I>() { check_default<I, 13, 3>(16); });
  on_machines_in_turn<2>([]<isa I>() { check_default<I, 1, 17>(33); });
  on_machines_in_turn<0>([]<isa I>() { check_default<I, 30, 24>(5); });
  on_machines_in_turn<1>([]<isa I>() { check_default<I, 2, 116>(9); });
  on_machines_in_turn<2>([]<isa I>() { check_default<I, 196, 48>(31); });
  on_machines_in_turn<0>([]<isa I>() { check_default<I, 11, 4 * lanes(I) - 1>(7); });
  check_default<native_isa, 1, 1001>(64);
}

}  // namespace
