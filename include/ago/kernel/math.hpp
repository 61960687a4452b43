// Functions for a user's map: `map{[](auto x) { return x * math::sigmoid(x); }}`.
#pragma once

#include <ago/kernel/simd.hpp>

/// Elementwise on one register. Named with their namespace, because layers have some of these names.
namespace ago::math {

template <isa I> AGO_INLINE vec<I> exp(vec<I> x) { return exp(x); }
template <isa I> AGO_INLINE vec<I> log(vec<I> x) { return log(x); }
template <isa I> AGO_INLINE vec<I> sqrt(vec<I> x) { return sqrt(x); }
template <isa I> AGO_INLINE vec<I> abs(vec<I> x) { return abs(x); }
template <isa I> AGO_INLINE vec<I> erf(vec<I> x) { return erf(x); }
template <isa I> AGO_INLINE vec<I> tanh(vec<I> x) { return tanh(x); }
template <isa I> AGO_INLINE vec<I> min(vec<I> a, vec<I> b) { return min(a, b); }
template <isa I> AGO_INLINE vec<I> max(vec<I> a, vec<I> b) { return max(a, b); }
/// 1 / (1 + exp(-x)).
template <isa I> AGO_INLINE vec<I> sigmoid(vec<I> x) { return logistic(x); }
/// Where a < b: x, elsewhere y.
template <isa I> AGO_INLINE vec<I> where_less(vec<I> a, vec<I> b, vec<I> x, vec<I> y) { return where_less(a, b, x, y); }

}  // namespace ago::math
