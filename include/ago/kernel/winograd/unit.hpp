// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of Winograd's minimal filtering: 3x3 convolutions with stride 1, where a schedule chooses them.
#pragma once

#include <ago/kernel/unit.hpp>
#include <ago/kernel/winograd/schedule.hpp>

namespace ago::kernel {

template <kernel_key K>
struct winograd_kernel;  // kernel.hpp
template <isa I>
void pack_winograd(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                   float* to);  // pack.hpp

/// Work items take tiles, whose indices are step_data::portion, or panels of channels, of which each transforms the
/// whole input.
struct winograd_unit : without_schedule, without_tiles, keeps_operands {
  static constexpr structure structures[] = {structure::winograd_2, structure::winograd_4};
  static constexpr bool multiplies_values = false, of_expressions = false, has_weights = true, takes_portion = true;
  static constexpr bool has_tiles = true;  // of the direct convolution, see matrix_unit
  static constexpr bool implements(structure, op kind) { return kind == op::conv2d; }
  static constexpr bool multiplies(structure) { return true; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<winograd_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const&) { return true; }
  static constexpr long packed_floats(kernel_key const& key, step_data const& s) {
    return layout_of_winograd(key, s).weight_floats();
  }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_winograd<I>(o.key, o.data, o.from, blob, to);
  }

  static constexpr int algorithm(structure what) { return winograd_tile(what); }
  static constexpr long become(structure what, kernel_key& key, step_data& s, schedule const& wish, device const& on,
                               bool trained) {
    if (!suits_winograd(s)) return -1;
    return choose_winograd(key, s, what, wish, on) + (trained ? weights_cost(s, winograd_tile(what)) : 0);
  }
  static constexpr long scratch_floats(kernel_key const& key, planned_data const& s) {
    return layout_of_winograd(key, s).scratch_floats();
  }

  static constexpr plan::loop_words order_of_loops(kernel_key const&, planned_data const&) {
    return {.counted = "tiles"};
  }

  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&,
                                 device const& core) {
    winograd_layout l = layout_of_winograd(key, s);
    if (s.portion.last > 0) l.tiles = s.portion.last - s.portion.first;
    if (s.channels.last > 0) l.padded_channels = padded(s.channels.last - s.channels.first, key.target);
    int const vectors = l.padded_channels / lanes(key.target);
    tile_machine const on = machine_of(key, core);
    long const products = l.points() * product_cost(on, key.tile, l.tiles, vectors, l.depth);
    return double(products + transform_cost(l, on) + 4000);
  }
  static constexpr double in_order_factor(structure) { return 1; }
  static constexpr void describe_loops(kernel_key const&, planned_data const&, partition::part_loops&) {}
  /// For each block of tiles the inputs are transformed; every panel of channels reads all of them, and its products
  /// are written, read and transformed. If points come first, all panels read the inputs of a point before those of the
  /// next, and the products of all points are transformed at the end.
  static constexpr void add_loops(kernel_key const& key, planned_data const& s, partition::part_loops const& loops,
                                  auto& r) {
    add_kernel(r, loops);
    winograd_layout const l = layout_of_winograd(key, s);
    using partition::pieces;
    std::int64_t const blocks = pieces(l.tiles, l.block), panels = pieces(l.padded_channels, l.panel);
    std::int64_t const inputs = 4 * l.products(), products = 4 * l.scratch_floats() - inputs;
    std::int64_t const panel = r.weights / panels;
    r.order = {blocks, 1};
    r.scratch = inputs + products;
    r.add(r.weights, blocks - 1, r.scratch + (loops.input + loops.output) / blocks + r.weights);
    if (l.points_first) {
      std::int64_t const all = r.scratch + r.weights, points = l.points();
      r.add(inputs + products, blocks - 1, all);
      r.add(inputs * blocks, 1, (all + inputs) / 2);  // between them, half of the points on average
      r.add(inputs * blocks, panels - 1, inputs / points + (r.weights + products) / points / panels);
      return r.add(products * blocks, 1, (all + products) / 2);
    }
    r.add(inputs * blocks, panels, inputs + panel + products);
    r.add(products * blocks, 2 * panels - 1, inputs / panels + panel + products);
  }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 0; }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const& key, planned_data const&) {
    return {.granule = key.tile.pixels, .tiles = true};
  }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const& key, planned_data const& s) {
    return {.granule = layout_of_winograd(key, s).panel, .repeats = true};
  }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}
  static constexpr long indices(kernel_key const& key, step_data const& s) { return layout_of_winograd(key, s).tiles; }
  static constexpr value_region written_by_portion(kernel_key const& key, step_data const& s, plan::stretch const& of) {
    if (s.out.n > 1) return {};
    tile_rows const rows(layout_of_winograd(key, s), of, false);
    return whole_of(s.out).common_with({rows.first * s.out.w, rows.last * s.out.w, 0, s.out.c});
  }
  static constexpr value_region read_by_portion(kernel_key const& key, step_data const& s, plan::stretch const& of) {
    value_region const all = whole_of(s.in);
    if (s.in.n > 1) return all;
    tile_rows const rows(layout_of_winograd(key, s), of, true);
    int const pad = s.win.pad_top, width = s.in.w;
    return all.common_with({(rows.first - pad) * width, (rows.last + 2 - pad) * width, 0, s.in.c});
  }

 private:
  /// The rows of an image in which tiles are, of the tiles that begin at `first` and end before `last`.
  struct tile_rows {
    long first, last;  ///< of those that are there as a whole, or, if `touched`, of all
    constexpr tile_rows(winograd_layout const& l, plan::stretch const& of, bool touched)
        : first((of.first + (touched ? 0 : l.columns - 1)) / l.columns * l.tile),
          last((of.last + (touched ? l.columns - 1 : 0)) / l.columns * l.tile) {}
  };
};

}  // namespace ago::kernel
