// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of layers: all distinct shapes of a kind of operator, by one line in a file for that kind.
#pragma once

#include "distinct.hpp"

#include "../registry.hpp"

#include <string>
#include <utility>

namespace bench {

/// A layer compiled as a network of its own.
struct kernel {
  layer_shape what;
  std::string name, tile;
  entry network;
};

/// All layers, kind by kind.
inline std::vector<kernel>& kernels() {
  static std::vector<kernel> all;
  return all;
}

/// Pixels x vectors (depthwise: columns x rows) of accumulators, then the remainders of the extents after whole tiles;
/// preceded by the kernel's structure if it is not the obvious one.
inline std::string tile_of(ago::plan::kernel_key const& key) {
  using enum ago::plan::structure;
  bool const obvious = key.what == pointwise || key.what == convolution || key.what == depthwise;
  std::string text = obvious ? "" : std::string(name_of(key.what)) + ' ';
  text += std::to_string(key.tile.pixels) + 'x' + std::to_string(key.tile.vectors);
  if (key.tile.pixels_left || key.tile.vectors_left)
    text += '+' + std::to_string(key.tile.pixels_left) + 'x' + std::to_string(key.tile.vectors_left);
  return text;
}

template <layer_shape S>
void add_kernel() {
  using model = ago::model<one_layer<S>>;
  static_assert(model::steps == 1, "one kernel computes the layer");
  ago::plan::kernel_key const& key = model::program::plan.steps[0].key;
  entry network{name_of(S), S.in.h, ago::passes::optimized<one_layer<S>>::value, {}};
  network.variants.push_back(make_variant<model>("ago"));
  kernels().push_back({S, name_of(S), S.has_weights() ? tile_of(key) : "", std::move(network)});
}

template <ago::op Kind>
bool add_kernels() {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (add_kernel<distinct<Kind>.rows[I]>(), ...);
  }(std::make_integer_sequence<int, distinct<Kind>.count>{});
  return true;
}

}  // namespace bench
