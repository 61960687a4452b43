// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch norm by the statistics of the batch (Ioffe and Szegedy, 2015), and its gradient. Deriving that from expressions
// gives the same, with sums over all pixels that cancel; it is therefore written down.
#pragma once

#include <ago/expression/notation.hpp>

namespace ago::detail::training_norm {

using expression::definition;
using expression::extents;
using expression::operand;
using expression::var;

/// The mean of each channel of x.
constexpr definition mean(extents const& in) {
  double const count = double(in.count()) / in[3];
  return expression::compute("mean", [&](operand x) {
    var n, h, w, c;
    return expression::result(c) = sum(n, h, w)(x(n, h, w, c)) / count;
  })(in);
}
/// The (biased) variance of each channel of x, given the mean.
constexpr definition variance(extents const& in) {
  double const count = double(in.count()) / in[3];
  return expression::compute("variance", [&](operand x, operand mean) {
    var n, h, w, c;
    expression::scalar const centred = x(n, h, w, c) - mean(c);
    return expression::result(c) = sum(n, h, w)(centred * centred) / count;
  })(in, extents(in[3]));
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

/// The gradient of beta: the sum of the result's.
constexpr definition flow_sum(extents const& in) {
  return expression::compute("flow_sum", [&](operand flow) {
    var n, h, w, c;
    return expression::result(c) = sum(n, h, w)(flow(n, h, w, c));
  })(in);
}
/// The sum of the result's gradient times (x - mean), given these three.
constexpr definition centred_sum(extents const& in) {
  return expression::compute("centred_sum", [&](operand flow, operand x, operand mean) {
    var n, h, w, c;
    return expression::result(c) = sum(n, h, w)(flow(n, h, w, c) * (x(n, h, w, c) - mean(c)));
  })(in, in, extents(in[3]));
}
/// The gradient of gamma, given that sum and the variance.
constexpr definition of_gamma(int channels, double epsilon) {
  return expression::compute("of_gamma", [&](operand centred, operand variance) {
    var c;
    return expression::result(c) = centred(c) * rsqrt(variance(c) + epsilon);
  })(extents(channels), extents(channels));
}
/// -factor * centred_sum / (pixels * (variance + epsilon)), given the three.
constexpr definition slope(extents const& in, double epsilon) {
  double const count = double(in.count()) / in[3];
  return expression::compute("slope", [&](operand factor, operand centred, operand variance) {
    var c;
    return expression::result(c) = factor(c) * centred(c) / ((variance(c) + epsilon) * -count);
  })(extents(in[3]), extents(in[3]), extents(in[3]));
}
/// -(factor * flow_sum / pixels + mean * slope), given the four.
constexpr definition shift(extents const& in) {
  double const count = double(in.count()) / in[3];
  return expression::compute("shift", [&](operand factor, operand flow, operand mean, operand slope) {
    var c;
    return expression::result(c) = factor(c) * flow(c) * (-1 / count) - mean(c) * slope(c);
  })(extents(in[3]), extents(in[3]), extents(in[3]), extents(in[3]));
}
/// The gradient of x: factor * flow + slope * x + shift, given flow, x and the three.
constexpr definition of_value(extents const& in) {
  return expression::compute("of_value", [&](operand flow, operand x, operand factor, operand slope, operand shift) {
    var n, h, w, c;
    return expression::result(n, h, w, c) = flow(n, h, w, c) * factor(c) + (x(n, h, w, c) * slope(c) + shift(c));
  })(in, in, extents(in[3]), extents(in[3]), extents(in[3]));
}

}  // namespace ago::detail::training_norm
