// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of reductions along axes.
#pragma once

#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct reduction_kernel;  // kernel.hpp

struct reduction_unit : without_weights, without_schedule, without_tiles, with_plain_loops, undivided, keeps_operands {
  static constexpr structure structures[] = {structure::reduction};
  static constexpr bool multiplies_values = false, of_expressions = false;
  static constexpr bool implements(structure, op kind) { return is_reduction(kind); }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<reduction_kernel<K>>{};
  }

  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    return copy_cycles(key, s);
  }
  static constexpr double in_order_factor(structure) { return 1; }
};

}  // namespace ago::kernel
