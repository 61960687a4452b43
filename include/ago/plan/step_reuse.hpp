// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a plan as a cache sees them.
#pragma once

#include <ago/kernel/attention/layout.hpp>
#include <ago/partition/step_reuse.hpp>
#include <ago/plan/account.hpp>

namespace ago::detail {

/// Floats of the cache lines that hold a value: more than its own where pixels are farther apart than their channels.
constexpr long floats_in_lines(place const& at, shape const& s) {
  constexpr int line = 16;
  long const pixels = at.pixel_stride == 0 ? s.n : s.pixels();
  if (at.pixel_stride <= s.c) return pixels * s.c;
  int const touched = s.c - 1 + line;  // on average, wherever in its line the first channel is
  return pixels * (touched < at.pixel_stride ? touched : at.pixel_stride);
}

/// The part as a link of a chain.
constexpr chain_link link_of(planned_step const& p) {
  planned_data const& d = p.data;
  chain_link r{.in = d.in, .out = d.out, .win = d.win};
  switch (p.key.what) {
    case structure::convolution: r.kind = op::conv2d; break;
    case structure::depthwise: r.kind = op::depthwise; break;
    case structure::max_pool: r.kind = op::max_pool; break;
    case structure::avg_pool: r.kind = op::avg_pool; break;
    default: r.kind = op::pointwise;
  }
  if (r.kind == op::depthwise) r.weight_bytes = 4L * d.win.kernel_h * d.win.kernel_w * d.out.c;
  else if (!pools_windows(r.kind)) r.weight_bytes = 4L * matrix_depth(d) * d.out.c;
  return r;
}

/// The loops of a part. `input`: bytes of the lines that hold its input.
constexpr part_loops loops_of(planned_step const& p, std::int64_t input) {
  planned_data const& d = p.data;
  using kind = part_loops::kind;
  part_loops r{.accumulates = p.key.accumulates, .input = input, .in = d.in, .out = d.out, .win = d.win};
  r.what = p.key.what == structure::convolution                                    ? kind::convolution
           : p.key.what == structure::pointwise || p.key.what == structure::im2col ? kind::matrix
           : p.key.what == structure::depthwise                                    ? kind::depthwise
                                                                                   : kind::other;
  r.parameters = 4 * parameter_floats(p);
  r.output = 4 * floats_in_lines(d.destination, d.out);
  if (r.is_matrix()) {
    matrix_layout const l = layout_of_matrix(p.key, d);
    std::int64_t const extent = r.what == kind::convolution ? d.out.h : d.out.pixels();
    r.groups = d.groups;
    r.tile = p.key.tile.pixels;
    r.blocks = d.block > 0 ? pieces(extent, d.block) : 1;
    r.panels = d.groups * pieces(l.padded_channels, l.panel);
    r.weights = 4 * l.floats(d.groups);
  } else if (r.what == kind::depthwise) {
    int const vectors = padded(d.out.c, p.key.target) / lanes(p.key.target);
    r.tile = p.key.tile.vectors;
    r.blocks = d.block > 0 && d.block < vectors ? pieces(vectors, d.block) : 1;
  }
  return r;
}

/// For each block of tiles the inputs are transformed; every panel of channels reads all of them, and its products are
/// written, read and transformed. If points come first, all panels read the inputs of a point before those of the next,
/// and the products of all points are transformed at the end.
constexpr void add_winograd(auto& r, planned_step const& p, std::int64_t input, std::int64_t output) {
  winograd_layout const l = layout_of_winograd(p.key, p.data);
  std::int64_t const blocks = pieces(l.tiles, l.block), panels = pieces(l.padded_channels, l.panel);
  std::int64_t const inputs = 4 * l.products(), products = 4 * l.scratch_floats() - inputs;
  std::int64_t const panel = r.weights / panels;
  r.order = {blocks, 1};
  r.scratch = inputs + products;
  r.add(r.weights, blocks - 1, r.scratch + (input + output) / blocks + r.weights);
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

/// For each batch the second operand is packed; every few rows of the first read all of it.
constexpr void add_product(auto& r, planned_step const& p, std::int64_t input, std::int64_t output) {
  planned_data const& d = p.data;
  attention_layout const l = layout_of_attention(p.key.what, d, d.other_shape, p.key.target);
  bool const heads = p.key.what == structure::attention || p.key.what == structure::attention_scores;
  std::int64_t const batches = d.in.pixels() / l.rows * (heads ? d.groups : 1);
  std::int64_t const operand = 4L * (l.first.floats() + l.second.floats());
  r.scratch = 4L * l.floats();
  r.add(operand * batches, 1, operand + (input + output) / batches);
  r.add(operand * batches, pieces(l.rows, product_tile(p.key.target).pixels), r.scratch);
}

/// Adds a kernel that is a step to `r`. `input`: bytes of the lines that hold its input.
constexpr void add_step(auto& r, planned_step const& p, std::int64_t input) {
  part_loops loops = loops_of(p, input);
  if (p.key.what == structure::im2col) {
    planned_data const& d = p.data;
    r.scratch = loops.input = 4 * d.out.pixels() * matrix_depth(d) * d.groups;
    loops.blocks = 1;
  }
  add_kernel(r, loops);
  if (p.key.what == structure::im2col) r.order = {};
  if (winograd_tile(p.key.what) > 0) add_winograd(r, p, input, loops.output);
  if (is_product(p.key.what)) add_product(r, p, input, loops.output);
}

/// Likewise, a pipeline of `count` parts.
constexpr void add_step(auto& r, planned_step const* parts, int count, chain_tiling const& tiles) {
  chain_link chain[max_parts]{};
  part_loops loops[max_parts]{};
  for (int i = 0; i < count; ++i) {
    chain[i] = link_of(parts[i]);
    loops[i] = loops_of(parts[i], 4 * parts[i].data.in.count());
    loops[i].output = 4 * parts[i].data.out.count();
  }
  add_pipeline(r, loops, chain, count, tiles, set_of(chain, count, tiles));
}

}  // namespace ago::detail
