// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of the loops of index expressions that are no matrix products.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/kernel/nest/choice.hpp>
#include <ago/kernel/unit.hpp>
#include <ago/plan/fold_schedule.hpp>

namespace ago::kernel {

template <kernel_key K>
struct nest_kernel;  // kernel.hpp

/// Work items take indices of the outermost axis of the result with several, which are step_data::portion.
struct nest_unit : without_weights, without_schedule, without_tiles, with_plain_loops {
  static constexpr long scratch_floats(kernel_key const& key, planned_data const&) {
    bool const may_turn = turn_of_nest(*key.described, key.target).turns();
    long const turned = may_turn ? layout_of_nest(key).turn.scratch_floats() : 0;
    if (key.made_operand < 0) return turned;
    long const streamed = streamed_floats(key.described->operands[key.made_operand], key.target);
    return streamed > turned ? streamed : turned;
  }
  static constexpr structure structures[] = {structure::nest};
  static constexpr bool multiplies_values = false, of_expressions = true, takes_portion = true;
  static constexpr bool implements(structure, op kind) { return kind == op::nest; }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure) { return false; }
  static constexpr bool overwrites(expression::index_expression const* described, int i) {
    return reads_own_element(*described, i);
  }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<nest_kernel<K>>{};
  }

  /// At an operation a cycle.
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    expression::index_expression const& e = *key.described;
    int const taken = s.portion.last - s.portion.first;
    double const share = s.portion.last > 0 ? taken / double(indices(key, s)) : 1;
    double const work = 4 * double(expression::loops_of(e).points()) * e.body.node_count;
    return share * (4 * double(s.out.count()) + work) / lanes(key.target);
  }
  static constexpr double in_order_factor(structure) { return 1; }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 0; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const& key, planned_data const&) {
    return {.granule = nest_granule(layout_of_nest(key), *key.described)};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
  static constexpr long indices(kernel_key const& key, step_data const&) {
    return expression::outermost_extent(*key.described);
  }
  static constexpr value_region written_by_portion(kernel_key const&, step_data const&, plan::stretch const&) {
    return {};
  }
  static constexpr value_region read_by_portion(kernel_key const&, step_data const& s, plan::stretch const&) {
    return whole_of(s.in);
  }
};

}  // namespace ago::kernel
