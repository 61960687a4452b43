// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of products of two values: batches of them, those of attentions, and whole attentions.
#pragma once

#include <ago/kernel/attention/layout.hpp>
#include <ago/kernel/matrix/schedule.hpp>
#include <ago/kernel/norm/unit.hpp>
#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct matmul_kernel;  // matmul.hpp
template <kernel_key K>
struct attention_scores_kernel;  // attention.hpp, with those below
template <kernel_key K>
struct attention_values_kernel;
template <kernel_key K>
struct attention_kernel;

/// Of these, only whole attentions are divided: by images, or by heads.
struct attention_unit : without_weights, without_schedule, without_tiles, divided_by_values, keeps_operands {
  static constexpr structure structures[] = {structure::matmul, structure::attention_scores,
                                             structure::attention_values, structure::attention};
  static constexpr bool multiplies_values = true, of_expressions = false;
  static constexpr bool implements(structure what, op kind) {
    return (what == structure::matmul && kind == op::matmul) ||
           (what == structure::attention_scores && kind == op::attention_scores) ||
           (what == structure::attention_values && kind == op::attention_values);
  }
  static constexpr bool multiplies(structure) { return true; }
  static constexpr bool copies(structure) { return false; }
  template <kernel_key K>
  static constexpr auto kernel() {
    if constexpr (K.what == structure::matmul) return std::type_identity<matmul_kernel<K>>{};
    else if constexpr (K.what == structure::attention_scores) return std::type_identity<attention_scores_kernel<K>>{};
    else if constexpr (K.what == structure::attention_values) return std::type_identity<attention_values_kernel<K>>{};
    else return std::type_identity<attention_kernel<K>>{};
  }

  /// At one or two multiply-adds a cycle; an attention with the softmax between its two products.
  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const& on) {
    attention_layout const l = layout_of_attention(key.what, s, s, key.target);
    double const rows = double(s.in.pixels()) * batches(key.what, s);
    double const columns = double(l.first.padded_columns()) / lanes(key.target);
    double const product = machine_of(key, on).product * rows * columns * l.first.depth;
    double const all = key.what == structure::attention ? product + product + softmax_cycles(rows, columns) : product;
    return copy_cycles(key, s) + all;
  }
  static constexpr double in_order_factor(structure) { return 1; }
  static constexpr long scratch_floats(kernel_key const& key, planned_data const& s) {
    return attention_scratch_floats(key.what, s, key.target);
  }
  static constexpr void describe_loops(kernel_key const&, planned_data const&, partition::part_loops&) {}
  /// For each batch the second operand is packed; every few rows of the first read all of it.
  static constexpr void add_loops(kernel_key const& key, planned_data const& s, partition::part_loops const& loops,
                                  auto& r) {
    add_kernel(r, loops);
    attention_layout const l = layout_of_attention(key.what, s, s, key.target);
    std::int64_t const all = s.in.pixels() / l.rows * batches(key.what, s);
    std::int64_t const operand = 4L * (l.first.floats() + l.second.floats());
    r.scratch = 4L * l.floats();
    r.add(operand * all, 1, operand + (loops.input + loops.output) / all);
    r.add(operand * all, partition::pieces(l.rows, product_tile(key.target).pixels), r.scratch);
  }

  static constexpr int granule_of_images(kernel_key const& key, planned_data const& s, bool) {
    return key.what == structure::attention && s.other_shape.n == s.in.n;
  }
  static constexpr int granule_of_rows(kernel_key const&, planned_data const&, chain_tiling const&, bool) { return 0; }
  static constexpr plan::pixel_cut cut_of_pixels(kernel_key const&, planned_data const&) { return {}; }
  static constexpr plan::channel_cut cut_of_channels(kernel_key const& key, planned_data const& s) {
    if (key.what != structure::attention) return {};
    return {.granule = s.in.c / s.groups, .narrows = true, .reads_own = true, .others_too = true};
  }
  static constexpr void narrow(kernel_key const&, planned_data& s, plan::stretch const& of) {
    s.groups = int(of.size()) / (s.in.c / s.groups);
    s.in.c = int(of.size());
    for (place& other : s.other) other.offset += of.first;
  }

 private:
  /// Heads, of structures that have them.
  static constexpr int batches(structure what, step_data const& s) {
    return what == structure::attention || what == structure::attention_scores ? s.groups : 1;
  }
};

}  // namespace ago::kernel
