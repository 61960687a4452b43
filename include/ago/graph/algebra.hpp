// The algebra of layers: a layer is anything callable that takes a tensor and gives a tensor.
#pragma once

#include <ago/graph/arithmetic.hpp>

#include <concepts>

namespace ago {

template <class L>
concept layer = requires(L const& l, tensor x) {
  { l(x) } -> std::same_as<tensor>;
};

/// Applies a layer.
constexpr tensor operator|(tensor x, layer auto const& l) { return l(x); }

namespace detail {

template <layer First, layer Then>
struct sequence {
  First first;
  Then then;
  constexpr tensor operator()(tensor x) const { return then(first(x)); }
};

/// first(x) + second(x), or their product; a misfit is reported on the line where the second branch ends.
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
  Body body;
  constexpr tensor operator()(tensor x) const {
    if (!x.recorder) return body(x);
    char const* const outer = x.recorder->name;
    x.recorder->name = name;
    tensor const y = body(x);
    x.recorder->name = outer;
    return y;
  }
};

}  // namespace detail

/// One layer after the other.
template <layer First, layer Then>
constexpr detail::sequence<First, Then> operator|(First first, Then then) { return {first, then}; }

/// Both layers on the same value, the results added.
template <layer First, layer Second>
constexpr detail::combination<op::add, First, Second> operator+(First first, Second second) { return {first, second}; }

/// Both layers on the same value, the results multiplied: `identity{} * gate`.
template <layer First, layer Second>
constexpr detail::combination<op::mul, First, Second> operator*(First first, Second second) { return {first, second}; }

/// x + body(x)
template <layer Body>
struct residual {
  Body body;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return detail::record_binary(op::add, line, x, body(x)); }
};
template <layer Body>
residual(Body) -> residual<Body>;

/// The layer `times` times in a row, with parameters of their own.
template <layer Body>
struct repeat {
  int times;
  Body body;
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const {
    if (times < 0) detail::recording(op::identity, line, x).complain(fault::argument_must_not_be_negative, 0, times);
    for (int i = 0; i < times; ++i) x = body(x);
    return x;
  }
};
template <layer Body>
repeat(int, Body) -> repeat<Body>;

/// All layers on the same value, the results joined along their channels.
template <layer... Branches>
  requires(sizeof...(Branches) > 0)
constexpr auto concat(Branches... branches) {
  return [=](tensor x) {
    tensor const parts[] = {branches(x)...};
    return detail::record_concat(0, parts, sizeof...(branches));
  };
}

// Something that is neither all tensors nor all layers.
template <class A, class... Rest>
  requires((layer<A> && !(layer<Rest> && ...)) || (std::same_as<A, tensor> && !(std::same_as<Rest, tensor> && ...)))
constexpr auto concat(A const& a, Rest const&...) {
  static_assert(detail::never<A>, "ago: concat joins either tensors or layers, and nothing else");
  return a;
}

/// Gives a name to what `body` records, for parameters() and diagnostics; the innermost name wins.
template <layer Body>
constexpr detail::named_layer<Body> named(char const* name, Body body) { return {name, body}; }

}  // namespace ago
