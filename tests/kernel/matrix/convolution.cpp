// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/kernel/matrix/convolution.hpp>
#include <ago/kernel/matrix/schedule.hpp>

#include "kernel/matrix/support.hpp"

namespace {

using namespace matrix_test;

template <isa I, class... S>
constexpr kernel_key convolution_key(register_tile tile, bool partial, S... after) {
  return key_of<I>(structure::convolution, tile, partial, after...);
}

template <kernel_key K>
void check(problem const& p) {
  matrix_test::check(p, K, &convolution_kernel<K>::run, &pack_matrix<K.target>);
}

/// An image just large enough for the window, or a little larger.
int extent(random_numbers& random, int span, int pads) {
  int const least = span - pads < 1 ? 1 : span - pads;
  return least + random.below(12);
}

window random_window(random_numbers& random) {
  window w;
  w.kernel_h = random.below(6) == 0 ? 7 : random.between(1, 4);
  w.kernel_w = random.below(6) == 0 ? 7 : random.between(1, 4);
  w.stride_h = random.between(1, 3);
  w.stride_w = random.between(1, 3);
  if (random.below(3) == 0) w.dilation_h = random.between(1, 4);
  if (random.below(3) == 0) w.dilation_w = random.between(1, 4);
  auto const pad = [&](int span) { return random.below(3) == 0 ? 0 : random.below(span + 2); };
  w.pad_top = pad(w.span_h());
  w.pad_bottom = pad(w.span_h());
  w.pad_left = pad(w.span_w());
  w.pad_right = pad(w.span_w());
  return w;
}

/// A random problem that a kernel of `key` supports.
problem random_problem(kernel_key const& key, int seed) {
  random_numbers random(seed * 7919 + key.tile.pixels * 31 + key.tile.vectors);
  problem p{.in = {}, .outputs = 0, .win = random_window(random), .seed = seed};
  p.groups = random.below(3) == 0 ? random.between(2, 4) : 1;
  p.in = {random.between(1, 2), extent(random, p.win.span_h(), p.win.pad_top + p.win.pad_bottom),
          extent(random, p.win.span_w(), p.win.pad_left + p.win.pad_right), p.groups * random.between(1, 6)};
  p.outputs =
      p.groups * fitting_channels(key, key.tile.vectors_left > 0 ? random.below(2) : random.between(1, 2), random);
  p.block = random.below(4);
  draw_parameters_and_places(p, random);
  return p;
}

template <kernel_key K>
void check_random(int problems) {
  for (int seed = 1; seed <= problems; ++seed) check<K>(random_problem(K, seed));
}

/// A given window, with one vector of channels.
template <isa I>
void check_window(window const& w, shape in, int groups = 1, int outputs = lanes(I)) {
  constexpr kernel_key whole = convolution_key<I>({4, 1, 3, 0}, false),
                       partial = convolution_key<I>({4, 1, 3, 0}, true);
  problem const p{.in = in, .outputs = outputs * groups, .win = w, .groups = groups, .seed = 3};
  if (outputs % lanes(I) == 0) check<whole>(p);
  else check<partial>(p);
}

TEST_CASE("a convolution computes any window, stride, dilation, padding and group") {
  on_every_isa([]<isa I>() { check_random<convolution_key<I>({4, 3, 3, 2}, true, op::relu6)>(40); });
  on_isas_in_turn<3>([]<isa I>() { check_random<convolution_key<I>({7, 2, 1, 1}, true, op::add)>(40); });
  on_machines_in_turn<0>([]<isa I>() { check_random<convolution_key<I>({4, 3, 0, 0}, false)>(40); });
  on_machines_in_turn<1>(
      []<isa I>() { check_random<convolution_key<I>({6, 2, 5, 0}, true, op::bias, op::relu, op::batch_norm)>(40); });
  on_machines_in_turn<2>([]<isa I>() { check_random<convolution_key<I>({1, 1, 0, 0}, true)>(40); });
  on_machines_in_turn<0>([]<isa I>() { check_random<convolution_key<I>({3, 2, 2, 1}, false, op::add, op::relu)>(40); });
}

TEST_CASE("a convolution that prefetches its input reads and computes the same as one that does not") {
  on_every_isa([]<isa I>() {
    constexpr auto fetching = [](kernel_key key) {
      key.fetches_input = true;
      return key;
    };
    check_random<fetching(convolution_key<I>({4, 3, 3, 2}, true, op::relu6))>(40);
    check_random<fetching(convolution_key<I>({7, 1, 1, 0}, true, op::silu))>(40);
  });
}

TEST_CASE("a convolution that loads halves computes any window") {
  on_every_in_order([]<isa I>() {
    check_random<in_order(convolution_key<I>({4, 3, 3, 2}, true, op::relu6))>(40);
    check_random<in_order(convolution_key<I>({7, 3, 1, 0}, true, op::add))>(40);
  });
}

/// With the loop for rows of the window of `Columns` x `Channels` floats.
template <kernel_key K, int Columns, int Channels, bool InOrder = true>
void check_window_rows(int problems) {
  constexpr kernel_key key = [] {
    kernel_key k = InOrder ? in_order(K) : K;
    k.window_row = Columns * Channels;
    return k;
  }();
  for (int seed = 1; seed <= problems; ++seed) {
    random_numbers random(seed);
    problem p{.in = {}, .outputs = 0, .win = random_window(random), .seed = seed};
    p.win.kernel_w = Columns;
    p.win.dilation_w = random.between(1, 4) / 4 + 1;
    p.in = {random.between(1, 2), extent(random, p.win.span_h(), p.win.pad_top + p.win.pad_bottom),
            extent(random, p.win.span_w(), p.win.pad_left + p.win.pad_right) + random.below(9), Channels};
    p.outputs = fitting_channels(key, random.between(1, 2), random);
    p.block = random.below(4);
    draw_parameters_and_places(p, random);
    check<key>(p);
  }
}

TEST_CASE("a convolution of few channels reads rows of its window in one iteration") {
  on_every_in_order([]<isa I>() {
    check_window_rows<convolution_key<I>({5, 4, 1, 0}, false, op::relu6), 3, 3>(40);
    check_window_rows<convolution_key<I>({6, 3, 4, 1}, false, op::relu), 2, 3>(40);
    check_window_rows<convolution_key<I>({4, 2, 0, 0}, false), 3, 1>(40);
    check_window_rows<convolution_key<I>({3, 6, 1, 2}, false, op::relu), 3, 3, false>(40);
    check_window_rows<convolution_key<I>({9, 2, 0, 0}, true, op::relu6), 4, 1, false>(40);
  });
}

/// With `Pixels` pixels of a row computed as one, whose channels fill one vector, or a part of one.
template <int Pixels, kernel_key K>
void check_joined(int problems) {
  constexpr kernel_key key = [] {
    kernel_key k = K;
    k.joined_pixels = Pixels;
    return k;
  }();
  constexpr int width = lanes(K.target);
  if constexpr (width >= 2 * Pixels) {
    for (int seed = 1; seed <= problems; ++seed) {
      random_numbers random(seed * 31 + Pixels);
      problem p{.in = {}, .outputs = width / Pixels, .win = random_window(random), .seed = seed};
      if (K.partial) p.outputs = random.between(1, (width - 1) / Pixels);
      p.win.dilation_w = 1;
      int const pads = p.win.pad_left + p.win.pad_right, columns = Pixels * random.between(1, 9);
      int const in = (columns - 1) * p.win.stride_w + p.win.kernel_w - pads;
      p.in = {random.between(1, 2), extent(random, p.win.span_h(), p.win.pad_top + p.win.pad_bottom), in < 1 ? 1 : in,
              random.between(1, 6)};
      if (p.out().w % Pixels != 0) continue;
      p.block = random.below(4);
      draw_parameters_and_places(p, random);
      p.destination_gap = 0;
      check<key>(p);
    }
  }
}

TEST_CASE("a convolution of few channels computes several pixels as one") {
  on_every_isa([]<isa I>() {
    check_joined<2, convolution_key<I>({4, 1, 3, 0}, true, op::relu6)>(40);
    check_joined<3, convolution_key<I>({12, 1, 5, 0}, true, op::silu, op::relu)>(40);
    check_joined<4, convolution_key<I>({2, 1, 1, 0}, false)>(40);
  });
}

constexpr register_tile tile_of_epilogues{3, 1, 2, 0};

TEST_CASE("a convolution applies any epilogue") {
  on_machines_in_turn<0>(
      []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::clip, op::mul)>(6); });
  on_machines_in_turn<1>(
      []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::tanh, op::batch_norm)>(6); });
  if constexpr (!test::is_sanitized) {  // these only compute, as kernel/epilogue.cpp does with sanitizers
    on_machines_in_turn<2>(
        []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::hard_swish, op::leaky_relu)>(6); });
    on_machines_in_turn<0>(
        []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::hard_sigmoid, op::bias)>(6); });
    on_machines_in_turn<1>(
        []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::sigmoid, op::mul)>(6); });
    on_machines_in_turn<2>([]<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::gelu)>(6); });
    on_machines_in_turn<0>(
        []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, false, op::gelu_tanh)>(6); });
    on_machines_in_turn<1>(
        []<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, op::silu, op::add)>(6); });
    on_machines_in_turn<2>([]<isa I>() { check_random<convolution_key<I>(tile_of_epilogues, true, user_stage)>(6); });
  }
}

