// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the per-channel parameters of an epilogue, see stage_data::parameters.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/plan/packing.hpp>

namespace ago::kernel {

/// Packs one factor for each channel. `all`: how many are packed; those after the channels are 0.
template <isa I>
void pack_factors(parameter_source const& from, int channels, long all, float const* blob, float* packed) {
  folded_parameters const factors(from, blob, channels);
  for (int c = 0; c < all; ++c) {
    bool const padding = c >= channels;
    if (padding || factors.has(c)) packed[c] = padding ? 0.f : factors.weight(0, 1, c);
  }
}

/// Packs one shift for each channel, likewise; for a batch norm, after one factor for each.
template <isa I>
void pack_shifts(op kind, parameter_source source, int channels, long all, float const* blob, float* packed) {
  if (kind == op::batch_norm) source.norm = source.shift_norm;  // its scale is that of its own norm
  folded_parameters const parameters(source, blob, channels);
  float* const scale = kind == op::batch_norm ? packed : nullptr;
  float* const shift = kind == op::batch_norm ? packed + all : packed;
  for (int c = 0; c < all; ++c) {
    bool const padding = c >= channels;
    if (!padding && !parameters.has(c)) continue;
    shift[c] = padding ? 0.f : parameters.shift(c);
    if (scale) scale[c] = padding ? 0.f : float(parameters.scale(c));
  }
}

/// The parameters of one stage of an epilogue.
struct stage_packing {
  op kind{};
  int channels{};
  long to{};      ///< where in the packed weights they are
  long floats{};  ///< how many
  parameter_source from{};
};

/// Writes them, as far as `s.from` has them. `packed`: start of the model's packed weights.
template <isa I>
void pack_stage(stage_packing const& s, float const* blob, float* packed) {
  float* const to = packed + s.to;
  switch (s.kind) {
    case op::bias: pack_shifts<I>(s.kind, s.from, s.channels, s.floats, blob, to); break;
    case op::batch_norm: pack_shifts<I>(s.kind, s.from, s.channels, s.floats / 2, blob, to); break;
    case op::scale:
    case op::prelu: pack_factors<I>(s.from, s.channels, s.floats, blob, to); break;
    case op::positions:
      for (long k = 0; k < s.floats && s.from.weight >= 0; ++k) to[k] = blob[s.from.weight + k];
      break;
    default: ir::no_case_for_this_value();
  }
}

/// Calls f(stage_packing) for each stage in `key.after` that has parameters.
constexpr void for_each_packed_stage(kernel_key const& key, planned_data const& s, packing_data const& from,
                                     auto const& f) {
  for (int i = 0; i < key.after.count(); ++i) {
    stage const& after = key.after.stages[i];
    if (!is_parametric(after.kind)) continue;
    f(stage_packing{after.kind, s.out.c, s.after[i].parameters, packed_floats(after, key.target, s.out),
                    from.after[i]});
  }
}
/// Writes the parameters of all of them.
template <isa I>
void pack_stages(kernel_key const& key, planned_data const& s, packing_data const& from, float const* blob,
                 float* packed) {
  for_each_packed_stage(key, s, from, [&](stage_packing const& stage) { pack_stage<I>(stage, blob, packed); });
}

}  // namespace ago::kernel
