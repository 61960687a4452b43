// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value of the graph in double precision, with an estimate of float32's error.
#pragma once

#include <ago/ir/shape.hpp>

#include <cmath>
#include <vector>

namespace reference {

/// The unit roundoff of float32.
inline constexpr double roundoff = 0x1p-24;

/// A value of the graph: NHWC, but channel-first for inputs of from_nchw and results of to_nchw.
/// `error` is an estimate, for every element, of the deviation of a float32 computation, by a running error analysis
/// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3): the roundings of a dot product count as
/// independent, so their squares are added; those of everything else are added in magnitude. It is not a bound: compare
/// with a multiple of it.
struct value {
  ago::shape extents{};
  std::vector<double> exact{}, error{};

  long index(int n, int y, int x, int c) const { return ((long(n) * extents.h + y) * extents.w + x) * extents.c + c; }
};

namespace detail {

/// A sum of products, and the spread of its float32 evaluation.
struct accumulator {
  double sum = 0, variance = 0;
  void add(double weight, double x, double error_of_x) { add_term(weight * x, weight * error_of_x); }
  void add_product(double x, double error_of_x, double y, double error_of_y) {
    add_term(x * y, std::hypot(x * error_of_y, y * error_of_x));
  }
  double error() const { return std::sqrt(variance); }

 private:
  void add_term(double term, double carried) {
    sum += term;
    variance += carried * carried + roundoff * roundoff * (2 * term * term + sum * sum);
  }
};

/// out = factor * sum
inline void store(accumulator const& acc, double factor, value& out, long at) {
  out.exact[std::size_t(at)] = factor * acc.sum;
  out.error[std::size_t(at)] =
      std::abs(factor) * acc.error() + (factor == 1 ? 0 : roundoff * std::abs(factor * acc.sum));
}

}  // namespace detail

}  // namespace reference
