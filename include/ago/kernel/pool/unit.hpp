// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of pooling, over windows and over images.
#pragma once

#include <ago/kernel/pool/schedule.hpp>
#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct max_pool_kernel;  // max_pool.hpp
template <kernel_key K>
struct avg_pool_kernel;  // pool.hpp, with those below
template <kernel_key K>
struct global_max_pool_kernel;
template <kernel_key K>
struct global_avg_pool_kernel;

struct pool_unit : without_weights,
                   without_alternatives,
                   without_portions,
                   without_tiles,
                   with_plain_loops,
                   divided_by_values,
                   keeps_operands {
  static constexpr structure structures[] = {structure::max_pool, structure::avg_pool, structure::global_max_pool,
                                             structure::global_avg_pool};
  static constexpr bool multiplies_values = false, of_expressions = false;
  static constexpr bool implements(structure what, op kind) {
    return (what == structure::max_pool && kind == op::max_pool) ||
           (what == structure::avg_pool && kind == op::avg_pool) ||
           (what == structure::global_max_pool && kind == op::global_max_pool) ||
           (what == structure::global_avg_pool && kind == op::global_avg_pool);
  }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    if constexpr (K.what == structure::max_pool) return std::type_identity<max_pool_kernel<K>>{};
    else if constexpr (K.what == structure::avg_pool) return std::type_identity<avg_pool_kernel<K>>{};
    else if constexpr (K.what == structure::global_max_pool) return std::type_identity<global_max_pool_kernel<K>>{};
    else return std::type_identity<global_avg_pool_kernel<K>>{};
  }

  static constexpr int channel_groups(structure, step_data const&) { return 1; }
  static constexpr void choose(kernel_key& key, planned_data& s, schedule const&, chain_tiling const&, device const&) {
    if (key.what == structure::max_pool) choose_max_pool(key, s);
  }

  /// A cycle for each vector of the windows.
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    if (is_global(key.what)) return copy_cycles(key, s);
    return 4 * (double(s.out.count()) / lanes(key.target)) * s.win.kernel_h * s.win.kernel_w;
  }
  static constexpr double in_order_factor(structure) { return 4.5; }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 1; }
  static constexpr int granule_of_rows(kernel_key const& key, planned_data const&, chain_tiling const& in, bool) {
    if (is_global(key.what)) return 0;
    return in.how == tiling::none ? 1 : pipeline_rows;
  }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const& key, planned_data const&) {
    if (!is_global(key.what)) return {};
    return {.granule = 16, .narrows = true, .reads_own = true};  // a cache line
  }
  static constexpr void narrow(kernel_key const&, planned_data& s, plan::stretch const& of) {
    s.in.c = s.out.c = int(of.size());
  }

 private:
  static constexpr bool is_global(structure what) {
    return what == structure::global_max_pool || what == structure::global_avg_pool;
  }
};

}  // namespace ago::kernel
