// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of depthwise convolutions: one window per channel.
#pragma once

#include <ago/kernel/depthwise/schedule.hpp>
#include <ago/kernel/unit.hpp>

#include <initializer_list>

namespace ago::kernel {

template <kernel_key K>
struct depthwise_kernel;  // kernel.hpp
template <isa I>
void pack_depthwise(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                    float* packed);  // pack.hpp

struct depthwise_unit : without_alternatives, without_portions, divided_by_values, keeps_operands {
  static constexpr structure structures[] = {structure::depthwise};
  static constexpr bool multiplies_values = false, of_expressions = false, has_weights = true, has_tiles = true;
  static constexpr bool implements(structure, op kind) { return kind == op::depthwise; }
  static constexpr bool multiplies(structure) { return true; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    return std::type_identity<depthwise_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const&) { return true; }
  /// For each vector of channels the taps (ky, kx), then the shift, [taps + 1][lanes].
  static constexpr long packed_floats(kernel_key const& key, step_data const& s) {
    return long(padded(s.out.c, key.target)) * (s.win.kernel_h * s.win.kernel_w + 1);
  }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_depthwise<I>(o.key, o.data, o.from, blob, to);
  }

  static constexpr int channel_groups(structure, step_data const&) { return 1; }
  static constexpr void choose(kernel_key& key, planned_data& s, schedule const& wish, chain_tiling const&,
                               device const&) {
    choose_depthwise(key, s, wish);
  }

  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const& on) {
    return double(depthwise_cost(machine_of(key, on), s, key.tile.pixels, key.tile.vectors));
  }
  static constexpr double in_order_factor(structure) { return 1; }
  static constexpr long scratch_floats(kernel_key const&, planned_data const&) { return 0; }
  static constexpr void describe_loops(kernel_key const& key, planned_data const& s, partition::part_loops& r) {
    int const vectors = padded(s.out.c, key.target) / lanes(key.target);
    r.what = partition::part_loops::kind::depthwise;
    r.tile = key.tile.vectors;
    r.blocks = s.block > 0 && s.block < vectors ? partition::pieces(vectors, s.block) : 1;
  }
  static constexpr void add_loops(kernel_key const&, planned_data const&, partition::part_loops const& loops, auto& r) {
    add_kernel(r, loops);
  }

  static constexpr int granule_of_images(kernel_key const&, planned_data const&, bool) { return 1; }
  static constexpr int granule_of_rows(kernel_key const& key, planned_data const&, chain_tiling const& in, bool) {
    return in.how == tiling::none ? key.tile.vectors : pipeline_rows;
  }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const& key, planned_data const& s) {
    return {.granule = lanes(key.target), .reads_own = s.in.c == s.out.c};
  }
  static constexpr void narrow(kernel_key const&, planned_data&, plan::stretch const&) {}

  /// One to four rows of up to eight columns; one row if the window is not known at compile time.
  static constexpr plan::tile_options tiles(kernel_key const& key, planned_data const& s) {
    plan::tile_ranking r;
    for (int rows = 1; rows <= (key.kernel_h > 0 ? 4 : 1) && rows <= s.out.h; ++rows)
      for (int columns = 2; columns <= 8 && columns <= s.out.w; ++columns) {
        if (columns == key.tile.pixels && rows == key.tile.vectors) continue;
        r.offer({columns, rows}, depthwise_cost(key.target, s, columns, rows));
      }
    return r.best;
  }
  static constexpr plan::tile_options repacked_tiles(kernel_key const&, planned_data const&) { return {}; }
  /// From one vector of channels at a time to all vectors for each register tile.
  static constexpr plan::block_options blocks(kernel_key const& key, planned_data const& s) {
    plan::block_options r;
    int const vectors = padded(s.out.c, key.target) / lanes(key.target);
    for (int const v : {1, 2, 4, 8})
      if (v < vectors) r.offer(v);
    if (s.block > 0) r.offer(vectors);
    return r;
  }
  static constexpr plan::loop_words order_of_loops(kernel_key const& key, planned_data const& s) {
    if (padded(s.out.c, key.target) == lanes(key.target)) return {};
    return {"pixels outermost", "channels outermost", 1, "vectors"};
  }
};

}  // namespace ago::kernel
