// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers of a capsule network up to its primary capsules (Sabour, Frosst, Hinton, 2017), for images of 28x28.
#include "registry.hpp"

#include <ago/expression/notation.hpp>

using namespace ago::expression;

/// 32 types of capsules with poses of 8 numbers: [image, type, row, column, number].
static constexpr auto capsules = compute("capsules", [](operand x, weights parameter) {
  operand const weight = parameter("weight", 32, 8, x.extent(3), 9, 9);
  var b, k, p, q, j, c, r, s;
  return result(b, k, p, q, j) = sum(c, r, s)(x(b, 2 * p + r, 2 * q + s, c) * weight(k, j, c, r, s));
});

/// Shortens poses to lengths below 1: x * |x| / (1 + |x|^2).
static constexpr auto squash = compute("squash", [](operand x) {
  var b, k, p, q, j;
  operand const square = result(b, k, p, q) = sum(j)(x(b, k, p, q, j) * x(b, k, p, q, j));
  operand const scale = result(b, k, p, q) = sqrt(square(b, k, p, q) + 1e-9) / (1 + square(b, k, p, q));
  return result(b, k, p, q, j) = x(b, k, p, q, j) * scale(b, k, p, q);
});

static constexpr auto flat = compute("flat", [](operand x) {
  int const p = x.extent(2), q = x.extent(3), j = x.extent(4);
  var b, i{x.extent(1) * p * q * j};
  return result(b, i) = x(b, i / (p * q * j), i / (q * j) % p, i / j % q, i % j);
});

static constexpr auto primary_capsules = ago::input{.h = 28, .w = 28, .c = 1} |
                                         ago::conv2d{.out = 256, .kernel = 9, .bias = true} | ago::relu{} | capsules |
                                         squash | flat;

static bool const entered[] = {
    bench::add_training<primary_capsules, AGO_TRAINING_BATCH, ago::mean_squared_error>("primary_capsules"),
};
