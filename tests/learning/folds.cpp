// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of batch norms, and of their gradients, that are made while the values are computed of which they are: of every
// kernel that can do it, compared with the executor in double precision.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "drawn/check.hpp"

namespace {

using namespace ago;

/// L2 holds a few rows of the values; those of four images of 22x22 pixels of 43 channels exceed L3.
struct small_caches {
  static constexpr device value{.l1_bytes = 16 << 10, .l2_bytes = 40 << 10};
  static constexpr int images = 4;
};
struct large_caches {
  static constexpr device value{.l1_bytes = 64 << 20, .l2_bytes = 64 << 20};
  static constexpr int images = 2;
};

constexpr auto mixed = [](tensor x) {
  tensor const y = x | conv2d{.out = 35, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} |
                   pointwise{.out = 43} | batch_norm{} | relu{};
  tensor const z = y | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu6{} | pointwise{.out = 43} | batch_norm{};
  return (y + z) | depthwise{.kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} | pointwise{.out = 50} |
         batch_norm{} | relu6{};
};
constexpr auto net = input{.h = 44, .w = 44, .c = 3} | mixed | global_avg_pool{} | linear{5};
template <class Device>
using trainer_on =
    trainer<net, mean_squared_error, sgd, training{.batch = Device::images, .program = {.device = Device::value}}>;

/// A product of the channels of every pixel, from right to left so that it is no convolution, of which 128 KB are less
/// than the rows from which moments take their center.
constexpr auto mirrored = expression::compute("mirrored", [](expression::operand x, expression::weights parameter) {
  expression::operand const weight = parameter("weight");
  expression::var n, h, w, c, k{200};
  return expression::result(n, h, w, k) = expression::sum(c)(x(n, h, 119 - w, c) * weight(k, c));
});
constexpr auto wide_net = input{.h = 3, .w = 120, .c = 4} | mirrored | batch_norm{} | global_avg_pool{} | linear{5};
using wide_trainer =
    trainer<wide_net, mean_squared_error, sgd, training{.batch = 8, .program = {.device = {.l2_bytes = 256 << 10}}}>;

/// The folds of a program whose values are computed by the kernels that has(key) selects: all, or those whose pixels
/// are in scratch before they are stored past the caches.
template <class Program>
constexpr int folds(auto const& has, bool streaming = false) {
  int r = 0;
  for (int k = 0; k < Program::steps; ++k) {
    auto const* const end = Program::plan.steps + Program::first_part(k + 1);
    bool const counts = Program::tiling_of(k).how == partition::tiling::fold;
    if (counts && (!streaming || end[-1].key.made_operand >= 0)) r += has(end[-2].key);
  }
  return r;
}
constexpr auto any = [](plan::kernel_key const&) { return true; };
constexpr auto is = [](plan::structure what) {
  return [what](plan::kernel_key const& key) { return key.what == what; };
};

}  // namespace

TEST_CASE("every kernel that computes pixels in their order has them folded meanwhile, and gradients are right") {
  using program = trainer_on<small_caches>::program;
  CHECK(folds<program>(is(plan::structure::convolution)) == 1);
  CHECK(folds<program>(is(plan::structure::depthwise)) == 2);
  CHECK(folds<program>(is(plan::structure::pointwise)) == 2);
  int of_batches = 0, of_products = 0, in_order = 0;
  auto const count = [&](plan::kernel_key const& key) {
    if (key.what != plan::structure::contraction) return 0;
    kernel::contraction_layout const l = kernel::layout_of_contraction(key);
    in_order += kernel::has_pixels_in_order(l, *key.described);
    ++(l.lanes_are_batches ? of_batches : of_products);
    return 1;
  };
  folds<program>(count);
  // With short registers, the product of the strided depthwise gradient has a layout without an order of pixels.
  int const strided = lanes(native_isa) >= 16;
  CHECK(of_batches == 1 + strided);
  CHECK(of_products >= 2);
  CHECK(in_order >= of_batches + 2);

  bool const streams = ir::has_streaming_stores(native_isa);
  of_batches = of_products = 0;
  folds<program>(count, true);
  CHECK(of_batches == (1 + strided) * streams);
  CHECK(of_products >= streams);
  CHECK(folds<program>(is(plan::structure::depthwise), true) == streams);
  CHECK(folds<program>(is(plan::structure::convolution), true) == 0);  // these gain nothing
  CHECK(folds<program>(is(plan::structure::pointwise), true) == 0);
  CHECK(drawn::check<trainer_on<small_caches>>() == 0);
}

TEST_CASE("the sums of a product begin when the rows are there from which they take their center") {
  CHECK(folds<wide_trainer::program>(is(plan::structure::contraction)) >= 1);
  CHECK(folds<wide_trainer::program>(is(plan::structure::contraction), true) >= ir::has_streaming_stores(native_isa));
  CHECK(drawn::check<wide_trainer>() == 0);
}

TEST_CASE("values that stay in a cache anyway are folded afterwards, with the same gradients") {
  CHECK(folds<trainer_on<large_caches>::program>(any) == 0);
  CHECK(drawn::check<trainer_on<large_caches>>() == 0);
}
