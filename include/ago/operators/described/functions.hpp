// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of `map` that the library defines, applied to elements of an index expression as kernels apply them to
// registers. A user's function is code, which has no description.
#pragma once

#include <ago/layers/activations.hpp>
#include <ago/layers/norms.hpp>
#include <ago/operators/described/parts.hpp>
#include <ago/passes/opening.hpp>

#include <type_traits>

namespace ago::expression {

// What the functions call, by the names that registers have for it.
constexpr scalar min(scalar const& a, scalar const& b) { return minimum(a, b); }
constexpr scalar max(scalar const& a, scalar const& b) { return maximum(a, b); }
constexpr scalar power(scalar const& a, scalar const& b) { return pow(a, b); }
constexpr scalar round_to_even(scalar const& a) { return round(a); }
constexpr scalar where_less(scalar const& a, scalar const& b, scalar const& x, scalar const& y) {
  return select(a < b, x, y);
}
constexpr scalar where_nan(scalar const& a, scalar const& x, scalar const& y) { return select(a == a, y, x); }

}  // namespace ago::expression

namespace ago::described {

template <auto const&... Functions>
struct function_list {
  /// The value of a map's function; lost if it is none of these.
  static constexpr scalar value_of(node const& n, scalar const& x) {
    scalar r = 0;
    bool const found =
        ((n.function == &user_map<std::remove_cvref_t<decltype(Functions)>> && (r = applied(Functions, n, x), true)) ||
         ...);
    return found ? r : scalar::lost();
  }

 private:
  template <class F>
  static constexpr scalar applied(F const& f, node const& n, scalar const& x) {
    if constexpr (requires { f(x, x, x); }) return f(x, scalar(n.alpha), scalar(n.beta));
    else if constexpr (requires { f(x, x); }) return f(x, scalar(n.alpha));
    else return f(x);
  }
};

constexpr scalar value_of(node const& n, scalar const& x) {
  using namespace ago::described;
  return function_list<tracing::elu_function, tracing::celu_function, tracing::softplus_function,
                       tracing::mish_function, tracing::softsign_function, tracing::affine_sigmoid_function,
                       tracing::threshold_function, tracing::shrink_function, tracing::affine_function,
                       tracing::power_function, tracing::negated, tracing::absolute_value, tracing::root,
                       tracing::inverse_root, tracing::squared, tracing::inverse, tracing::exponential_function,
                       tracing::exponential_minus_one, tracing::logarithm_function, tracing::logarithm_of_one_plus,
                       tracing::error_function_of, tracing::sine_function, tracing::cosine_function,
                       tracing::rounded_down, tracing::rounded_up, tracing::rounded, tracing::reciprocal_root_above,
                       tracing::root_at_least, gelu_inner_function, inverse_root_of_sum>::value_of(n, x);
}

}  // namespace ago::described
