// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebra of layers. A layer is anything callable that takes a tensor and returns a tensor.
#pragma once

#include <ago/operators/binary.hpp>
#include <ago/operators/concat.hpp>

#include <concepts>

namespace ago {

template <class L>
concept layer = requires(L const& l, tensor x) {
  { l(x) } -> std::same_as<tensor>;
};

/// Applies a layer.
constexpr tensor operator|(tensor x, layer auto const& l) { return l(x); }

namespace tracing {

template <layer First, layer Then>
struct sequence {
  First first;
  Then then;
  constexpr tensor operator()(tensor x) const { return then(first(x)); }
};

/// first(x) + second(x), or another binary operator; a misfit is reported on the line where the second branch ends.
template <op Kind, layer First, layer Second>
struct combination {
  First first;
  Second second;
  constexpr tensor operator()(tensor x) const {
    tensor const a = first(x), b = second(x);
    return record_binary(Kind, line_of(b), a, b);
  }
};

template <layer Body>
struct named_layer {
  char const* name;
  int index;  ///< appended to the name; negative: none
  Body body;
  constexpr tensor operator()(tensor x) const {
    if (!x.recorder) return body(x);
    naming& names = x.recorder->names;
    auto const outer = names.enter(name, index);
    tensor const y = body(x);
    names.leave(outer);
    return y;
  }
};

}  // namespace tracing

/// `then` applied to the result of `first`.
template <layer First, layer Then>
constexpr tracing::sequence<First, Then> operator|(First first, Then then) {
  return {first, then};
}

/// Applies both layers to the same value and adds the results.
template <layer First, layer Second>
constexpr tracing::combination<op::add, First, Second> operator+(First first, Second second) {
  return {first, second};
}

/// Applies both layers to the same value and multiplies the results: `identity{} * gate`.
template <layer First, layer Second>
constexpr tracing::combination<op::mul, First, Second> operator*(First first, Second second) {
  return {first, second};
}

/// Applies both layers to the same value and subtracts the second result from the first.
template <layer First, layer Second>
constexpr tracing::combination<op::sub, First, Second> operator-(First first, Second second) {
  return {first, second};
}

/// Applies both layers to the same value and divides the first result by the second.
template <layer First, layer Second>
constexpr tracing::combination<op::div, First, Second> operator/(First first, Second second) {
  return {first, second};
}

/// x + body(x). The result of the body must have the shape of x or {n, 1, 1, c}; other shapes are usually mistakes.
template <layer Body>
struct residual {
  Body body;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    tensor const y = body(x);
    shape const s = x.dims(), t = y.dims();
    return tracing::record_binary(op::add, line, x, y, t == shape{s.n, 1, 1, s.c});
  }
};
template <layer Body>
residual(Body) -> residual<Body>;

/// The layer applied `times` times, each time with its own parameters.
template <layer Body>
struct repeat {
  int times;
  Body body;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    if (times < 0)
      tracing::recording(op::identity, line, x).complain(ir::fault::argument_must_not_be_negative, 0, times);
    for (int i = 0; i < times; ++i) x = body(x);
    return x;
  }
};
template <layer Body>
repeat(int, Body) -> repeat<Body>;

/// Applies all layers to the same value and joins the results along the channels.
template <layer... Branches>
  requires(sizeof...(Branches) > 0)
constexpr auto concat(Branches... branches) {
  return [=](tensor x) {
    tensor const parts[] = {branches(x)...};
    return tracing::record_concat(0, parts, sizeof...(branches));
  };
}

// Refuses a mixture of tensors and layers.
template <class A, class... Rest>
  requires((layer<A> && !(layer<Rest> && ...)) || (std::same_as<A, tensor> && !(std::same_as<Rest, tensor> && ...)))
constexpr auto concat(A const& a, Rest const&...) {
  static_assert(tracing::never<A>, "ago: concat joins either tensors or layers, and nothing else");
  return a;
}

namespace tracing {
/// What named() names: a layer as it is; the repetitions of `repeat`, each with its number.
constexpr auto numbered(layer auto body) { return body; }
template <layer Body>
constexpr auto numbered(repeat<Body> body) {
  return [=](tensor x) {
    int i = 0;
    auto const next = [&](tensor y) { return named_layer<Body>{"", i++, body.body}(y); };
    return repeat<decltype(next)>{body.times, next, body.line}(x);
  };
}
}  // namespace tracing

/// Names the operators and parameters that `body` records, and numbers its repetitions. Nested names are joined by
/// dots: `named("encoders", repeat{2, named("norm", layer_norm{})})` makes "encoders.0.norm" and "encoders.1.norm".
constexpr auto named(char const* name, layer auto body) {
  return tracing::named_layer<decltype(tracing::numbered(body))>{name, -1, tracing::numbered(body)};
}

/// With a number: `named("features", 3, body)` makes "features.3".
constexpr auto named(char const* name, int index, layer auto body) {
  return tracing::named_layer<decltype(tracing::numbered(body))>{name, index, tracing::numbered(body)};
}

}  // namespace ago
