// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The imported network with its weights.
#pragma once

// [model]
#include <ago/ago.hpp>
#include <edges.hpp>

extern "C" unsigned char const edges_weights[];  // floats, linked in by ago_import()

using outline = ago::model<edges::network>;

inline outline& network() {
  auto const* weights = reinterpret_cast<float const*>(edges_weights);
  static outline net{std::span<float const, outline::parameter_count>(weights, outline::parameter_count)};
  return net;
}
// [/model]
