// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the per-channel parameters of an epilogue, see stage_data::parameters.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/plan/packing.hpp>

namespace ago {

/// Writes the parameters of every stage in `key.after` that has some, as far as they come `from` here. `packed`: start
/// of the model's packed weights.
template <isa I>
void pack_stages(kernel_key const& key, step_data const& s, packing_data const& from, float const* blob,
                 float* packed) {
  int const channels = padded(s.out.c, I);
  for (int i = 0; i < key.after.count(); ++i) {
    op const kind = key.after.stages[i].kind;
    if (kind == op::positions && from.after[i].weight >= 0) {
      float const* const table = blob + from.after[i].weight;
      long const floats = packed_floats(key.after.stages[i], I, s.out);
      for (long k = 0; k < floats; ++k) packed[s.after[i].parameters + k] = table[k];
    }
    if (kind == op::scale || kind == op::prelu) {
      folded_parameters const factors(from.after[i], blob, s.out.c);
      for (int c = 0; c < channels; ++c) {
        bool const padding = c >= s.out.c;
        if (padding || factors.has(c)) packed[s.after[i].parameters + c] = padding ? 0.f : factors.weight(0, 1, c);
      }
    }
    if (kind != op::bias && kind != op::batch_norm) continue;
    parameter_source source = from.after[i];
    if (kind == op::batch_norm) source.norm = source.shift_norm;  // scales what it normalises
    folded_parameters const parameters(source, blob, s.out.c);
    float* const first = packed + s.after[i].parameters;
    float* const scale = kind == op::batch_norm ? first : nullptr;
    float* const shift = kind == op::batch_norm ? first + channels : first;
    for (int c = 0; c < channels; ++c) {
      bool const padding = c >= s.out.c;
      if (!padding && !parameters.has(c)) continue;
      shift[c] = padding ? 0.f : parameters.shift(c);
      if (scale) scale[c] = padding ? 0.f : float(parameters.scale(c));
    }
  }
}

}  // namespace ago
