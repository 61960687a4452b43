// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cholesky factors of positive definite matrices, for the learned cost model.
#pragma once

#include <ago/requirements.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ago::tuner {

/// A = U' U, A symmetric and positive definite. All inner loops but one add a multiple of a row of U, so that no
/// iteration depends on the one before.
class cholesky {
 public:
  /// Factors an n x n matrix, given by its upper triangle in row-major order; false if it is not positive definite.
  bool set(std::vector<double> matrix, std::size_t n) {
    u_ = std::move(matrix), n_ = n;
    for (std::size_t k = 0; k < n; ++k) {
      if (!(at(k, k) > 0)) return false;
      double const root = std::sqrt(at(k, k));
      for (std::size_t j = k; j < n; ++j) at(k, j) /= root;
      for (std::size_t i = k + 1; i < n; ++i) {
        double const factor = at(k, i);
        for (std::size_t j = i; j < n; ++j) at(i, j) -= factor * at(k, j);
      }
    }
    return true;
  }
  /// x with U' x = b.
  std::vector<double> solve_lower(std::vector<double> b) const {
    for (std::size_t k = 0; k < n_; ++k) {
      double const x = b[k] /= at(k, k);
      for (std::size_t i = k + 1; i < n_; ++i) b[i] -= x * at(k, i);
    }
    return b;
  }
  /// x with U x = b.
  std::vector<double> solve_upper(std::vector<double> b) const {
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) b[i] -= at(i, k) * b[k];
      b[i] /= at(i, i);
    }
    return b;
  }
  /// ln sqrt(det A).
  double log_root_determinant() const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += std::log(at(i, i));
    return sum;
  }

 private:
  double& at(std::size_t i, std::size_t j) { return u_[i * n_ + j]; }
  double at(std::size_t i, std::size_t j) const { return u_[i * n_ + j]; }

  std::vector<double> u_;
  std::size_t n_ = 0;
};

}  // namespace ago::tuner
