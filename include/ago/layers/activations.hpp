// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations that the library defines as maps.
// Functions of registers (exp, log1p, ...) are found by argument-dependent lookup when a kernel is compiled.
// Largest errors over all finite x, measured as in kernel/epilogue.hpp: 4 units in the last place, plus 1e-37 for
// softplus below -87 and for celu; mish 8 units and 1e-35; affine_sigmoid 2e-7; threshold, negative, absolute and the
// roundings are exact.
// The layers' operators are templates, so that a function is compiled only where its layer is used: xsimd's exp and log
// for neon take g++ 5 seconds.
#pragma once

#include <ago/layers/elementwise.hpp>

#include <concepts>
#include <cstddef>

namespace ago {

namespace tracing {
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

/// A string as a template argument.
template <std::size_t N>
struct function_text {
  char text[N];
  constexpr function_text(char const (&from)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

/// A layer of one of the functions below, which take no numbers.
template <auto const& Function, function_text Name>
struct function_layer {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return map{Function, Name.text, 0, 0, line}(x); }
};
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
}  // namespace tracing

/// x where positive, else alpha * (exp(x) - 1)
struct elu {
  float alpha = 1;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::elu_function, "elu", alpha, 1, line}(x);
  }
};

/// gamma * elu{alpha}; the defaults are those of the paper (Klambauer et al., 2017).
struct selu {
  float alpha = 1.6732632f, gamma = 1.0507010f;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::elu_function, "selu", alpha, gamma, line}(x);
  }
};

/// x where positive, else alpha * (exp(x / alpha) - 1)
struct celu {
  float alpha = 1;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::celu_function, "celu", alpha, 0, line}(x);
  }
};

/// min(max(alpha * x + beta, 0), 1): hard_sigmoid{} with other numbers, as in ONNX and Keras.
struct affine_sigmoid {
  float alpha = .2f, beta = .5f;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::affine_sigmoid_function, "affine_sigmoid", alpha, beta, line}(x);
  }
};

/// x where greater than `at` or NaN, elsewhere `value`
struct threshold {
  float at = 1, value = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::threshold_function, "threshold", at, value, line}(x);
  }
};

/// x - bias where greater than lambda, x + bias where less than -lambda, else 0; bias = lambda is soft shrinkage.
struct shrink {
  float lambda = .5f, bias = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::shrink_function, "shrink", lambda, bias, line}(x);
  }
};

/// factor * x + summand
struct affine {
  float factor = 1, summand = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::affine_function, "affine", factor, summand, line}(x);
  }
};

/// x to the power of a number, see simd/math.hpp; NaN for a negative x and a number that is not an integer.
struct to_power {
  float exponent = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return map{tracing::power_function, "to_power", exponent, 0, line}(x);
  }
};

/// log(1 + exp(x))
using softplus = tracing::function_layer<tracing::softplus_function, "softplus">;
/// x * tanh(softplus(x))
using mish = tracing::function_layer<tracing::mish_function, "mish">;
/// x / (1 + |x|)
using softsign = tracing::function_layer<tracing::softsign_function, "softsign">;
/// -x
using negative = tracing::function_layer<tracing::negated, "negative">;
/// |x|
using absolute = tracing::function_layer<tracing::absolute_value, "absolute">;
using square_root = tracing::function_layer<tracing::root, "square_root">;
/// 1 / sqrt(x)
using reciprocal_root = tracing::function_layer<tracing::inverse_root, "reciprocal_root">;
/// 1 / x
using reciprocal = tracing::function_layer<tracing::inverse, "reciprocal">;
using exponential = tracing::function_layer<tracing::exponential_function, "exponential">;
/// Natural logarithm.
using logarithm = tracing::function_layer<tracing::logarithm_function, "logarithm">;
using error_function = tracing::function_layer<tracing::error_function_of, "error_function">;
using sine = tracing::function_layer<tracing::sine_function, "sine">;
using cosine = tracing::function_layer<tracing::cosine_function, "cosine">;
using round_down = tracing::function_layer<tracing::rounded_down, "round_down">;
using round_up = tracing::function_layer<tracing::rounded_up, "round_up">;
/// To the nearest integer, halves to even.
using round_off = tracing::function_layer<tracing::rounded, "round_off">;

}  // namespace ago
