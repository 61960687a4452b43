// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of what normalises the channels of a pixel.
#pragma once

#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct softmax_kernel;  // softmax.hpp
template <kernel_key K>
struct layer_norm_kernel;  // layer_norm.hpp
template <isa I>
void pack_layer_norm(packed_operator const& s, parameter_source const& from, float const* blob, float* to);  // pack.hpp

/// Quarter cycles of `rows` of exponentials, `vectors` registers each: 7.5 cycles for one (device::function_operations;
/// measured with AVX-512; on Zen 5 a row takes 17 cycles and each of its registers 8.4).
constexpr double softmax_cycles(double rows, double vectors) { return rows * (58 + 30 * vectors); }

struct norm_unit : without_schedule, without_tiles, with_plain_loops, divided_by_values {
  static constexpr structure structures[] = {structure::softmax, structure::layer_norm};
  static constexpr bool multiplies_values = false, of_expressions = false, has_weights = true;
  static constexpr bool implements(structure what, op kind) {
    return kind == (what == structure::softmax ? op::softmax : op::layer_norm);
  }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
  /// Whole pixels, or registers of them, are read before they are written.
  static constexpr bool overwrites(expression::index_expression const*, int i) { return i == 0; }
  template <kernel_key K>
  static constexpr auto kernel() {
    if constexpr (K.what == structure::softmax) return std::type_identity<softmax_kernel<K>>{};
    else return std::type_identity<layer_norm_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const& key) { return key.what == structure::layer_norm; }
  static constexpr long packed_floats(kernel_key const& key, step_data const& s) {
    return 2L * padded(s.out.c, key.target);  // gamma, beta
  }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_layer_norm<I>(o.data, o.from, blob, to);
  }

  /// A layer norm: 4 cycles for a vector, and 48 more for each pixel (measured with AVX-512).
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    if (key.what == structure::softmax)
      return softmax_cycles(double(s.out.pixels()), double(s.out.c) / lanes(key.target));
    return 17 * (double(s.out.count()) / lanes(key.target)) + 190 * double(s.out.pixels());
  }
  static constexpr double in_order_factor(structure) { return 1; }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 0; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const&) {
    return {.granule = 8, .anywhere = true};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
};

}  // namespace ago::kernel
