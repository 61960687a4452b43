// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a network, to go on from an imported one. A layer is here what stands between two `|` of its definition: a
// block or a residual is one.
#pragma once

#include <ago/network/lowering.hpp>

namespace ago {

namespace lowering {

template <class Body>
inline constexpr int layers_between_pipes = 1;
template <class First, class Then>
inline constexpr int layers_between_pipes<prolonged<First, Then>> = 1 + layers_between_pipes<First>;

/// Refuses to take more layers off a network than it has, or all.
template <int Count, int Layers>
constexpr void check_parts() {
  static_assert(Count >= 0 && Count < Layers,
                "ago: without_last<N>(net) and last<N>(net) need a network with more than N layers between |");
}

}  // namespace lowering

/// A network without its last `Count` layers. At least one remains.
template <int Count, class Body, int Inputs>
constexpr auto without_last(lowering::network_expression<Body, Inputs> const& net) {
  lowering::check_parts<Count, lowering::layers_between_pipes<Body>>();
  if constexpr (Count <= 0 || Count >= lowering::layers_between_pipes<Body>) {
    return net;
  } else {
    lowering::network_expression<decltype(Body::first), Inputs> shorter{net.body.first, {}};
    for (int i = 0; i < Inputs; ++i) shorter.inputs[i] = net.inputs[i];
    return without_last<Count - 1>(shorter);
  }
}

/// The last `Count` layers of a network, as a layer: `input_after<trunk> | last<3>(net)`.
template <int Count, class Body, int Inputs>
constexpr auto last(lowering::network_expression<Body, Inputs> const& net) {
  lowering::check_parts<Count, lowering::layers_between_pipes<Body>>();
  if constexpr (Count <= 0 || Count >= lowering::layers_between_pipes<Body>) return identity{};
  else if constexpr (Count == 1) return net.body.then;
  else return last<Count - 1>(without_last<1>(net)) | net.body.then;
}

/// An input with the shape of a network's first result.
template <auto const& Net>
inline constexpr input input_after = [] {
  shape const s = lowering::lowered<Net>::value.nodes[lowering::lowered<Net>::value.outputs[0]].out;
  return input{.n = s.n, .h = s.h, .w = s.w, .c = s.c};
}();

}  // namespace ago
