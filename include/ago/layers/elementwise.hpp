// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise layers, including user-defined ones.
#pragma once

#include <ago/tracing/recording.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

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

namespace tracing {
struct unchanged {
  constexpr auto operator()(auto x) const { return x; }
};
}  // namespace tracing

/// A user-defined operator: a generic lambda on one SIMD register, `map{[](auto x) { return x * x; }}`. It is compiled
/// into the kernel before it. It cannot capture. Constants are written in it, or passed to it, at most two:
/// `map{[](auto x, auto slope) { return max(x, x * slope); }, .2f}`. Drawings and reports use its name, if it has one:
/// `map{[](auto x) { return x * x; }, "square"}`, or with numbers `map{leak, "leak", .2f}`.
template <class F>
struct map {
  static constexpr bool captures = !(std::is_empty_v<F> && std::default_initializable<F>);
  static_assert(!captures, "ago: map takes a lambda without captures; write the constants it needs into it");
  /// Instantiates the lambda where the map is written, so that errors in it are not reported from inside the network.
  using compiled = std::integral_constant<decltype(ir::user_function::apply),
                                          &ir::user_code<std::conditional_t<captures, tracing::unchanged, F>>::apply>;
  F function;
  char const* name = nullptr;
  float alpha = 0, beta = 0;
  int line;

  constexpr map(F f, float a = 0, float b = 0, int recorded_at = __builtin_LINE())
      : function(f), alpha(a), beta(b), line(recorded_at) {}
  /// `called`: a string literal, because the map stores a pointer to it.
  template <std::size_t N>
  constexpr map(F f, char const (&called)[N], float a = 0, float b = 0, int recorded_at = __builtin_LINE())
      : function(f), name(called), alpha(a), beta(b), line(recorded_at) {}

  constexpr tensor operator()(tensor x) const {
    if constexpr (captures) return x;
    else
      return tracing::record_elementwise(
          x, line,
          {.kind = op::map, .alpha = alpha, .beta = beta, .function = &ir::user_map<F>, .function_name = name});
  }
};

/// Stores an output of the network channel-first. No layer can read it.
struct to_nchw {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return tracing::record_elementwise(x, line, {.kind = op::to_nchw}); }
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

}  // namespace ago
