// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of batch norms, and of their gradients, that are made while the values are computed of which they are: of every
// kernel that can do it, compared with the executor in double precision.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include "drawn/check.hpp"

namespace {

using namespace ago;

/// Caches that hold a few rows of the values.
constexpr device tiny{.l1_bytes = 16 << 10, .l2_bytes = 64 << 10};

constexpr auto mixed = [](tensor x) {
  tensor const y = x | conv2d{.out = 67, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} |
                   pointwise{.out = 75} | batch_norm{} | relu{};
  tensor const z = y | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu6{} | pointwise{.out = 75} | batch_norm{};
  return (y + z) | depthwise{.kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{} | pointwise{.out = 90} |
         batch_norm{} | relu6{};
};
constexpr auto net = input{.h = 20, .w = 44, .c = 3} | mixed | global_avg_pool{} | linear{5};
/// Its values are more than eight of the small L2.
constexpr auto tall_net = input{.h = 88, .w = 44, .c = 3} | mixed | global_avg_pool{} | linear{5};
using tall_trainer = trainer<tall_net, mean_squared_error, sgd, training{.batch = 2, .program = {.device = tiny}}>;
template <class Device>
using trainer_on = trainer<net, mean_squared_error, sgd, training{.batch = 2, .program = {.device = Device::value}}>;

struct small_caches {
  static constexpr device value = tiny;
};
struct large_caches {
  static constexpr device value{.l1_bytes = 64 << 20, .l2_bytes = 64 << 20};
};

/// A product of the channels of every pixel, from right to left so that it is no convolution, of which 64 KB are less
/// than the rows from which moments take their center.
constexpr auto mirrored = expression::compute("mirrored", [](expression::operand x, expression::weights parameter) {
  expression::operand const weight = parameter("weight");
  expression::var n, h, w, c, k{200};
  return expression::result(n, h, w, k) = expression::sum(c)(x(n, h, 119 - w, c) * weight(k, c));
});
constexpr auto wide_net = input{.h = 3, .w = 120, .c = 4} | mirrored | batch_norm{} | global_avg_pool{} | linear{5};
template <int Batch>
using wide_trainer = trainer<wide_net, mean_squared_error, sgd,
                             training{.batch = Batch, .program = {.device = {.l2_bytes = 256 << 10}}}>;

/// The folds of a program whose values are computed by the kernels that has(key, layout) selects.
template <class Program>
constexpr int folds(auto const& has) {
  int r = 0;
  for (int k = 0; k < Program::steps; ++k)
    if (Program::tiling_of(k).how == partition::tiling::fold)
      r += has(Program::plan.steps[Program::first_part(k + 1) - 2].key);
  return r;
}
/// Those whose pixels are in scratch before they are stored.
template <class Program>
constexpr int streaming_folds(auto const& has) {
  int r = 0;
  for (int k = 0; k < Program::steps; ++k) {
    auto const* const end = Program::plan.steps + Program::first_part(k + 1);
    if (Program::tiling_of(k).how == partition::tiling::fold && end[-1].key.made_operand >= 0) r += has(end[-2].key);
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
  CHECK(folds<program>(is(plan::structure::depthwise)) == 1);
  CHECK(folds<program>(is(plan::structure::pointwise)) == 2);
  int of_batches = 0, of_products = 0, in_order = 0;
  folds<program>([&](plan::kernel_key const& key) {
    if (key.what != plan::structure::contraction) return 0;
    kernel::contraction_layout const l = kernel::layout_of_contraction(key);
    in_order += kernel::has_pixels_in_order(l, *key.described);
    ++(l.lanes_are_batches ? of_batches : of_products);
    return 1;
  });
  // With short registers, the product of the strided depthwise gradient has a layout without an order of pixels.
  int const strided = lanes(native_isa) >= 16;
  CHECK(of_batches == 1 + strided);
  CHECK(of_products >= 2);
  CHECK(in_order >= of_batches + 2);
  CHECK(drawn::check<trainer_on<small_caches>>() == 0);
}

TEST_CASE("the sums of a product begin when the rows are there from which they take their center") {
  CHECK(folds<wide_trainer<3>::program>(is(plan::structure::contraction)) >= 1);
  CHECK(drawn::check<wide_trainer<3>>() == 0);
}

TEST_CASE("values that no cache has room for are stored after they have been folded, with the same gradients") {
  using program = tall_trainer::program;
  static_assert(streaming_folds<trainer_on<small_caches>::program>(any) == 0);
  bool const streams = ir::has_streaming_stores(native_isa);
  CHECK(streaming_folds<program>(is(plan::structure::depthwise)) == streams);
  CHECK(streaming_folds<program>(is(plan::structure::contraction)) >= 3 * streams);
  CHECK(streaming_folds<program>(is(plan::structure::convolution)) == 0);  // these gain nothing
  CHECK(streaming_folds<program>(is(plan::structure::pointwise)) == 0);
  CHECK(drawn::check<tall_trainer>() == 0);
  CHECK(streaming_folds<wide_trainer<8>::program>(is(plan::structure::contraction)) >= streams);
  CHECK(drawn::check<wide_trainer<8>>() == 0);
}

TEST_CASE("values that stay in a cache anyway are folded afterwards, with the same gradients") {
  CHECK(folds<trainer_on<large_caches>::program>(any) == 0);
  CHECK(drawn::check<trainer_on<large_caches>>() == 0);
}
