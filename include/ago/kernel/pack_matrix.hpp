// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of pointwise, linear and convolution.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/kernel/weight_reader.hpp>
#include <ago/plan/packing.hpp>

namespace ago {

/// Writes weights to `to` in the matrix_layout of the step, with batch norm folded in; padded channels get zeros.
/// Weights `from` several sources are written by one call for each, that for channel 0 first. `blob` holds the weights
/// as [out][in / groups][kernel_h][kernel_w]; packed rows are in the order of the input's channels in memory. A
/// template, so that objects built for different machines share no code.
template <isa I>
void pack_matrix(kernel_key const& key, planned_data const& s, parameter_source const& from, float const* blob,
                 float* to) {
  matrix_layout const layout = layout_of_matrix(key, s);
  folded_parameters const parameters(from, blob, s.out.c);
  int const taps = s.win.kernel_h * s.win.kernel_w, inputs = s.in.c / s.groups;
  weight_reader const weight(s, from, blob, inputs, s.out.c / s.groups);
  int const runs = s.runs ? s.run_count : 1;
  if (parameters.has(0))
    for (long i = 0; i < layout.floats(s.groups); ++i) to[i] = 0;
  for (int o = 0; o < s.out.c; ++o) {
    if (!parameters.has(o)) continue;
    float* const group = to + o / layout.group_channels * layout.group_floats();
    int const channel = o % layout.group_channels;
    int const first = channel / layout.panel * layout.panel;  // of its panel
    int const rest = layout.padded_channels - first, width = rest < layout.panel ? rest : layout.panel;
    float* const column = group + layout.panel_offset(first) + (channel - first) * layout.steps;
    double const scale = parameters.scale(o);
    group[channel * layout.steps] = parameters.shift(o);
    for (int tap = 0; tap < taps; ++tap) {
      int k = tap * inputs;
      for (int r = 0; r < runs; ++r) {
        input_run const run = s.runs ? s.runs[r] : input_run{{}, inputs};
        if (key.in_runs) k += k % layout.steps;
        for (int c = run.start, left = run.depth; left > 0; c += run.step, --left, ++k) {
          float& packed = column[k / layout.steps * long(width) * layout.steps + k % layout.steps];
          packed = float(double(weight(o, c, tap)) * scale);
        }
      }
    }
  }
}

}  // namespace ago
