// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradients of convolutions with a window for each channel that one pass computes, compared with the executor in
// double precision.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include <utility>

#include "drawn/check.hpp"

namespace {

using namespace ago;

/// L2 holds a few rows of the values; those of eight images of 20x24 pixels of 32 channels exceed L3.
template <int Images>
constexpr training with_small_caches{.batch = Images,
                                     .program = {.device = {.l1_bytes = 16 << 10, .l2_bytes = 40 << 10}}};

/// Two convolutions of values that are folded.
template <int Channels>
constexpr auto two(depthwise first, depthwise second) {
  return [=](tensor x) {
    return x | pointwise{.out = Channels} | batch_norm{} | relu6{} | first | batch_norm{} | relu{} | second |
           batch_norm{};
  };
}
/// Windows that reach over every border, by one or two pixels, and over none; strides in one direction and in both;
/// whole registers of channels, and a part of one.
constexpr auto usual = two<35>({.kernel = 3, .pad = 1}, {.kernel = 3, .stride = 2, .pad = 1});
constexpr auto spread = two<32>({.kernel = 2, .pad = 1, .dilation = 2}, {.kernel = 3});
constexpr auto odd =
    two<35>({.kernel = 2, .pad = pads{1, 0, 0, 1}}, {.kernel = {1, 3}, .stride = {1, 2}, .pad = {0, 1}});
constexpr auto large = two<32>({.kernel = 3, .pad = 1}, {.kernel = 3, .stride = 2, .pad = 1});
constexpr auto others = two<32>({.kernel = 5, .pad = 2}, {.kernel = 3, .stride = 2, .pad = 1});
template <int H, int W, auto const& Layers>
constexpr auto net = input{.h = H, .w = W, .c = 3} | Layers | global_avg_pool{} | linear{5};
template <int H, int W, auto const& Layers, int Images>
using trained = trainer<net<H, W, Layers>, mean_squared_error, sgd, with_small_caches<Images>>;

/// The pairs of steps that one pass computes, which stores the gradient of the input past the caches, or not.
template <class Program>
constexpr int pairs(bool streaming) {
  int r = 0;
  for (int k = 1; k < Program::steps; ++k)
    if (Program::waits_of(k) == waits::nothing)
      r += streaming == (Program::plan.steps[Program::first_part(k) - 1].key.made_operand >= 0);
  return r;
}
constexpr bool has_registers = ir::vector_registers(native_isa) == 32;

}  // namespace

TEST_CASE("the gradients of windows of every kind are computed in one pass, and right") {
  CHECK(pairs<trained<20, 24, usual, 4>::program>(false) == 2 * has_registers);
  CHECK(drawn::check<trained<20, 24, usual, 4>>() == 0);
  CHECK(pairs<trained<21, 23, spread, 4>::program>(false) == 2 * has_registers);
  CHECK(drawn::check<trained<21, 23, spread, 4>>() == 0);
  CHECK(pairs<trained<20, 24, odd, 4>::program>(false) == 2 * has_registers);
  CHECK(drawn::check<trained<20, 24, odd, 4>>() == 0);
}

TEST_CASE("a gradient of windows that exceeds L3 is stored past the caches") {
  CHECK(pairs<trained<20, 24, large, 8>::program>(true) == 2 * ir::has_streaming_stores(native_isa) * has_registers);
  CHECK(drawn::check<trained<20, 24, large, 8>>() == 0);
}

TEST_CASE("gradients of windows that do not fit in registers or in whole blocks are computed one after the other") {
  CHECK(pairs<trained<21, 23, others, 4>::program>(false) == 0);
  CHECK(drawn::check<trained<21, 23, others, 4>>() == 0);
}
