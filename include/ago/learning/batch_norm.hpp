// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch norm by the statistics of the batch (Ioffe and Szegedy, 2015), and its gradient. Deriving that from expressions
// gives the same, with sums over all pixels that cancel; it is therefore written down.
#pragma once

#include <ago/expression/gradient.hpp>
#include <ago/expression/notation.hpp>
#include <ago/expression/substitution.hpp>

namespace ago::learning::training_norm {

using expression::definition;
using expression::extents;
using expression::operand;
using expression::var;

/// An element of each channel, around which its moments are summed up: if it is any element, the square of its distance
/// from the mean is at most the number of elements times the variance, and typically as large as the variance, so that
/// little cancels (shifted data; Chan, Golub and LeVeque, 1983). From the first rows, so that they can be summed up
/// while the others are computed (partition::tiling::fold), but not from the border.
constexpr expression::scalar center(operand x, extents const& in, var& channel) {
  return x(0, in[1] > 1, in[2] / 2, channel);
}
/// Sums of each channel of x: of x - center, and of its square. One expression, so that x is read once.
constexpr definition moments(extents const& in) {
  return expression::compute("moments", [&](operand x) {
    var which{2}, n, h, w, c;
    expression::scalar const from_center = x(n, h, w, c) - center(x, in, c);
    return expression::result(which, c) =
               select(which == 0, sum(n, h, w)(from_center), sum(n, h, w)(from_center * from_center));
  })(in);
}
/// Mean and (biased) variance of each channel, given x and its moments.
constexpr definition statistics(extents const& in) {
  double const count = double(in.count()) / in[3];
  return expression::compute("statistics", [&](operand x, operand moments) {
    var which{2}, c;
    expression::scalar const mean = moments(0, c) * (1 / count), square = moments(1, c) * (1 / count);
    return expression::result(which, c) = select(which == 0, center(x, in, c) + mean, maximum(square - mean * mean, 0));
  })(in, extents(2, in[3]));
}
/// One of two values of each channel: of the statistics the mean (0) or the variance (1), of flow_sums the gradient of
/// beta (0).
constexpr definition one_of_two(int which, int channels) {
  return expression::compute("one_of_two", [&](operand both) {
    var c;
    return expression::result(c) = both(which, c);
  })(extents(2, channels));
}
/// What x is multiplied by, given variance and gamma ...
constexpr definition factor(int channels, double epsilon) {
  return expression::compute("factor", [&](operand variance, operand gamma) {
    var c;
    return expression::result(c) = rsqrt(variance(c) + epsilon) * gamma(c);
  })(extents(channels), extents(channels));
}
/// ... and what is added then, given mean, factor and beta.
constexpr definition summand(int channels) {
  return expression::compute("summand", [&](operand mean, operand factor, operand beta) {
    var c;
    return expression::result(c) = beta(c) - mean(c) * factor(c);
  })(extents(channels), extents(channels), extents(channels));
}
/// The result, given x, factor and summand.
constexpr definition scaled(extents const& in) {
  return expression::compute("batch_norm", [&](operand x, operand factor, operand summand) {
    var n, h, w, c;
    return expression::result(n, h, w, c) = x(n, h, w, c) * factor(c) + summand(c);
  })(in, extents(in[3]), extents(in[3]));
}

/// Sums of each channel, given x, mean and the result's gradient: of that gradient, and of it times (x - mean). One
/// expression, so that both are read once.
constexpr definition flow_sums(extents const& in) {
  return expression::compute("flow_sums", [&](operand x, operand mean, operand flow) {
    var which{2}, n, h, w, c;
    expression::scalar const all = sum(n, h, w)(flow(n, h, w, c));
    expression::scalar const centred = sum(n, h, w)(flow(n, h, w, c) * (x(n, h, w, c) - mean(c)));
    return expression::result(which, c) = select(which == 0, all, centred);
  })(in, extents(in[3]), in);
}
/// The gradient of gamma, given these sums and the variance.
constexpr definition of_gamma(int channels, double epsilon) {
  return expression::compute("of_gamma", [&](operand sums, operand variance) {
    var c;
    return expression::result(c) = sums(1, c) * rsqrt(variance(c) + epsilon);
  })(extents(2, channels), extents(channels));
}
/// -factor * (the second sum) / (pixels * (variance + epsilon)), given the three.
constexpr definition slope(extents const& in, double epsilon) {
  double const count = double(in.count()) / in[3];
  return expression::compute("slope", [&](operand factor, operand sums, operand variance) {
    var c;
    return expression::result(c) = factor(c) * sums(1, c) / ((variance(c) + epsilon) * -count);
  })(extents(in[3]), extents(2, in[3]), extents(in[3]));
}
/// -(factor * (the first sum) / pixels + mean * slope), given the four.
constexpr definition shift(extents const& in) {
  double const count = double(in.count()) / in[3];
  return expression::compute("shift", [&](operand factor, operand sums, operand mean, operand slope) {
    var c;
    return expression::result(c) = factor(c) * sums(0, c) * (-1 / count) - mean(c) * slope(c);
  })(extents(in[3]), extents(2, in[3]), extents(in[3]), extents(in[3]));
}
/// The gradient of x: factor * flow + slope * x + shift, given x, the three and flow.
constexpr definition of_value(extents const& in) {
  return expression::compute("of_value", [&](operand x, operand factor, operand slope, operand shift, operand flow) {
    var n, h, w, c;
    return expression::result(n, h, w, c) = flow(n, h, w, c) * factor(c) + (x(n, h, w, c) * slope(c) + shift(c));
  })(in, extents(in[3]), extents(in[3]), extents(in[3]), in);
}

/// The gradient that flows back through an activation of the result to the batch norm: given the activation's, x,
/// factor and summand.
constexpr definition gated_flow(definition const& activation, extents const& in) {
  definition const norm = scaled(in);
  definition r = expression::gradient_of(activation.expressions[0], 0);  // given operand, value and its gradient
  bool const reads_operand = reads_input(r, 0), reads_value = reads_input(r, 1);
  if (reads_value) r = substituted(r, 1, substituted(activation, 0, norm));
  if (reads_operand && reads_value) r = substituted(r, 0, norm, {2, 3, 4});
  else if (reads_operand) r = substituted(r, 0, norm);
  return r;
}
/// flow_sums and of_value of what gated_flow computes. Their inputs are followed by those of gated_flow that they do
/// not have anyhow.
constexpr definition gated_flow_sums(definition const& flow, extents const& in) {
  return substituted(flow_sums(in), 2, flow, {-1, 0});
}
constexpr definition gated_of_value(definition const& flow, extents const& in) {
  return substituted(of_value(in), 4, flow, {-1, 0, 1});
}

}  // namespace ago::learning::training_norm
