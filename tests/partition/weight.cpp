// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graphs.hpp"

#include <ago/partition/weight.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace {

using ago::op;

TEST_CASE("the logarithm of every extent up to a million is accurate to 1e-9 and grows with the extent") {
  std::uint64_t last = 0, sum = 0;
  double worst = 0;
  CHECK(ago::partition::fixed_log(1) == 0);
  for (std::uint32_t n = 2; n <= 1'000'000; ++n) {
    std::uint64_t const l = ago::partition::fixed_log(n);
    worst = std::max(worst, std::abs(double(l) / 4294967296.0 - std::log(double(n))));
    REQUIRE(l > last);
    last = l;
    sum = sum * 31 + l;
  }
  CHECK(worst < 1e-9);
  CHECK(sum == 13841610234907067029u);  // bit-identical with every compiler and all flags
}

TEST_CASE("the logarithm is accurate up to the largest extent") {
  for (std::uint32_t n = 1'000'000; n < 2'147'000'000; n += n / 1000) {
    REQUIRE(std::abs(double(ago::partition::fixed_log(n)) / 4294967296.0 - std::log(double(n))) < 1e-9);
  }
  CHECK(std::abs(double(ago::partition::fixed_log(2'147'483'647)) / 4294967296.0 - std::log(2147483647.0)) < 1e-9);
}

long product(std::initializer_list<int> extents, ago::partition::weight_constants constants = {}) {
  return ago::partition::weight_of(extents.begin(), int(extents.size()), constants);
}

TEST_CASE("a weight is the product of the logarithms, in thousandths") {
  CHECK(product({1, 1000, 1280}) == 49422);
  CHECK(product({1, 64, 28, 28, 32, 3, 3}) == 193163);
  CHECK(product({}) == 1000);
  CHECK(product({1, 1, 1, 1}) == 1000);
  test::random r(7);
  for (int round = 0; round < 100'000; ++round) {
    int extents[7];
    double w = 1000;
    int const count = test::pick(r, 0, 7);
    for (int i = 0; i < count; ++i) {
      int const bits = test::pick(r, 1, 30);
      extents[i] = 1 + int(r() >> (32 - bits)) % 2'000'000'000;
      if (extents[i] > 1) w *= std::log(double(extents[i]));
    }
    REQUIRE(std::abs(double(ago::partition::weight_of(extents, count)) - w) <= 0.5 + w * 2e-8);
  }
}

TEST_CASE("Eq. (1) has a factor and a summand, and no operator is weightless") {
  CHECK(product({1000, 1280}, {.c = 2000}) == 98845);
  CHECK(product({1000, 1280}, {.b = 5}) == 49427);
  CHECK(product({1000, 1280}, {.c = 0, .b = 0}) == 1);
  CHECK(product({}, {.c = 2'000'000'001}) == 2'000'000'001);
  CHECK(product({2, 2, 2}, {.c = 1, .b = -7}) == 1);
}

template <int V, int E>
std::vector<int> loops(ago::ir::graph<V, E> const& g, int v) {
  auto const l = ago::partition::loops_of(g, v);
  return {l.extent, l.extent + l.count};
}

TEST_CASE("every operator has the right loops") {
  test::builder<40, 80> b;
  int const x = b.input({2, 14, 15, 96});
  ago::ir::window const w{.kernel_h = 3, .kernel_w = 5};
  ago::shape const out{2, 12, 13, 64};
  CHECK(loops(b.g, b.add({.kind = op::conv2d, .out = out, .win = w}, {x})) == std::vector{2, 64, 12, 13, 96, 3, 5});
  CHECK(loops(b.g, b.add({.kind = op::conv2d, .out = out, .win = w, .groups = 4}, {x})) ==
        std::vector{2, 64, 12, 13, 24, 3, 5});
  CHECK(loops(b.g, b.pointwise(x, 64)) == std::vector{2, 64, 14, 15, 96, 1, 1});
  CHECK(loops(b.g, b.add({.kind = op::depthwise, .out = out, .win = w}, {x})) == std::vector{2, 64, 12, 13, 3, 5});
  CHECK(loops(b.g, b.add({.kind = op::linear, .out = {2, 14, 15, 10}}, {x})) == std::vector{420, 10, 96});
  CHECK(loops(b.g, b.add({.kind = op::max_pool, .out = out, .win = w}, {x})) == std::vector{2, 64, 12, 13, 3, 5});
  CHECK(loops(b.g, b.add({.kind = op::avg_pool, .out = out, .win = w}, {x})) == std::vector{2, 64, 12, 13, 3, 5});
  CHECK(loops(b.g, b.add({.kind = op::global_avg_pool, .out = {2, 1, 1, 96}}, {x})) ==
        std::vector{2, 96, 1, 1, 14, 15});
  CHECK(loops(b.g, b.add({.kind = op::global_max_pool, .out = {2, 1, 1, 96}}, {x})) ==
        std::vector{2, 96, 1, 1, 14, 15});
  for (op kind : {op::bias, op::batch_norm, op::relu, op::map, op::identity, op::to_nchw, op::from_nchw})
    CHECK(loops(b.g, b.unary(kind, x)) == std::vector{2, 96, 14, 15});
  CHECK(loops(b.g, b.binary(op::add, x, x)) == std::vector{2, 96, 14, 15});
  CHECK(loops(b.g, b.concat(x, x)) == std::vector{2, 192, 14, 15});
}

static_assert(ago::partition::fixed_log(2) == 2977044471 && ago::partition::fixed_log(1280) == 30728838972);

}  // namespace
