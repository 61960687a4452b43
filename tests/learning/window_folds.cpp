// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Depthwise convolutions in training, whose results are folded in registers: gradients compared with the executor in
// double precision, which moments that miss a pixel, or a wrong result, would change.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include "drawn/check.hpp"

namespace {

using namespace ago;

/// L2 holds a few rows of the values; those of eight images of 20x24 pixels of 32 channels exceed L3.
template <int Images>
constexpr training with_small_caches{.batch = Images,
                                     .program = {.device = {.l1_bytes = 16 << 10, .l2_bytes = 40 << 10}}};

/// Two convolutions of values that are made on the way.
constexpr auto two(depthwise first, depthwise second) {
  return [=](tensor x) {
    return x | pointwise{.out = 32} | batch_norm{} | relu6{} | first | batch_norm{} | relu{} | second | batch_norm{};
  };
}
/// Windows that reach over every border, by one to three pixels, or over none; strides in one direction and in both.
constexpr auto usual = two({.kernel = 3, .pad = 1}, {.kernel = 3, .stride = 2, .pad = 1});
constexpr auto outside = two({.kernel = {2, 3}, .pad = pads{2, 3, 1, 0}}, {.kernel = 2, .stride = 2});
/// The first one reads memory; parts of a register of channels.
constexpr auto odd = [](tensor x) {
  return x | depthwise{.kernel = {3, 2}, .stride = {1, 2}, .pad = pads{0, 1, 2, 2}} | batch_norm{} | relu6{} |
         depthwise{.kernel = {1, 3}, .stride = {1, 2}, .pad = {0, 1}} | batch_norm{};
};
template <int H, int W, int C, auto const& Layers>
constexpr auto net = input{.h = H, .w = W, .c = C} | Layers | global_avg_pool{} | linear{5};
template <int H, int W, int C, auto const& Layers, int Images>
using trained = trainer<net<H, W, C, Layers>, mean_squared_error, sgd, with_small_caches<Images>>;

/// The steps that fold results of windows in registers, and of these those that store them past the caches.
struct counts {
  int all = 0, streamed = 0;
  bool operator==(counts const&) const = default;
};
template <class Program>
constexpr counts folds() {
  counts r;
  for (int k = 0; k < Program::steps; ++k) {
    if (Program::tiling_of(k).how != partition::tiling::fold) continue;
    int const first = Program::first_part(k), parts = Program::first_part(k + 1) - first;
    auto const key = [&](int i) { return Program::plan.steps[first + i].key; };
    bool const here = kernel::folds_windows(plan::pipeline_key(partition::tiling::fold, parts, key));
    r.all += here;
    r.streamed += here && key(parts - 1).made_operand >= 0;
  }
  return r;
}
constexpr int here = ir::lanes(native_isa) == 16;

}  // namespace

TEST_CASE("results of windows of every kind are folded in registers, and gradients are right") {
  CHECK(folds<trained<21, 23, 3, outside, 4>::program>() == counts{2 * here, 0});
  CHECK(drawn::check<trained<21, 23, 3, outside, 4>>() == 0);
  CHECK(folds<trained<20, 25, 35, odd, 8>::program>() == counts{2 * here, 0});
  CHECK(drawn::check<trained<20, 25, 35, odd, 8>>() == 0);
}

TEST_CASE("results of windows that exceed L3 are stored past the caches") {
  int const streamed = here && ir::has_streaming_stores(native_isa);
  CHECK(folds<trained<20, 24, 3, usual, 8>::program>() == counts{2 * here, streamed});
  CHECK(drawn::check<trained<20, 24, 3, usual, 8>>() == 0);
}
