// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of a depthwise convolution, see depthwise_unit::packed_floats.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/kernel/weight_reader.hpp>
#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Writes them from the user's weights [channels][taps], with batch norm folded in. The
/// padding of the last vector of channels is zero.
template <isa I>
void pack_depthwise(kernel_key const&, packed_operator const& s, parameter_source const& from, float const* blob,
                    float* packed) {
  folded_parameters const parameters(from, blob, s.out.c);
  weight_reader const weight(s, from, blob, 1, 1);
  constexpr int V = lanes(I);
  int const taps = s.win.kernel_h * s.win.kernel_w;
  for (int first = 0; first < s.out.c; first += V)
    for (int tap = 0; tap <= taps; ++tap)
      for (int c = first; c < first + V; ++c) {
        float value = 0;
        if (c < s.out.c && tap < taps) value = float(double(weight(c, 0, tap)) * parameters.scale(c));
        if (c < s.out.c && tap == taps) value = parameters.shift(c);
        *packed++ = value;
      }
}

}  // namespace ago::kernel
