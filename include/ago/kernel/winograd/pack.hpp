// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of Winograd convolution.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/kernel/weight_reader.hpp>
#include <ago/kernel/winograd/layout.hpp>
#include <ago/kernel/winograd/points.hpp>

namespace ago::kernel {

/// a0 x + a1 y + a2 z with rounded products, see rounded_product().
inline double sum_of_products(double const (&a)[3], double x, double y, double z) {
  return rounded_product(a[0], x) + rounded_product(a[1], y) + rounded_product(a[2], z);
}

/// Writes G g G^T * scale of one input and output channel, point p to packed[p * stride].
template <int TILE>
void transform_weights(float const* g, double scale, float* packed, long stride) {
  constexpr int n = winograd_points<TILE>::patch;
  auto const& transform = winograd_points<TILE>::weights;
  for (int y = 0; y < n; ++y) {
    double line[3];
    for (int x = 0; x < 3; ++x) line[x] = scale * sum_of_products(transform[y], g[x], g[3 + x], g[6 + x]);
    for (int x = 0; x < n; ++x)
      packed[(y * n + x) * stride] = float(sum_of_products(transform[x], line[0], line[1], line[2]));
  }
}

/// Writes weights to `to` in winograd_layout, with batch norm folded in and transformed in double, so that they are
/// rounded once; padded channels get zeros. Weights `from` several sources are written by one call for each, that for
/// channel 0 first. `blob` holds the weights as [out][in][3][3].
template <isa I>
void pack_winograd(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                   float* to) {
  winograd_layout const layout = layout_of_winograd(key, s);
  folded_parameters const parameters(from, blob, s.out.c);
  weight_reader const weight(s, from, blob, layout.depth, s.out.c);
  if (parameters.has(0))
    for (long i = 0; i < layout.weight_floats(); ++i) to[i] = 0;
  for (int o = 0; o < s.out.c; ++o) {
    if (!parameters.has(o)) continue;
    int const first = o / layout.panel * layout.panel;  // of its panel
    int const rest = layout.padded_channels - first, width = rest < layout.panel ? rest : layout.panel;
    double const scale = parameters.scale(o);
    to[o] = parameters.shift(o);
    for (int c = 0; c < layout.depth; ++c) {
      float g[9];
      for (int tap = 0; tap < 9; ++tap) g[tap] = weight(o, c, tap);
      float* const packed = to + layout.panel_offset(first) + long(c) * width + (o - first);
      long const stride = layout.weights_stride(width);
      if (layout.tile == 2) transform_weights<2>(g, scale, packed, stride);
      else transform_weights<4>(g, scale, packed, stride);
    }
  }
}

}  // namespace ago::kernel
