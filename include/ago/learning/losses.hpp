// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses: operators by index expressions on the results of a network and what they should be. A user's own loss is any
// operation of two operands whose result has one element:
//
//     inline constexpr auto squares = compute("squares", [](operand y, operand target) { ... });
#pragma once

#include <ago/expression/notation.hpp>

namespace ago::learning {

/// The mean of f(y, target) over all elements.
template <class F>
constexpr expression::definition mean_loss(char const* name, expression::extents const& y,
                                           expression::extents const& target, F const& f) {
  using namespace expression;
  return compute(name, [&](operand a, operand b) {
    var one{1}, n, h, w, c;
    return result(one) = sum(n, h, w, c)(f(a(n, h, w, c), b(n, h, w, c))) / double(y.count());
  })(y, target);
}

/// The mean over all pixels of -log softmax(y)[class], for logits y [n, h, w, classes] and the number of a class for
/// each pixel: PyTorch's CrossEntropyLoss. With `smoothing`, targets are (1 - smoothing) for the class plus smoothing /
/// classes for each.
struct cross_entropy_loss {
  double smoothing = 0;

  static constexpr bool takes_classes = true;
  constexpr expression::definition operator()(expression::extents const& logits,
                                              expression::extents const& classes) const {
    using namespace expression;
    return compute("cross_entropy", [&](operand x, operand label) {
      var one{1}, n, h, w, c;
      // The peak changes rounding only, so no gradient need flow through it.
      operand const peak = detached(result(n, h, w) = maximum(c)(x(n, h, w, c)));
      operand const total = result(n, h, w) = sum(c)(exp(x(n, h, w, c) - peak(n, h, w)));
      scalar loss = log(total(n, h, w)) + peak(n, h, w) - (1 - smoothing) * x(n, h, w, label(n, h, w, 0));
      if (smoothing != 0) loss = loss - smoothing / logits[3] * sum(c)(x(n, h, w, c));
      return result(one) = sum(n, h, w)(loss) / double(classes.count());
    })(logits, classes);
  }
};
inline constexpr cross_entropy_loss cross_entropy{};

/// The mean of (y - target)^2.
struct mean_squared_error_loss {
  constexpr expression::definition operator()(expression::extents const& y, expression::extents const& target) const {
    return mean_loss("mean_squared_error", y, target,
                     [](expression::scalar a, expression::scalar b) { return (a - b) * (a - b); });
  }
};
inline constexpr mean_squared_error_loss mean_squared_error{};

/// The mean of |y - target|.
struct mean_absolute_error_loss {
  constexpr expression::definition operator()(expression::extents const& y, expression::extents const& target) const {
    return mean_loss("mean_absolute_error", y, target,
                     [](expression::scalar a, expression::scalar b) { return abs(a - b); });
  }
};
inline constexpr mean_absolute_error_loss mean_absolute_error{};

/// The mean of d^2 / 2 where d = |y - target| is at most delta, and of delta (d - delta / 2) elsewhere: PyTorch's
/// HuberLoss.
struct huber_loss {
  double delta = 1;

  constexpr expression::definition operator()(expression::extents const& y, expression::extents const& target) const {
    double const limit = delta;
    return mean_loss("huber", y, target, [=](expression::scalar a, expression::scalar b) {
      expression::scalar const d = abs(a - b);
      return select(d <= limit, d * d * .5, limit * (d - .5 * limit));
    });
  }
};
inline constexpr huber_loss huber{};

/// The mean of -(target log p + (1 - target) log(1 - p)) for p = sigmoid(y), without overflow: PyTorch's
/// BCEWithLogitsLoss.
struct binary_cross_entropy_loss {
  constexpr expression::definition operator()(expression::extents const& y, expression::extents const& target) const {
    return mean_loss("binary_cross_entropy", y, target, [](expression::scalar a, expression::scalar b) {
      return maximum(a, 0) - a * b + log1p(exp(-abs(a)));
    });
  }
};
inline constexpr binary_cross_entropy_loss binary_cross_entropy{};

/// Is the target of a loss the number of a class for each pixel, not a value of the result's shape?
template <class Loss>
constexpr bool takes_classes() {
  if constexpr (requires { Loss::takes_classes; }) return Loss::takes_classes;
  else return false;
}

}  // namespace ago::learning

namespace ago {
using learning::binary_cross_entropy;
using learning::binary_cross_entropy_loss;
using learning::cross_entropy;
using learning::cross_entropy_loss;
using learning::huber;
using learning::huber_loss;
using learning::mean_absolute_error;
using learning::mean_squared_error;
}  // namespace ago
