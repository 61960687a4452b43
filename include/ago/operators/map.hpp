// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of a user's, and those of the library, as operators.
#pragma once

#include <ago/ir/functions.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace ago {

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

namespace expression {

// What the library's functions call, by the names that registers have for it.
constexpr scalar min(scalar const& a, scalar const& b) { return minimum(a, b); }
constexpr scalar max(scalar const& a, scalar const& b) { return maximum(a, b); }
constexpr scalar power(scalar const& a, scalar const& b) { return pow(a, b); }
constexpr scalar round_to_even(scalar const& a) { return round(a); }
constexpr scalar where_less(scalar const& a, scalar const& b, scalar const& x, scalar const& y) {
  return select(a < b, x, y);
}
constexpr scalar where_nan(scalar const& a, scalar const& x, scalar const& y) { return select(a == a, y, x); }

}  // namespace expression

namespace described {

/// The value of a map's function, applied to an element of an index expression as kernels apply it to a register; lost
/// if it is none of the library's: a user's function is code, which has no description.
template <auto const&... Functions>
class function_values {
 public:
  constexpr explicit function_values(ir::function_list<Functions...>) {}

  constexpr scalar operator()(node const& n, scalar const& x) const {
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

constexpr scalar map(node const& n, std::same_as<scalar> auto const& x) {
  return function_values(ir::library_functions())(n, x);
}

}  // namespace described

}  // namespace ago
