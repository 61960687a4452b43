// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations in the body of an index expression, and what they compute.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::expression {

enum class node_kind : std::uint8_t {
  // clang-format off
  // leaves: an element of an operand; an index; a number
  read, position, number,
  // over axes
  sum, product, maximum_of, minimum_of,
  // two operands; comparisons are 1 or 0
  add, subtract, multiply, divide, maximum, minimum, power, less, less_equal, equal,
  // the second operand where the first is not 0, elsewhere the third
  select,
  // functions of one operand
  negate, absolute, exp, expm1, log, log1p, sqrt, rsqrt, erf, tanh, sigmoid, sin, cos, floor, ceil, round,
  // clang-format on
};
inline constexpr int node_kinds = int(node_kind::round) + 1;

constexpr bool is_leaf(node_kind k) { return k <= node_kind::number; }
constexpr bool is_fold(node_kind k) { return k >= node_kind::sum && k <= node_kind::minimum_of; }
constexpr bool is_binary(node_kind k) { return k >= node_kind::add && k <= node_kind::equal; }
constexpr int operands_of(node_kind k) { return is_leaf(k) ? 0 : k == node_kind::select ? 3 : is_binary(k) ? 2 : 1; }

/// The value of a fold over nothing, to which `accumulate` adds.
constexpr double identity_of(node_kind fold) {
  switch (fold) {
    case node_kind::product: return 1;
    case node_kind::maximum_of: return -__builtin_huge_val();
    case node_kind::minimum_of: return __builtin_huge_val();
    default: return 0;
  }
}
constexpr double accumulate(node_kind fold, double sum, double x) {
  switch (fold) {
    case node_kind::product: return sum * x;
    case node_kind::maximum_of: return x > sum || x != x ? x : sum;
    case node_kind::minimum_of: return x < sum || x != x ? x : sum;
    default: return sum + x;
  }
}

/// In double precision. Clang evaluates exp and other functions that round at run time only.
constexpr double apply(node_kind k, double a, double b = 0, double c = 0) {
  switch (k) {
    case node_kind::add: return a + b;
    case node_kind::subtract: return a - b;
    case node_kind::multiply: return a * b;
    case node_kind::divide: return a / b;
    case node_kind::maximum: return a > b || a != a ? a : b;
    case node_kind::minimum: return a < b || a != a ? a : b;
    case node_kind::power: return __builtin_pow(a, b);
    case node_kind::less: return a < b;
    case node_kind::less_equal: return a <= b;
    case node_kind::equal: return a == b;
    case node_kind::select: return a != 0 ? b : c;
    case node_kind::negate: return -a;
    case node_kind::absolute: return a < 0 ? -a : a;
    case node_kind::exp: return __builtin_exp(a);
    case node_kind::expm1: return __builtin_expm1(a);
    case node_kind::log: return __builtin_log(a);
    case node_kind::log1p: return __builtin_log1p(a);
    case node_kind::sqrt: return __builtin_sqrt(a);
    case node_kind::rsqrt: return 1 / __builtin_sqrt(a);
    case node_kind::erf: return __builtin_erf(a);
    case node_kind::tanh: return __builtin_tanh(a);
    case node_kind::sigmoid: return 1 / (1 + __builtin_exp(-a));
    case node_kind::sin: return __builtin_sin(a);
    case node_kind::cos: return __builtin_cos(a);
    case node_kind::floor: return __builtin_floor(a);
    case node_kind::ceil: return __builtin_ceil(a);
    case node_kind::round: return __builtin_nearbyint(a);
    case node_kind::read:
    case node_kind::position:
    case node_kind::number:
    case node_kind::sum:
    case node_kind::product:
    case node_kind::maximum_of:
    case node_kind::minimum_of: break;
  }
  __builtin_abort();  // these have no value of their own
}

}  // namespace ago::expression
