// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the tests of the kernels of index expressions: operands in guarded memory, and the reference executor.
#pragma once

#include <ago/expression/evaluate.hpp>
#include <ago/kernel/contraction/choice.hpp>
#include <ago/kernel/nest/choice.hpp>

#include "support.hpp"

#include <algorithm>
#include <limits>

namespace expression_kernel_test {

using namespace ago;
using namespace ago::plan;
using expression::index_expression;

/// The operands of an expression: multiples of 1/8, so that sums of a few products of two are exact.
class operands {
 public:
  operands(index_expression const& e, unsigned seed) {
    test::numbers r(seed);
    for (int i = 0; i < e.operand_count; ++i) {
      auto const count = std::size_t(e.operands[i].count());
      floats_.push_back(std::make_unique<test::guarded>(count));
      doubles_.emplace_back(count);
      for (std::size_t k = 0; k < count; ++k)
        doubles_.back()[k] = double((*floats_.back())[k] = float(r.integer(-16, 16)) / 8);
    }
  }
  /// Changes what result() takes as operand i: element k of value x is f(x, k).
  void change(int i, auto const& f) {
    auto& all = doubles_[std::size_t(i)];
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = f(all[k], long(k));
  }
  float const* operator[](int i) const { return floats_[std::size_t(i)]->data(); }
  std::vector<double> result(index_expression const& e) const {
    std::vector<double const*> all;
    for (auto const& x : doubles_) all.push_back(x.data());
    std::vector<double> r(std::size_t(e.result.count()));
    evaluate(e, all.data(), r.data());
    return r;
  }

 private:
  std::vector<std::unique_ptr<test::guarded>> floats_;
  std::vector<std::vector<double>> doubles_;
};

/// The result with the last `inner` axes as channels.
constexpr shape shape_of(expression::extents const& e, int inner) {
  shape r;
  for (int i = 0; i < e.rank; ++i) (i + inner >= e.rank ? r.c : r.w) *= e.of[i];
  return r;
}

/// Ranges that cover 0 ... extent - 1: one, or several.
inline std::vector<index_range> ranges(int extent, test::numbers& r) {
  if (extent < 2 || r.integer(0, 1) == 0) return {{}};
  std::vector<index_range> all;
  for (int first = 0, last; first < extent; first = last) {
    last = std::min(extent, first + r.integer(1, extent));
    all.push_back({first, last});
  }
  return all;
}

/// Checks that `got` is `expected`, within relative and absolute errors of `tolerance`.
inline void compare(test::guarded const& got, std::vector<double> const& expected, double tolerance) {
  CHECK(got.intact());
  std::size_t wrong = 0, at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double const x = double(got[i]);
    bool const good = x == expected[i] || std::fabs(x - expected[i]) <= tolerance * (1 + std::fabs(expected[i]));
    if (!good && wrong++ == 0) at = i;
  }
  CAPTURE(at);
  CAPTURE(got[at]);
  CAPTURE(expected[at]);
  CHECK(wrong == 0);
}

}  // namespace expression_kernel_test
