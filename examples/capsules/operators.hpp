// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of a capsule network. A capsule's pose is a 4x4 matrix, and its length the probability that what the
// capsule stands for is in the image. Poses are [image, type of capsule, row, column of the image, i, j].
#pragma once

#include <ago/expression/notation.hpp>

namespace capsules {

using namespace ago::expression;

/// Channels of an image [b, h, w, c], 16 for each type of capsule, as poses.
inline constexpr auto poses = compute("poses", [](operand x) {
  var b, t{x.extent(3) / 16}, h, w, i{4}, j{4};
  return result(b, t, h, w, i, j) = x(b, h, w, 16 * t + 4 * i + j);
});

/// A convolution whose elements are poses and whose products are those of matrices.
inline constexpr auto capsule_convolution = [](int types, int kernel, int stride) {
  return compute("capsule_convolution", [=](operand x, weights parameter) {
    operand const weight = parameter("weight", types, x.extent(1), kernel, kernel, 4, 4), bias = parameter("bias");
    var b, k, p, q, i, j, c, r, s, l;
    scalar const products = x(b, c, stride * p + r, stride * q + s, i, l) * weight(k, c, r, s, l, j);
    return result(b, k, p, q, i, j) = sum(c, r, s, l)(products) + bias(k, i, j);
  });
};

// [squash]
/// Shortens poses to lengths below 1: x * |x| / (1 + |x|^2).
inline constexpr auto squash = compute("squash", [](operand x) {
  var b, k, p, q, i, j;
  operand const square = result(b, k, p, q) = sum(i, j)(x(b, k, p, q, i, j) * x(b, k, p, q, i, j));
  operand const scale = result(b, k, p, q) = sqrt(square(b, k, p, q) + 1e-9) / (1 + square(b, k, p, q));
  return result(b, k, p, q, i, j) = x(b, k, p, q, i, j) * scale(b, k, p, q);
});
// [/squash]

/// Which pose each capsule n expects of each class k: votes [b, n, k, i, j].
inline constexpr auto votes = [](int classes) {
  return compute("votes", [=](operand x, weights parameter) {
    int const rows = x.extent(2), columns = x.extent(3), capsules = x.extent(1) * rows * columns;
    operand const weight = parameter("weight", capsules, classes, 4, 4);
    var b, n{capsules}, k, i, j, l;
    return result(b, n, k, i, j) =
               sum(l)(x(b, n / (rows * columns), n / columns % rows, n % columns, i, l) * weight(n, k, l, j));
  });
};

/// The poses of the classes before any routing: every capsule votes for all classes alike.
inline constexpr auto average = compute("average", [](operand vote) {
  var b, n, k, p{1}, q{1}, i, j;
  return result(b, k, p, q, i, j) = sum(n)(vote(b, n, k, i, j)) / vote.number(vote.extent(2));
});

/// How well the vote of each capsule agrees with the pose of each class: [b, n, k].
inline constexpr auto agreement = compute("agreement", [](operand vote, operand pose) {
  var b, n, k, i, j;
  return result(b, n, k) = sum(i, j)(vote(b, n, k, i, j) * pose(b, k, 0, 0, i, j));
});

/// Each capsule's votes, weighted by the softmax over classes of its logits [b, n, k].
inline constexpr auto route = compute("route", [](operand vote, operand logit) {
  var b, n, k, p{1}, q{1}, i, j;
  operand const peak = result(b, n) = maximum(k)(logit(b, n, k));
  operand const e = result(b, n, k) = exp(logit(b, n, k) - peak(b, n));
  operand const total = result(b, n) = sum(k)(e(b, n, k));
  operand const coupling = result(b, n, k) = e(b, n, k) / total(b, n);
  return result(b, k, p, q, i, j) = sum(n)(coupling(b, n, k) * vote(b, n, k, i, j));
});

/// The lengths of the classes' poses: [b, k].
inline constexpr auto lengths = compute("lengths", [](operand pose) {
  var b, k, i, j;
  return result(b, k) = sqrt(sum(i, j)(pose(b, k, 0, 0, i, j) * pose(b, k, 0, 0, i, j)) + 1e-9);
});

}  // namespace capsules
