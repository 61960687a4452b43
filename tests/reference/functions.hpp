// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's own functions of `map` nodes, in double precision.
#pragma once

#include <ago/ir/functions.hpp>
#include <ago/simd/map.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "activation.hpp"

namespace reference {

/// Registers the counterpart of a lambda of an element, or of an element and two numbers.
template <auto const& Lambda>
void define(auto of) {
  define(&ago::ir::user_map<std::remove_cvref_t<decltype(Lambda)>>, +of);
}

/// Registers those of ago/ir/functions.hpp with the executor.
inline void define_functions() {
  namespace ir = ago::ir;
  define<ir::elu_function>([](double x, double a, double b) { return (x < 0 ? a * std::expm1(x) : x) * b; });
  define<ir::celu_function>([](double x, double a, double) { return x < 0 ? a * std::expm1(x / a) : x; });
  define<ir::softplus_function>([](double x) { return std::max(x, 0.) + std::log1p(std::exp(-std::fabs(x))); });
  define<ir::mish_function>(
      [](double x) { return x * std::tanh(std::max(x, 0.) + std::log1p(std::exp(-std::fabs(x)))); });
  define<ir::softsign_function>([](double x) { return x / (1 + std::fabs(x)); });
  define<ir::affine_sigmoid_function>([](double x, double a, double b) { return std::clamp(a * x + b, 0., 1.); });
  define<ir::threshold_function>([](double x, double at, double other) { return x > at ? x : other; });
  define<ir::shrink_function>([](double x, double a, double b) { return x < -a ? x + b : x > a ? x - b : 0; });
  define<ir::affine_function>([](double x, double factor, double summand) { return x * factor + summand; });
  define<ir::power_function>([](double x, double exponent, double) { return std::pow(x, exponent); });
  define<ir::negated>([](double x) { return -x; });
  define<ir::absolute_value>([](double x) { return std::fabs(x); });
  define<ir::root>([](double x) { return std::sqrt(x); });
  define<ir::inverse_root>([](double x) { return 1 / std::sqrt(x); });
  define<ir::squared>([](double x) { return x * x; });
  define<ir::inverse>([](double x) { return 1 / x; });
  define<ir::exponential_function>([](double x) { return std::exp(x); });
  define<ir::exponential_minus_one>([](double x) { return std::expm1(x); });
  define<ir::logarithm_function>([](double x) { return std::log(x); });
  define<ir::logarithm_of_one_plus>([](double x) { return std::log1p(x); });
  define<ir::error_function_of>([](double x) { return std::erf(x); });
  define<ir::sine_function>([](double x) { return std::sin(x); });
  define<ir::cosine_function>([](double x) { return std::cos(x); });
  define<ir::rounded_down>([](double x) { return std::floor(x); });
  define<ir::rounded_up>([](double x) { return std::ceil(x); });
  define<ir::rounded>([](double x) { return std::nearbyint(x); });
  define<ir::gelu_inner>([](double x, double a, double b) { return x * (a + b * x * x); });
  define<ir::reciprocal_root_above>([](double x, double summand, double) { return 1 / std::sqrt(x + summand); });
  define<ir::root_at_least>([](double x, double least, double) { return std::max(std::sqrt(x), least); });
}

}  // namespace reference
