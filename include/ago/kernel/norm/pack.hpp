// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the parameters of a layer norm.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Writes gamma[padded c], beta[padded c] to `to`, with zeros after the channels. `from.weight`, `from.shift`: offsets
/// of gamma and beta; the defaults are 1 and 0.
template <isa I>
void pack_layer_norm(packed_operator const& s, parameter_source const& from, float const* blob, float* to) {
  int const channels = padded(s.out.c, I);
  for (int c = 0; c < channels; ++c) {
    bool const exists = c < s.out.c;
    to[c] = !exists ? 0.f : from.weight < 0 ? 1.f : blob[from.weight + c];
    to[channels + c] = !exists || from.shift < 0 ? 0.f : blob[from.shift + c];
  }
}

}  // namespace ago::kernel
