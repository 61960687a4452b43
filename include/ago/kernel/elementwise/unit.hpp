// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of elementwise operators that no other kernel computes in its epilogue.
#pragma once

#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct elementwise_kernel;  // kernel.hpp

struct elementwise_unit : without_weights,
                          without_alternatives,
                          without_portions,
                          without_tiles,
                          with_plain_loops,
                          divided_by_values {
  static constexpr structure structures[] = {structure::elementwise};
  static constexpr bool multiplies_values = false, of_expressions = false;
  static constexpr bool implements(structure, op kind) { return is_elementwise(kind) || kind == op::identity; }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
  static constexpr bool overwrites(expression::index_expression const*, int) { return true; }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<elementwise_kernel<K>>{};
  }

  static constexpr int channel_groups(structure, step_data const&) { return 1; }
  static constexpr void choose(kernel_key& key, planned_data& s, schedule const&, chain_tiling const&,
                               device const& on) {
    key.fetches_input = 4 * s.in.count() > on.l2_bytes;
    key.fetches_ahead = exceeds_l3(4 * s.in.count(), on);
  }

  /// 7.5 cycles for an exponential of a vector (device::function_operations).
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    int functions = 0;
    for (int i = 0; i < key.after.count(); ++i) functions += is_lengthy(key.after.stages[i].kind);
    return copy_cycles(key, s) + 30 * functions * (double(s.out.count()) / lanes(key.target));
  }
  static constexpr double in_order_factor(structure) { return 1; }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 1; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const& in, bool) {
    return in.how == plan::tiling::none ? 0 : 1;  // alone, it is divided along pixels
  }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const& s) {
    if (!(s.in == s.out)) return {};
    return {.granule = 8, .anywhere = true};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
};

}  // namespace ago::kernel
