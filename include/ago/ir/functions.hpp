// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of `map` that the library defines, of registers, or of anything else that has exp, log1p, ... by
// argument-dependent lookup. Numbers that come with an operator have its type.
#pragma once

#include <ago/requirements.hpp>

#include <type_traits>

namespace ago::ir {

inline constexpr auto elu_function = [](auto x, auto alpha, auto gamma) {
  return where_less(x, decltype(x)(0.f), alpha * expm1(min(decltype(x)(0.f), x)), x) * gamma;
};
inline constexpr auto celu_function = [](auto x, auto alpha) {
  return where_less(x, decltype(x)(0.f), alpha * expm1(min(decltype(x)(0.f), x) / alpha), x);
};
inline constexpr auto softplus_function = [](auto x) {  // log(1 + exp(x)), which approaches x for large x
  return max(decltype(x)(0.f), x) + log1p(exp(-abs(x)));
};
inline constexpr auto mish_function = [](auto x) {  // tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), e = exp(x)
  auto const e = exp(min(decltype(x)(20.f), x)), t = e * (e + decltype(x)(2.f));
  return x * (t / (t + decltype(x)(2.f)));
};
inline constexpr auto softsign_function = [](auto x) { return x / (decltype(x)(1.f) + abs(x)); };
inline constexpr auto affine_sigmoid_function = [](auto x, auto alpha, auto beta) {
  return min(decltype(x)(1.f), max(decltype(x)(0.f), x * alpha + beta));
};
inline constexpr auto threshold_function = [](auto x, auto alpha, auto value) {
  return where_less(alpha, x, x, where_nan(x, x, value));
};
inline constexpr auto shrink_function = [](auto x, auto lambda, auto bias) {
  return where_less(x, -lambda, x + bias, where_less(lambda, x, x - bias, x * decltype(x)(0.f)));
};
inline constexpr auto affine_function = [](auto x, auto factor, auto summand) { return x * factor + summand; };
inline constexpr auto power_function = [](auto x, auto exponent) { return power(x, exponent); };
inline constexpr auto negated = [](auto x) { return -x; };
inline constexpr auto absolute_value = [](auto x) { return abs(x); };
inline constexpr auto root = [](auto x) { return sqrt(x); };
inline constexpr auto inverse_root = [](auto x) { return decltype(x)(1.f) / sqrt(x); };
inline constexpr auto squared = [](auto x) { return x * x; };
inline constexpr auto inverse = [](auto x) { return decltype(x)(1.f) / x; };
inline constexpr auto exponential_function = [](auto x) { return exp(x); };
inline constexpr auto exponential_minus_one = [](auto x) { return expm1(x); };
inline constexpr auto logarithm_function = [](auto x) { return log(x); };
inline constexpr auto logarithm_of_one_plus = [](auto x) { return log1p(x); };
inline constexpr auto error_function_of = [](auto x) { return erf(x); };
inline constexpr auto sine_function = [](auto x) { return sin(x); };
inline constexpr auto cosine_function = [](auto x) { return cos(x); };
inline constexpr auto rounded_down = [](auto x) { return floor(x); };
inline constexpr auto rounded_up = [](auto x) { return ceil(x); };
inline constexpr auto rounded = [](auto x) { return round_to_even(x); };

// Of layers and operators that consist of several ones.
inline constexpr auto gelu_inner = [](auto x, auto linear, auto cubic) { return x * (linear + cubic * x * x); };
inline constexpr auto reciprocal_root_above = [](auto x, auto epsilon) { return decltype(x)(1.f) / sqrt(x + epsilon); };
inline constexpr auto root_at_least = [](auto x, auto least) { return max(least, sqrt(x)); };

template <auto const&... F>
struct function_list {
  template <class Function>
  static constexpr bool has = (std::is_same_v<Function, std::remove_cvref_t<decltype(F)>> || ...);
};
/// All of them: a function that is listed here has a description, and with it a gradient. A layer of one that is not
/// listed does not compile.
using library_functions =
    function_list<elu_function, celu_function, softplus_function, mish_function, softsign_function,
                  affine_sigmoid_function, threshold_function, shrink_function, affine_function, power_function,
                  negated, absolute_value, root, inverse_root, squared, inverse, exponential_function,
                  exponential_minus_one, logarithm_function, logarithm_of_one_plus, error_function_of, sine_function,
                  cosine_function, rounded_down, rounded_up, rounded, gelu_inner, reciprocal_root_above, root_at_least>;

}  // namespace ago::ir
