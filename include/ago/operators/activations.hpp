// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations that the library defines as maps.
// Functions of registers (exp, log1p, ...) are found by argument-dependent lookup when a kernel is compiled.
// Largest errors over all finite x, measured as in kernel/epilogue.hpp: 4 units in the last place, plus 1e-37 for
// softplus below -87 and for celu; mish 8 units and 1e-35; affine_sigmoid 2e-7; threshold, negative, absolute and the
// roundings are exact.
// The layers' operators are templates, so that a function is compiled only where its layer is used: xsimd's exp and log
// for neon take g++ 5 seconds.
#pragma once

#include <ago/operators/map.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace ago {

namespace tracing {
/// A string as a template argument.
template <std::size_t N>
struct function_text {
  char text[N];
  constexpr function_text(char const (&from)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

/// A function of the library, with its numbers. It is compiled where a layer calls this for an operand that depends on
/// a template parameter; a `map` that depends on none would be compiled in every file, because it compiles its function
/// where it is written.
template <auto const& Function, std::size_t N>
constexpr tensor mapped(tensor x, char const (&name)[N], float alpha, float beta, int line) {
  static_assert(ir::library_functions::has<std::remove_cvref_t<decltype(Function)>>,
                "not in the list in functions.hpp");
  return map{Function, name, alpha, beta, line}(x);
}

/// A layer of one of the functions that take no numbers.
template <auto const& Function, function_text Name>
struct function_layer {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return mapped<Function>(x, Name.text, 0, 0, line); }
};
}  // namespace tracing

/// x where positive, else alpha * (exp(x) - 1)
struct elu {
  float alpha = 1;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::elu_function>(x, "elu", alpha, 1, line);
  }
};

/// gamma * elu{alpha}; the defaults are those of the paper (Klambauer et al., 2017).
struct selu {
  float alpha = 1.6732632f, gamma = 1.0507010f;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::elu_function>(x, "selu", alpha, gamma, line);
  }
};

/// x where positive, else alpha * (exp(x / alpha) - 1)
struct celu {
  float alpha = 1;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::celu_function>(x, "celu", alpha, 0, line);
  }
};

/// min(max(alpha * x + beta, 0), 1): hard_sigmoid{} with other numbers, as in ONNX and Keras.
struct affine_sigmoid {
  float alpha = .2f, beta = .5f;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::affine_sigmoid_function>(x, "affine_sigmoid", alpha, beta, line);
  }
};

/// x where greater than `at` or NaN, elsewhere `value`
struct threshold {
  float at = 1, value = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::threshold_function>(x, "threshold", at, value, line);
  }
};

/// x - bias where greater than lambda, x + bias where less than -lambda, else 0; bias = lambda is soft shrinkage.
struct shrink {
  float lambda = .5f, bias = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::shrink_function>(x, "shrink", lambda, bias, line);
  }
};

/// factor * x + summand
struct affine {
  float factor = 1, summand = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::affine_function>(x, "affine", factor, summand, line);
  }
};

/// x to the power of a number, see simd/math.hpp; NaN for a negative x and a number that is not an integer.
struct to_power {
  float exponent = 2;
  int line = __builtin_LINE();
  constexpr tensor operator()(std::same_as<tensor> auto x) const {
    return tracing::mapped<ir::power_function>(x, "to_power", exponent, 0, line);
  }
};

/// log(1 + exp(x))
using softplus = tracing::function_layer<ir::softplus_function, "softplus">;
/// x * tanh(softplus(x))
using mish = tracing::function_layer<ir::mish_function, "mish">;
/// x / (1 + |x|)
using softsign = tracing::function_layer<ir::softsign_function, "softsign">;
/// -x
using negative = tracing::function_layer<ir::negated, "negative">;
/// |x|
using absolute = tracing::function_layer<ir::absolute_value, "absolute">;
using square_root = tracing::function_layer<ir::root, "square_root">;
/// 1 / sqrt(x)
using reciprocal_root = tracing::function_layer<ir::inverse_root, "reciprocal_root">;
/// 1 / x
using reciprocal = tracing::function_layer<ir::inverse, "reciprocal">;
using exponential = tracing::function_layer<ir::exponential_function, "exponential">;
/// Natural logarithm.
using logarithm = tracing::function_layer<ir::logarithm_function, "logarithm">;
using error_function = tracing::function_layer<ir::error_function_of, "error_function">;
using sine = tracing::function_layer<ir::sine_function, "sine">;
using cosine = tracing::function_layer<ir::cosine_function, "cosine">;
using round_down = tracing::function_layer<ir::rounded_down, "round_down">;
using round_up = tracing::function_layer<ir::rounded_up, "round_up">;
/// To the nearest integer, halves to even.
using round_off = tracing::function_layer<ir::rounded, "round_off">;

}  // namespace ago
