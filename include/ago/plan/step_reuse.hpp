// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes a step uses more than once, and how many others it uses in between: the loops of the kernels, as a cache
// sees them.
#pragma once

#include <ago/partition/fusion_cost.hpp>
#include <ago/plan/account.hpp>
#include <ago/plan/attention_layout.hpp>

namespace ago::detail {

constexpr double ceiling(double x) {
  long const whole = long(x);
  return double(whole) + (double(whole) < x);
}

/// Floats of the cache lines that hold a value: more than its own where pixels are farther apart than their channels.
constexpr double floats_in_lines(place const& at, shape const& s) {
  constexpr double line = 16;
  double const pixels = at.pixel_stride == 0 ? s.n : double(s.pixels());
  if (at.pixel_stride <= s.c) return pixels * s.c;
  double const touched = s.c - 1 + line;  // on average, wherever in its line the first channel is
  return pixels * (touched < at.pixel_stride ? touched : at.pixel_stride);
}

/// How a step goes over its values: `blocks` of the input, and for each of them `panels` of channels that read all of
/// the block. One of both: every byte is read once, from the first to the last.
struct sweep {
  double blocks = 1, panels = 1;

  /// When the byte at x, in 0 ... 1, is read for the first and for the last time, as a fraction of the step.
  constexpr double first_read(double x) const { return read(x, 0); }
  constexpr double last_read(double x) const { return read(x, panels - 1); }
  /// When it is written.
  constexpr double written(double x) const { return panels > 1 ? (block_of(x) + .5) / blocks : x; }

 private:
  constexpr double block_of(double x) const {
    double const b = double(long(x * blocks));
    return b < blocks ? b : blocks - 1;
  }
  constexpr double read(double x, double panel) const {
    double const b = block_of(x), within = x * blocks - b;
    return (b + (panel + within) / panels) / blocks;
  }
};

/// Bytes that are used again.
struct repetition {
  double bytes{};     ///< of one use
  double times{};     ///< after the first
  double distance{};  ///< bytes used from one use to the next
};

/// A kernel or a pipeline as a cache sees it. All figures but `order` are in bytes.
struct step_reuse {
  /// Three for each matrix product, two for each value between parts, four for the whole.
  static constexpr int capacity = 5 * max_parts + 2;
  sweep order{};
  repetition again[capacity]{};
  int count{};
  double weights{}, scratch{};
  double rings[max_parts]{};  ///< what is kept of the result of each part that another one reads