TEST_CASE("a convolution computes the windows of real networks") {
  on_every_machine([]<isa I>() {
    check_window<I>({3, 3, 2, 2, 1, 1, 1, 1, 1, 1}, {1, 23, 23, 3});  // stem
    check_window<I>({7, 7, 2, 2, 1, 1, 3, 3, 3, 3}, {1, 20, 21, 3});  // ResNet's stem
    check_window<I>({1, 1, 2, 2, 1, 1, 0, 0, 0, 0}, {2, 9, 10, 5});   // strided shortcut
    check_window<I>({1, 7, 1, 1, 1, 1, 0, 3, 0, 3}, {1, 6, 17, 4});   // Inception
    check_window<I>({7, 1, 1, 1, 1, 1, 3, 0, 3, 0}, {1, 17, 6, 4});
    check_window<I>({3, 3, 1, 1, 12, 12, 12, 12, 12, 12}, {1, 17, 17, 2});  // atrous pyramid: some columns have 2 taps
    check_window<I>({3, 3, 1, 1, 18, 18, 18, 18, 18, 18}, {1, 17, 17, 2});  // only the centre tap is inside
    check_window<I>({5, 5, 1, 1, 1, 1, 4, 4, 4, 4}, {1, 3, 2, 3});          // window larger than the image
    check_window<I>({3, 3, 2, 2, 1, 1, 0, 0, 1, 1}, {1, 8, 12, 3});         // asymmetric, as TensorFlow pads
    check_window<I>({2, 2, 3, 3, 1, 1, 5, 6, 7, 4}, {1, 3, 3, 3});          // windows wholly in the padding
    check_window<I>({3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 6, 5, 8}, 8, 1);    // one channel per group
    check_window<I>({3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 5, 6, 12}, 4, 3);
    check_window<I>({1, 1, 1, 1, 1, 1, 0, 0, 0, 0}, {1, 4, 7, 10}, 2, lanes(I));  // grouped 1x1
  });
}

TEST_CASE("the taps inside the image are those found by enumeration") {
  for (int kernel : {1, 2, 3, 5})
    for (int stride : {1, 2, 3})
      for (int dilation : {1, 2, 5})
        for (int pad : {0, 1, 4, 9})
          for (int size : {1, 2, 7, 12}) {
            kernel::conv_axis const axis{kernel, stride, dilation, pad, size};
            int const outputs = (size + 2 * pad + stride - 1) / stride;
            for (int o = 0; o < outputs; ++o) {
              bool agrees = true;
              for (int tap = 0; tap < kernel; ++tap) {
                int const at = o * stride - pad + tap * dilation;
                kernel::tap_range const range = axis.taps(o);
                agrees = agrees && (at >= 0 && at < size) == (tap >= range.first && tap < range.last);
              }
              CHECK(agrees);
              int end = o + 1;
              while (end < outputs && axis.taps(end) == axis.taps(o)) ++end;
              CHECK(axis.run_end(o, outputs) == end);
            }
          }
}

}  // namespace
