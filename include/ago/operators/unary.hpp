// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators without parameters.
#pragma once

#include <ago/operators/map.hpp>

#include <concepts>

namespace ago {

namespace tracing {
template <op Kind>
struct elementwise {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return record_elementwise(x, line, {.kind = Kind}); }
};
}  // namespace tracing

/// max(x, 0)
using relu = tracing::elementwise<op::relu>;
/// min(max(x, 0), 6)
using relu6 = tracing::elementwise<op::relu6>;
/// min(max(x / 6 + 1/2, 0), 1)
using hard_sigmoid = tracing::elementwise<op::hard_sigmoid>;
/// x * hard_sigmoid(x)
using hard_swish = tracing::elementwise<op::hard_swish>;
/// 1 / (1 + exp(-x))
using sigmoid = tracing::elementwise<op::sigmoid>;
/// x * sigmoid(x)
using silu = tracing::elementwise<op::silu>;
/// tanh(x). The name `tanh` is left to the C library and to the register function that a map's lambda calls.
using hyperbolic_tangent = tracing::elementwise<op::tanh>;
/// x
using identity = tracing::elementwise<op::identity>;

/// x where positive, else slope * x
struct leaky_relu {
  float slope = 0.01f;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    return tracing::record_elementwise(x, line, {.kind = op::leaky_relu, .alpha = slope});
  }
};

/// min(max(x, lo), hi)
struct clip {
  float lo = 0, hi = 1;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::clip, line, x);
    if (!(lo <= hi)) r.complain(ir::fault::bounds_are_reversed, 0, 0);
    return r.append({.kind = op::clip, .out = x.dims(), .alpha = lo, .beta = hi}, x);
  }
};

/// min(max(x, -1), 1)
struct hard_tanh {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return clip{-1, 1, line}(x); }
};

/// x * Phi(x), with the error function or with PyTorch's approximation by tanh.
struct gelu {
  bool approximate = false;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    return tracing::record_elementwise(x, line, {.kind = approximate ? op::gelu_tanh : op::gelu});
  }
};

/// Records nothing; checks the extents that are not 0.
struct expect {
  int h = 0, w = 0, c = 0;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::identity, line, x);
    if (h && h != x.height()) r.complain(ir::fault::extents_differ, h, x.height());
    if (w && w != x.width()) r.complain(ir::fault::extents_differ, w, x.width());
    if (c && c != x.channels()) r.complain(ir::fault::channels_differ, c, x.channels());
    return x;
  }
};

namespace described {

constexpr scalar clipped(std::same_as<scalar> auto const& x, double lower, double upper) {
  return minimum(maximum(x, lower), upper);
}

/// The function of an operator with one operand and no parameters.
constexpr scalar function_of(node const& n, std::same_as<scalar> auto const& x) {
  switch (n.kind) {
    case op::identity: return x;
    case op::relu: return maximum(x, 0);
    case op::relu6: return clipped(x, 0, 6);
    case op::leaky_relu: return select(x < 0, x * n.alpha, x);
    case op::clip: return clipped(x, n.alpha, n.beta);
    case op::hard_sigmoid: return clipped(x / 6 + .5, 0, 1);
    case op::hard_swish: return x * clipped(x / 6 + .5, 0, 1);
    case op::sigmoid: return sigmoid(x);
    case op::silu: return x * sigmoid(x);
    case op::gelu: return .5 * x * (1 + erf(x * .7071067811865476));
    case op::gelu_tanh: return .5 * x * (1 + tanh(.7978845608028654 * (x + .044715 * x * x * x)));
    case op::tanh: return tanh(x);
    case op::map: return map(n, x);
    default: no_case_for_this_value();
  }
}
constexpr operand unary(node const& n, std::same_as<operand> auto x) {
  var i, y, j, c;
  return result(i, y, j, c) = function_of(n, x(i, y, j, c));
}

}  // namespace described

}  // namespace ago
