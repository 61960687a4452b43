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
  using namespace ago::detail;
  return function_list<
      ago::detail::elu_function, ago::detail::celu_function, ago::detail::softplus_function, ago::detail::mish_function,
      ago::detail::softsign_function, ago::detail::affine_sigmoid_function, ago::detail::threshold_function,
      ago::detail::shrink_function, ago::detail::affine_function, ago::detail::power_function, ago::detail::negated,
      ago::detail::absolute_value, ago::detail::root, ago::detail::inverse_root, ago::detail::squared,
      ago::detail::inverse, ago::detail::exponential_function, ago::detail::exponential_minus_one,
      ago::detail::logarithm_function, ago::detail::logarithm_of_one_plus, ago::detail::error_function_of,
      ago::detail::sine_function, ago::detail::cosine_function, ago::detail::rounded_down, ago::detail::rounded_up,
      ago::detail::rounded, ago::detail::reciprocal_root_above, ago::detail::root_at_least, gelu_inner_function,
      inverse_root_of_sum>::value_of(n, x);
}

}  // namespace ago::described
