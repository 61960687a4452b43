// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Subgraphs of one to six complex operators, as in the AGO paper's figure 8: inverted residuals of MobileNet-V2 (batch
// norm and relu6 after each operator but the projections, which have only a batch norm), cut off and repeated.
#pragma once

#include <ago/network/network.hpp>
#include <ago/partition/policy.hpp>

namespace figure_8 {

/// Every network is one subgraph, whatever its weight.
struct whole {
  static constexpr char const* name = "whole";

  template <int V, int E, int O>
  static constexpr ago::partitions<V> partition(ago::ir::graph<V, E, O> const& g, ago::device const& on) {
    ago::grouping<V> one;
    one.count = 1;
    return ago::partition_into(g, one, on);
  }
};

/// The first `operators` complex operators of inverted residuals of so many channels.
struct residuals {
  int channels, operators;

  constexpr ago::tensor operator()(ago::tensor x) const {
    for (int i = 0; i < operators; ++i) {
      if (i % 3 == 0) x = x | ago::pointwise{6 * channels} | ago::batch_norm{} | ago::relu6{};
      if (i % 3 == 1) x = x | ago::depthwise{.kernel = 3, .pad = 1} | ago::batch_norm{} | ago::relu6{};
      if (i % 3 == 2) x = x | ago::pointwise{channels} | ago::batch_norm{};
    }
    return x;
  }
};

template <int Size, int Channels, int Operators>
inline constexpr auto subgraph = ago::input{.h = Size, .w = Size, .c = Channels} | residuals{Channels, Operators};

}  // namespace figure_8
