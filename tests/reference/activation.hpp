// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on single elements, including users' functions, in double precision.
#pragma once

#include <ago/ir/graph.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace reference {

/// The double precision counterpart of a user's lambda of an element and two numbers.
using scalar_function = std::function<double(double, double, double)>;

inline std::map<ago::ir::user_function const*, scalar_function>& user_functions() {
  static std::map<ago::ir::user_function const*, scalar_function> all;
  return all;
}

/// Registers the function for `map` nodes with the executor: `define(&ago::ir::user_map<F>, [](double x) {...})`.
inline void define(ago::ir::user_function const* key, double (*f)(double)) {
  user_functions()[key] = [f](double x, double, double) { return f(x); };
}
inline void define(ago::ir::user_function const* key, double (*f)(double, double, double)) {
  user_functions()[key] = f;
}

namespace detail {

inline double activate(ago::ir::node const& v, double x) {
  using ago::op;
  switch (v.kind) {
    case op::relu: return std::max(x, 0.);
    case op::relu6: return std::clamp(x, 0., 6.);
    case op::leaky_relu: return x < 0 ? x * v.alpha : x;
    case op::clip: return std::min(std::max(x, double(v.alpha)), double(v.beta));
    case op::hard_sigmoid: return std::clamp(x / 6 + .5, 0., 1.);
    case op::hard_swish: return x * std::clamp(x / 6 + .5, 0., 1.);
    case op::sigmoid: return 1 / (1 + std::exp(-x));
    case op::silu: return x / (1 + std::exp(-x));
    case op::gelu: return .5 * x * std::erfc(-x / std::sqrt(2.));
    case op::gelu_tanh: return .5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.)) * (x + .044715 * x * x * x)));
    case op::tanh: return std::tanh(x);
    case op::map: {
      auto const f = user_functions().find(v.function);
      if (f == user_functions().end()) throw std::logic_error("reference: define() the function of this map first");
      return f->second(x, v.alpha, v.beta);
    }
    default: throw std::logic_error(std::string("reference: not an activation: ") + name_of(v.kind));
  }
}

}  // namespace detail

}  // namespace reference
