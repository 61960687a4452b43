// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalised values and activations that the backward part computes again, and the forward part only a few rows at a
// time, because they would leave L2.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace ago;

/// Padded, strided and pointwise convolutions of normalised values, a sum that several operators read, and a mask.
inline constexpr auto net = trace(
    [](tensor x) {
      x = x | conv2d{.out = 20, .kernel = 3, .pad = 1} | batch_norm{} | relu6{};
      x = x | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu6{} | pointwise{12} | batch_norm{};
      tensor const y = x | pointwise{36} | batch_norm{} | hard_swish{} | depthwise{.kernel = 3, .pad = 1} |
                       batch_norm{} | leaky_relu{.slope = .1f} | pointwise{12} | batch_norm{};
      x = (x + y) | dropout{.25f} | pointwise{40} | batch_norm{} | relu{};
      x = x | depthwise{.kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu{} | pointwise{24} | batch_norm{} |
          relu{};
      return x | global_avg_pool{} | linear{5};
    },
    input{.h = 36, .w = 40, .c = 3});

constexpr options with_l2(long bytes) {
  options o;
  o.device.l2_bytes = bytes;
  return o;
}
template <long L2>
using trainer_with = ago::trainer<net, cross_entropy, sgd, training{.batch = 3, .program = with_l2(L2)}>;
using keeping = trainer_with<1 << 26>;
using again = trainer_with<1 << 16>;

template <class Trainer>
int pipelines(tiling how) {
  int r = 0;
  for (int k = 0; k < Trainer::steps; ++k) r += Trainer::program::tiling_of(k).how == how;
  return r;
}

/// Pipelines whose second part, an operator of this structure, prefetches what the first one reads next.
template <class Trainer>
int fetch_ahead(plan::structure what) {
  using program = typename Trainer::program;
  int r = 0;
  for (int k = 0; k < Trainer::steps; ++k) {
    int const first = program::first_part(k);
    plan::fused_key key{program::first_part(k + 1) - first};
    key.tiling = program::tiling_of(k).how;
    for (int i = 0; i < key.parts; ++i) key.part[i] = program::plan.steps[first + i].key;
    r += plan::fetches_ahead(key) && key.part[1].what == what;
  }
  return r;
}

}  // namespace

TEST_CASE("values that would leave L2 are computed again, as operands of their readers, and the arena shrinks") {
  using program = again::program;
  int elementwise_rows = 0;
  for (int k = 0; k < again::steps; ++k)
    if (tiling const how = program::tiling_of(k).how; how == tiling::rows || how == tiling::fold)
      elementwise_rows += program::plan.steps[program::first_part(k)].key.what == plan::structure::elementwise;
  CHECK(pipelines<keeping>(tiling::operand) == 0);
  CHECK(elementwise_rows >= 5);
  CHECK(pipelines<again>(tiling::operand) >= 6);
  CHECK(double(again::arena_bytes) < .75 * double(keeping::arena_bytes));
}

TEST_CASE("what elementwise operators read from memory is prefetched while the operator after them multiplies") {
  bool const by_hand = is_scheduled_by_hand(native_isa);  // which prefetches on its own
  CHECK((fetch_ahead<again>(plan::structure::depthwise) > 0) == !by_hand);
  CHECK((fetch_ahead<again>(plan::structure::pointwise) > 0) == !by_hand);
  CHECK(fetch_ahead<keeping>(plan::structure::depthwise) == 0);
  CHECK(fetch_ahead<keeping>(plan::structure::pointwise) == 0);
}

TEST_CASE("values that are computed again give the gradients of kept ones") {
  static keeping a{3};
  static again b{3};
  std::vector<float> images(keeping::input_size());
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = float(i * 37 % 101) / 50 - 1;
  int const classes[] = {4, 0, 3};
  auto const in = std::span(images).first<keeping::input_size()>();
  for (int step = 0; step < 3; ++step) {
    float const loss = a.backward(in, std::span(classes)), other = b.backward(in, std::span(classes));
    REQUIRE(a.status() == training_status::ok);
    REQUIRE(b.status() == training_status::ok);
    CHECK(std::fabs(loss - other) <= 1e-5f * std::fabs(loss));
    float largest = 0, apart = 0;
    for (std::size_t i = 0; i < keeping::gradient_count; ++i) {
      largest = std::max(largest, std::fabs(a.gradients()[i]));
      apart = std::max(apart, std::fabs(a.gradients()[i] - b.gradients()[i]));
    }
    CHECK(largest > .01f);
    bool const rounds_products = native_isa == isa::sse2 || native_isa == isa::sse42;  // 2.7e-4
    CHECK(apart <= (rounds_products ? 4e-4f : 2e-4f) * largest);
    a.update();
    std::ranges::copy(a.gradients(), b.gradients().begin());
    b.update();
  }
}
