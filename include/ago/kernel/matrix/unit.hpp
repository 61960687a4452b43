// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of matrix products with packed weights: over pixels, over windows read in place, and over copied windows.
#pragma once

#include <ago/kernel/matrix/im2col_schedule.hpp>
#include <ago/kernel/matrix/tiles.hpp>
#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct pointwise_kernel;  // pointwise.hpp
template <kernel_key K>
struct convolution_kernel;  // convolution.hpp
template <kernel_key K>
struct im2col_kernel;  // im2col.hpp
template <isa I>
void pack_matrix(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                 float* packed);  // pack.hpp

struct matrix_unit : divided_by_values, keeps_operands {
  static constexpr structure structures[] = {structure::pointwise, structure::convolution, structure::im2col};
  static constexpr bool multiplies_values = false, of_expressions = false, has_weights = true, has_tiles = true;
  static constexpr bool implements(structure what, op kind) {
    return what == structure::pointwise ? kind == op::pointwise || kind == op::linear : kind == op::conv2d;
  }
  static constexpr bool multiplies(structure) { return true; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    if constexpr (K.what == structure::pointwise) return std::type_identity<pointwise_kernel<K>>{};
    else if constexpr (K.what == structure::convolution) return std::type_identity<convolution_kernel<K>>{};
    else return std::type_identity<im2col_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const&) { return true; }
  static constexpr long packed_floats(kernel_key const& key, step_data const& s) {
    return layout_of_matrix(key, with_joined_pixels(key, s)).floats(s.groups);
  }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_matrix<I>(o.key, o.data, o.from, blob, to);
  }

  static constexpr int algorithm(structure what) {
    return what == structure::convolution ? -1 : what == structure::im2col ? 1 : 0;
  }
  static constexpr long become(structure what, kernel_key& key, step_data& s, schedule const& wish, device const& on,
                               bool) {
    if (what == structure::convolution) return direct_cost(key, s, on);
    return suits_im2col(s, on) ? become_im2col(key, s, wish, on) : -1;
  }
  static constexpr long scratch_floats(kernel_key const& key, planned_data const& s) {
    if (key.gathers) return long(s.block) * s.portion.last;
    return key.what == structure::im2col ? s.out.pixels() * matrix_depth(s) : 0;
  }
  static constexpr bool adds_portions(structure what) { return what == structure::pointwise; }
  static constexpr int channel_groups(structure what, step_data const& s) {
    return what == structure::convolution ? s.groups : 1;
  }
  /// What gathers or copies windows was scheduled before memory was planned, see convolution_steps().
  static constexpr void choose(kernel_key& key, planned_data& s, schedule const& wish, chain_tiling const& in,
                               device const& on) {
    if (key.what == structure::im2col || key.gathers) return;
    key.joined_pixels = std::uint8_t(pixels_to_join(key, s, in, on));
    if (key.joined_pixels == 1 && takes_shorter_registers(key, s, in, on)) key.target = narrower(key.target);
    planned_data computed = with_joined_pixels(key, s);
    choose_matrix(key, computed, wish, in, on, s.pixel_floats);
    s.block = computed.block;
    key.window_row = std::uint8_t(floats_in_window_row(key, computed));
  }

  /// Register tiles over lines of pixels, in the order of the kernel; im2col also copies.
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const& in,
                                 device const& on) {
    double const products = matrix_cycles(machine_of(key, on), key, with_joined_pixels(key, s), in);
    return key.what == structure::im2col ? products + 8 * double(s.in.count()) : products;
  }
  static constexpr double in_order_factor(structure what) { return what == structure::convolution ? 1.5 : 1; }
  static constexpr void describe_loops(kernel_key const& key, planned_data const& s, partition::part_loops& r) {
    bool const rows = key.what == structure::convolution;
    matrix_layout const l = layout_of_matrix(key, with_joined_pixels(key, s));
    std::int64_t const extent = rows ? s.out.h : s.out.pixels();
    r.what = rows ? partition::part_loops::kind::convolution : partition::part_loops::kind::matrix;
    r.groups = s.groups;
    r.tile = key.tile.pixels;
    r.blocks = s.block > 0 ? partition::pieces(extent, s.block) : 1;
    r.panels = s.groups * partition::pieces(l.padded_channels, l.panel);
    r.weights = 4 * l.floats(s.groups);
  }
  static constexpr void add_loops(kernel_key const& key, planned_data const& s, partition::part_loops const& loops,
                                  auto& r) {
    if (key.what != structure::im2col) return add_kernel(r, loops);
    partition::part_loops copied = loops;
    r.scratch = copied.input = 4 * s.out.pixels() * matrix_depth(s) * s.groups;
    copied.blocks = 1;
    add_kernel(r, copied);
    r.order = {};
    r.to_product = false;  // what reads them copies
  }

  static constexpr int granule_of_images(kernel_key const& key, planned_data const& s, bool alone) {
    if (key.what == structure::im2col) return plan::whole_tiles(key.tile.pixels, long(s.out.h) * s.out.w);
    return key.what == structure::pointwise && alone ? 0 : 1;  // alone, it is divided along pixels
  }
  static constexpr int granule_of_rows(kernel_key const& key, planned_data const& s, chain_tiling const& in,
                                       bool last) {
    if (key.what == structure::im2col) return plan::whole_tiles(key.tile.pixels, s.out.w);
    if (key.what == structure::convolution) return in.how == tiling::none ? 1 : pipeline_rows;
    if (in.how == tiling::none || in.how == tiling::pixels) return 0;  // divided along pixels
    if (in.how != tiling::channels) return pipeline_rows;
    return last ? plan::whole_tiles(key.tile.pixels, s.out.w) : 0;
  }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const& key, planned_data const&) {
    return {.granule = key.what == structure::pointwise ? key.tile.pixels : 0};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const& key, planned_data const& s) {
    if (key.joined_pixels > 1) return {};
    return {.granule = layout_of_matrix(key, s).panel};
  }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}

  static constexpr plan::tile_options tiles(kernel_key const& key, planned_data const& s) {
    if (key.what == structure::im2col) return {};
    return kernel::matrix_tiles(key, with_joined_pixels(key, s));
  }
  static constexpr plan::tile_options repacked_tiles(kernel_key const& key, planned_data const& s) {
    return kernel::repacked_matrix_tiles(key, s);
  }
  static constexpr plan::block_options blocks(kernel_key const& key, planned_data const& s) {
    if (key.what == structure::im2col) return {};
    return kernel::matrix_blocks(key, with_joined_pixels(key, s));
  }
  static constexpr plan::loop_words order_of_loops(kernel_key const& key, planned_data const& s) {
    matrix_layout const l = layout_of_matrix(key, with_joined_pixels(key, s));
    if (key.what == structure::im2col || l.padded_channels <= l.panel) return {};
    if (key.what == structure::convolution) return {"channels outermost", "rows outermost", 1, "rows"};
    return {"channels outermost", "pixels outermost", key.tile.pixels, "pixels"};
  }
};

}  // namespace ago::kernel
