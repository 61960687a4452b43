// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network: inputs and a body. This header includes all that a definition needs.
#pragma once

#include <ago/requirements.hpp>

#include <ago/layers/algebra.hpp>
#include <ago/layers/layers.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace ago {

/// Order of an image in the user's memory: channels innermost, or outermost as in PyTorch.
enum class layout : std::uint8_t { nhwc, nchw };

/// An input: images, rows, columns, channels.
struct input {
  int n = 1, h = 1, w = 1, c = 1;
  ago::layout layout = ago::layout::nhwc;
  int line = __builtin_LINE();
};

namespace lowering {
/// The results of a body.
template <int N>
struct output_list {
  tensor values[N];
};
}  // namespace lowering

/// The outputs `x, rest...` of a network, in this order; the return value of a body.
template <std::same_as<tensor>... Rest>
constexpr lowering::output_list<1 + sizeof...(Rest)> outputs(tensor x, Rest... rest) {
  return {{x, rest...}};
}

namespace lowering {

template <class T>
inline constexpr int output_count = 0;
template <>
inline constexpr int output_count<tensor> = 1;
template <int N>
inline constexpr int output_count<output_list<N>> = N;

/// What can follow an input or a network: a layer, or a final body that returns outputs().
template <class F>
concept continuation = layer<F> || requires(F const& f, tensor x) { requires output_count<decltype(f(x))> > 0; };

/// The number of outputs of a body for N inputs; 0: it cannot be called with N tensors.
template <int N, class Body, class... Tensors>
constexpr int count_outputs() {
  if constexpr (sizeof...(Tensors) < N) return count_outputs<N, Body, Tensors..., tensor>();
  else if constexpr (requires(Body const& f, Tensors... x) { f(x...); })
    return output_count<decltype(std::declval<Body const&>()(Tensors{}...))>;
  else return 0;
}

/// A body followed by a layer on its only result.
template <class First, class Then>
struct prolonged {
  First first;
  Then then;
  constexpr auto operator()(std::same_as<tensor> auto... x) const { return then(first(x...)); }
};

/// A network: `Inputs` inputs, and the body that takes them. It must have static storage (`inline constexpr` or
/// `static constexpr`), because the stages of the pipeline take it by `auto const&`.
template <class Body, int Inputs>
struct network_expression {
  Body body;
  input inputs[Inputs];
};

template <class T>
inline constexpr bool is_network = false;
template <class Body, int Inputs>
inline constexpr bool is_network<network_expression<Body, Inputs>> = true;

}  // namespace lowering

/// A network with one input.
template <lowering::continuation Body>
constexpr lowering::network_expression<Body, 1> operator|(input in, Body body) {
  return {body, {in}};
}

/// A network with several inputs, or with a body that is easiest to write in terms of tensors:
/// `trace([](tensor image, tensor mask) { ... }, input{...}, input{...})`. Several results: `return outputs(x, y);`.
template <class Body, std::same_as<input>... Rest>
constexpr lowering::network_expression<Body, int(1 + sizeof...(Rest))> trace(Body body, input first, Rest... rest) {
  constexpr bool callable = lowering::count_outputs<1 + sizeof...(Rest), Body>() > 0;
  static_assert(callable,
                "ago: trace(body, inputs...) takes a body that is callable with one tensor for each input, and that "
                "returns a tensor or outputs(x, y, ...)");
  return {body, {first, rest...}};
}

/// A network extended by a layer.
template <class First, int Inputs, lowering::continuation Then>
constexpr auto operator|(lowering::network_expression<First, Inputs> const& net, Then then) {
  constexpr bool one_output = lowering::count_outputs<Inputs, First>() == 1;
  static_assert(one_output, "ago: only a network with one output can be extended");
  if constexpr (one_output) {
    lowering::network_expression<lowering::prolonged<First, Then>, Inputs> longer{{net.body, then}, {}};
    for (int i = 0; i < Inputs; ++i) longer.inputs[i] = net.inputs[i];
    return longer;
  } else {
    return net;
  }
}

namespace lowering {
template <class T>
concept pipes = layer<T> || is_network<T> || std::same_as<T, tensor> || std::same_as<T, input>;
}  // namespace lowering

/// Refuses any other operand of `|` with one error instead of a list of candidates.
template <lowering::pipes Left, class Right>
  requires(!std::is_function_v<Right> && !layer<Right> &&
           !(lowering::continuation<Right> && (lowering::is_network<Left> || std::same_as<Left, input>)))
constexpr Left operator|(Left const& left, Right const&) {
  static_assert(tracing::never<Left>,
                "ago: what follows | is not a layer; a layer is callable with one tensor and returns a tensor");
  return left;
}

/// A function like `tanh`, whose layer has another name; selects the overload for double. (Not a pointer: lambdas
/// convert to pointers, and a generic one would be compiled for numbers to find out whether it does.)
template <lowering::pipes Left>
constexpr Left operator|(Left const& left, double (&)(double)) {
  static_assert(tracing::never<Left>,
                "ago: what follows | is a function of the C library; the layers are hyperbolic_tangent{}, "
                "exponential{}, logarithm{}, square_root{}, absolute{}, sine{}, cosine{}, error_function{}, "
                "round_down{}, round_up{}, round_off{}, to_power{exponent}");
  return left;
}

namespace lowering {
double some_function(double);
}
/// A function like `pow`.
template <lowering::pipes Left>
constexpr Left operator|(Left const& left, double (&)(double, double)) {
  return left | lowering::some_function;
}
/// Any other function.
template <lowering::pipes Left, class Right>
  requires(std::is_function_v<Right> && !layer<Right> && !lowering::continuation<Right>)
constexpr Left operator|(Left const& left, Right const&) {
  return left | lowering::some_function;
}

namespace lowering {
using ago::operator|;  // so that argument-dependent lookup finds it for a network_expression
}

}  // namespace ago
