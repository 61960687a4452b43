// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operations of index expressions compute, on one register or one float.
#pragma once

#include <ago/expression/node_kind.hpp>
#include <ago/kernel/epilogue.hpp>

#include <limits>

namespace ago::kernel {

using expression::node_kind;

/// Chooses x where a comparison of a and b holds, elsewhere y.
template <node_kind K, isa I>
AGO_INLINE vec<I> where(vec<I> a, vec<I> b, vec<I> x, vec<I> y) {
  if constexpr (K == node_kind::less) return where_less(a, b, x, y);
  else if constexpr (K == node_kind::less_equal) return where_less_equal(a, b, x, y);
  else return where_equal(a, b, x, y);
}

/// A function, or an operation on two operands.
template <node_kind K, isa I>
AGO_INLINE vec<I> applied(vec<I> a, [[maybe_unused]] vec<I> b, [[maybe_unused]] vec<I> c) {
  using v = vec<I>;
  if constexpr (K == node_kind::add) return a + b;
  else if constexpr (K == node_kind::subtract) return a - b;
  else if constexpr (K == node_kind::multiply) return a * b;
  else if constexpr (K == node_kind::divide) return a / b;
  else if constexpr (K == node_kind::maximum) return combine<op::maximum>(a, b);
  else if constexpr (K == node_kind::minimum) return combine<op::minimum>(a, b);
  else if constexpr (K == node_kind::power) return power(a, b);
  else if constexpr (K == node_kind::less || K == node_kind::less_equal || K == node_kind::equal)
    return where<K>(a, b, v(1.f), v(0.f));
  else if constexpr (K == node_kind::select) return where_less(v(0.f), abs(a), b, where_nan(a, b, c));
  else if constexpr (K == node_kind::negate) return -a;
  else if constexpr (K == node_kind::absolute) return abs(a);
  else if constexpr (K == node_kind::exp) return exp(a);
  else if constexpr (K == node_kind::expm1) return expm1(a);
  else if constexpr (K == node_kind::log) return log(a);
  else if constexpr (K == node_kind::log1p) return log1p(a);
  else if constexpr (K == node_kind::sqrt) return sqrt(a);
  else if constexpr (K == node_kind::rsqrt) return v(1.f) / sqrt(a);
  else if constexpr (K == node_kind::erf) return erf(a);
  else if constexpr (K == node_kind::tanh) return tanh(a);
  else if constexpr (K == node_kind::sigmoid) return logistic(a);
  else if constexpr (K == node_kind::sin) return sin(a);
  else if constexpr (K == node_kind::cos) return cos(a);
  else if constexpr (K == node_kind::floor) return floor(a);
  else if constexpr (K == node_kind::ceil) return ceil(a);
  else return round_to_even(a);
}

/// The value of a fold over nothing.
template <node_kind K>
inline constexpr float fold_start = K == node_kind::product      ? 1.f
                                    : K == node_kind::maximum_of ? -std::numeric_limits<float>::infinity()
                                    : K == node_kind::minimum_of ? std::numeric_limits<float>::infinity()
                                                                 : 0.f;

/// Adds x to a fold. Whether the maximum of a NaN and another number is NaN is not specified, as in pooling.
template <node_kind K, isa I>
AGO_INLINE vec<I> folded(vec<I> sum, vec<I> x) {
  if constexpr (K == node_kind::product) return sum * x;
  else if constexpr (K == node_kind::maximum_of) return max(sum, x);
  else if constexpr (K == node_kind::minimum_of) return min(sum, x);
  else return sum + x;
}

}  // namespace ago::kernel