  constexpr void add(double bytes, double times, double distance) {
    if (bytes > 0 && times > 0) again[count++] = {bytes, times, distance};
  }
};

/// The packed weights of a matrix product: bytes of all panels and of one, and the number of panels.
struct panel_bytes {
  double weights, panel, panels;
};
constexpr panel_bytes panels_of(planned_step const& p) {
  matrix_layout const l = layout_of_matrix(p.key, p.data);
  double const weights = 4. * double(l.floats(p.data.groups));
  double const panels = p.data.groups * ceiling(double(l.padded_channels) / l.panel);
  return {weights, weights / panels, panels};
}

/// A matrix product over `blocks` blocks of its pixels; `input` and `output`: bytes of all of them. In a pipeline by
/// channels it is computed in `chunks`: of the products that are added, if it accumulates, otherwise of the results.
constexpr void add_matrix(step_reuse& r, planned_step const& p, double blocks, double input, double output,
                          double chunks = 1) {
  panel_bytes const of = panels_of(p);
  planned_data const& d = p.data;
  double const groups = d.groups, deep = p.key.accumulates ? chunks : 1;
  double const in = input / groups / blocks / deep, out = output / of.panels / blocks, panel = of.panel / deep;
  double const tiles = ceiling(double(d.out.pixels()) / p.key.tile.pixels / blocks);
  r.add(input, of.panels / groups - chunks / deep, in + panel + out);
  r.add(of.weights * blocks, tiles - 1, panel + (in + out) / tiles);
  if (p.key.what != structure::convolution) return;
  double const rows = 4. * d.win.span_h() * d.in.w * d.in.c / groups;
  r.add(input * of.panels / groups, double(d.win.kernel_h) / d.win.stride_h - 1, rows + panel + out / d.out.h * blocks);
}

/// The input of a window that goes down the image `rows` rows of results at a time: these read some rows again.
constexpr void add_window(step_reuse& r, window const& w, int rows, double input, double distance) {
  double const fresh = double(rows) * w.stride_h;
  r.add(input, ((rows - 1.) * w.stride_h + w.span_h()) / fresh - 1, distance);
}

/// For each block of tiles the inputs are transformed; every panel of channels reads all of them, and its products are
/// written, read and transformed.
constexpr void add_winograd(step_reuse& r, planned_step const& p, double input, double output) {
  winograd_layout const l = layout_of_winograd(p.key, p.data);
  double const blocks = ceiling(double(l.tiles) / l.block), panels = ceiling(double(l.padded_channels) / l.panel);
  double const inputs = 4. * double(l.products()), products = 4. * double(l.scratch_floats()) - inputs;
  double const panel = r.weights / panels;
  r.order = {blocks, 1};
  r.scratch = inputs + products;
  r.add(r.weights, blocks - 1, r.scratch + (input + output) / blocks + r.weights);
  r.add(inputs * blocks, panels, inputs + panel + products);
  r.add(products * blocks, 2 * panels - 1, inputs / panels + panel + products);
}

/// For each batch the second operand is packed; every few rows of the first read all of it.
constexpr void add_product(step_reuse& r, planned_step const& p, double input, double output) {
  planned_data const& d = p.data;
  attention_layout const l = layout_of_attention(p.key.what, d, d.other_shape, p.key.target);
  bool const heads = p.key.what == structure::attention || p.key.what == structure::attention_scores;
  double const batches = double(d.in.pixels()) / l.rows * (heads ? d.groups : 1);
  double const operand = 4. * double(l.first.floats() + l.second.floats());
  r.scratch = 4. * double(l.floats());
  r.add(operand * batches, 1, operand + (input + output) / batches);
  r.add(operand * batches, ceiling(double(l.rows) / product_tile(p.key.target).pixels), r.scratch);
}

/// A kernel alone. `input`: bytes of the lines that hold its input.
constexpr step_reuse reuse_of_kernel(planned_step const& p, double input) {
  step_reuse r;
  planned_data const& d = p.data;
  double const output = 4. * floats_in_lines(d.destination, d.out);
  r.weights = 4. * double(parameter_floats(p));
  if (p.key.what == structure::pointwise || p.key.what == structure::convolution) {
    double const extent = p.key.what == structure::convolution ? d.out.h : double(d.out.pixels());
    double const blocks = d.block > 0 ? ceiling(extent / d.block) : 1;
    panel_bytes const of = panels_of(p);
    r.order = {blocks, of.panels / d.groups};
    add_matrix(r, p, blocks, input, output);
    r.add(of.weights, blocks - 1, (input + output) / blocks + of.weights);
  } else if (p.key.what == structure::im2col) {
    r.scratch = 4. * double(d.out.pixels()) * matrix_depth(d) * d.groups;
    add_matrix(r, p, 1, r.scratch, output);
  } else if (winograd_tile(p.key.what) > 0) {
    add_winograd(r, p, input, output);
  } else if (is_product(p.key.what)) {
    add_product(r, p, input, output);
  } else if (p.key.what == structure::depthwise) {
    int const vectors = padded(d.out.c, p.key.target) / lanes(p.key.target), rows = p.key.tile.vectors;
    double const passes = d.block > 0 && d.block < vectors ? double(vectors) / d.block : 1;
    double const read = ((rows - 1.) * d.win.stride_h + d.win.span_h()) / d.in.h * input;
    add_window(r, d.win, rows, input, (read + double(rows) / d.out.h * output) / d.in.n / passes);
  }
  return r;
}

/// A pipeline of `count` parts.
constexpr step_reuse reuse_of_pipeline(planned_step const* parts, int count, chain_link const* chain,
                                       chain_tiling const& tiles) {
  step_reuse r;
  working_set const use = set_of(chain, count, tiles);
  double const images = double(use.images), passes = images * double(use.passes), chunks = double(use.chunks);
  double const of_pass = double(use.of_pass()), of_chunk = double(use.of_chunk());
  for (int i = 0; i < count; ++i) r.weights += 4. * double(parameter_floats(parts[i]));
  if (tiles.how == tiling::channels) r.order = {images, chunks};
  r.add(r.weights, passes - 1, of_pass);
  if (chain[0].kind != op::depthwise) r.add(double(use.input) * images, chunks - 1, of_chunk);
  else if (tiles.how != tiling::channels)
    add_window(r, chain[0].win, pipeline_rows, double(use.input) * images * chunks, of_pass);
  if (is_matrix_product(chain[count - 1].kind)) r.add(double(use.result) * images, chunks - 1, of_chunk);
  for (int i = 0; i + 1 < count; ++i) {  // written into the ring, and read by the next part, some rows several times
    double const value = 4. * double(chain[i].out.count()), kept = double(tile_bytes(chain, count, i, tiles));
    double const fresh = value / passes / chunks;
    r.rings[i] = kept;
    double const next = i + 2 < count ? double(tile_bytes(chain, count, i + 1, tiles)) : double(use.result);
    double const between = double(use.input) + kept + (next + r.weights / chunks) / 2;
    r.add(value, 1, of_pass);
    r.add(value, kept > fresh ? kept / fresh : 1, tiles.how == tiling::channels ? between : of_pass);
  }
  for (int i = 0; i < count; ++i) {
    planned_data const& d = parts[i].data;
    if (parts[i].key.what == structure::pointwise || parts[i].key.what == structure::convolution)
      add_matrix(r, parts[i], passes, 4. * double(d.in.count()), 4. * double(d.out.count()), chunks);
  }
  return r;
}

}  // namespace ago::detail
