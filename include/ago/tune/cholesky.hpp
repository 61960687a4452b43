// Factors of positive definite matrices, as the learnt cost model needs them.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ago::tuner {

/// A = L L', A symmetric and positive definite.
class cholesky {
 public:
  /// Takes the lower triangle of an n x n matrix, rows first; false if it is not positive definite.
  bool set(std::vector<double> matrix, std::size_t n) {
    l_ = std::move(matrix), n_ = n;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        if (i != j) at(i, j) = sum / at(j, j);
        else if (sum > 0) at(i, i) = std::sqrt(sum);
        else return false;
      }
    return true;
  }
  /// x with L x = b.
  std::vector<double> solve_lower(std::vector<double> b) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= at(i, k) * b[k];
      b[i] /= at(i, i);
    }
    return b;
  }
  /// x with L' x = b.
  std::vector<double> solve_upper(std::vector<double> b) const {
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t k = i + 1; k < n_; ++k) b[i] -= at(k, i) * b[k];
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
  double& at(std::size_t i, std::size_t j) { return l_[i * n_ + j]; }
  double at(std::size_t i, std::size_t j) const { return l_[i * n_ + j]; }

  std::vector<double> l_;
  std::size_t n_ = 0;
};

}  // namespace ago::tuner
