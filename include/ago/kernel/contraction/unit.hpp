// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of sums of products of index expressions: matrix products with scattered rows and columns.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/kernel/contraction/choice.hpp>
#include <ago/kernel/matrix/tiles.hpp>
#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct contraction_kernel;  // kernel.hpp
/// Defined in copies.hpp: packs the parameter of a product from the user's weights, `from`, into layout.packed_floats()
/// floats.
template <isa I>
void pack_contraction(contraction_layout const& l, expression::index_expression const& e, float const* from, float* to);

/// Work items take rows, whose indices are step_data::portion.
struct contraction_unit : with_plain_loops, without_alternatives, without_portions, keeps_operands {
  static constexpr structure structures[] = {structure::contraction};
  static constexpr bool multiplies_values = false, of_expressions = true, has_weights = true, takes_portion = true;
  static constexpr bool has_tiles = true;
  static constexpr bool implements(structure, op kind) { return kind == op::contraction; }
  static constexpr bool multiplies(structure) { return true; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<contraction_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const& key) { return key.weight_operand >= 0; }
  static constexpr long packed_floats(kernel_key const& key, step_data const&) {
    return layout_of_contraction(key).packed_floats();
  }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_contraction<I>(layout_of_contraction(o.key), *o.key.described, blob + o.from.weight, to);
  }

  static constexpr long scratch_floats(kernel_key const& key, planned_data const&) {
    return layout_of_contraction(key).scratch_floats();
  }

  static constexpr int channel_groups(structure, step_data const&) { return 1; }
  static constexpr void choose(kernel_key& key, planned_data&, schedule const& wish, chain_tiling const&,
                               device const&) {
    choose_contraction(key, wish);
  }

  /// At one or two multiply-adds a cycle.
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const& on) {
    int const taken = s.portion.last - s.portion.first;
    double const share = s.portion.last > 0 ? taken / double(indices(key, s)) : 1;
    double const work = machine_of(key, on).product * double(expression::multiply_adds(*key.described));
    return share * (4 * double(s.out.count()) + work) / lanes(key.target);
  }
  static constexpr double in_order_factor(structure) { return 1; }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 0; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const& key, planned_data const&) {
    return {.granule = layout_of_contraction(key).granule()};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
  static constexpr long indices(kernel_key const& key, step_data const&) {
    return layout_of_contraction(key).all_rows();
  }
  static constexpr value_region written_by_portion(kernel_key const&, step_data const&, plan::stretch const&) {
    return {};  // rows may be anywhere
  }
  static constexpr value_region read_by_portion(kernel_key const&, step_data const& s, plan::stretch const&) {
    return whole_of(s.in);
  }

  static constexpr plan::tile_options tiles(kernel_key const& key, planned_data const&) {
    contraction_layout const l = layout_of_contraction(key);
    if (l.lanes_are_batches || l.lanes_are_steps || l.by_runs) return {};  // they take no wishes
    kernel_key usual = key;
    usual.tile = l.tile;
    return kernel::matrix_tiles(usual, l.rows, l.vectors, l.depth);
  }
  static constexpr plan::tile_options repacked_tiles(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::block_options blocks(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::loop_words order_of_loops(kernel_key const&, planned_data const&) { return {}; }
};

}  // namespace ago::kernel
