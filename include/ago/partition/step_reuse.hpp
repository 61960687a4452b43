// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes a step uses more than once, and how many others it uses in between: the loops of kernels and pipelines,
// as a cache sees them.
#pragma once

#include <ago/partition/chain_link.hpp>
#include <ago/partition/traffic.hpp>

namespace ago::partition {

/// How a step goes over its values: `blocks` of the input, and for each of them `panels` of channels that read all of
/// the block. One of both: every byte is read once, from the first to the last. Positions in a value and in time count
/// from 0 to `whole`.
struct sweep {
  static constexpr std::int64_t whole = 1 << 16;
  std::int64_t blocks = 1, panels = 1;

  /// When the byte at x is read for the first and for the last time.
  constexpr std::int64_t first_read(std::int64_t x) const { return read(x, 0); }
  constexpr std::int64_t last_read(std::int64_t x) const { return read(x, panels - 1); }
  /// When it is written.
  constexpr std::int64_t written(std::int64_t x) const {
    return panels > 1 ? (block_of(x) * whole + whole / 2) / blocks : x;
  }

 private:
  constexpr std::int64_t block_of(std::int64_t x) const {
    std::int64_t const b = x * blocks / whole;
    return b < blocks ? b : blocks - 1;
  }
  constexpr std::int64_t read(std::int64_t x, std::int64_t panel) const {
    if (blocks == 1 && panels == 1) return x;
    std::int64_t const b = block_of(x), within = x * blocks - b * whole;
    return (b * whole + (panel * whole + within) / panels) / blocks;
  }
};

/// A kernel or a pipeline as a cache sees it. All figures but `order` are in bytes.
struct step_use {
  sweep order{};
  bool to_product = false;  ///< a matrix product reads its operands
  std::int64_t weights{}, scratch{};
  std::int64_t rings[max_parts]{};  ///< what is kept of the result of each part that another one reads
};

/// Likewise, with the price of all that is used again.
struct priced_use : step_use {
  device const& on;
  std::int64_t price = 0;

  constexpr explicit priced_use(device const& of) : on(of) {}
  /// `bytes` are used `times` / `of` times more, after `distance` others each time; `to_product`: by a matrix product.
  constexpr void add(std::int64_t bytes, std::int64_t times, std::int64_t distance, bool to_product = false,
                     std::int64_t of = 1) {
    if (bytes <= 0 || times <= 0) return;
    price += (bytes / of * times + bytes % of * times / of) * price_after(distance, on, to_product);
  }
};

/// Likewise, with a list of it.
struct step_reuse : step_use {
  /// `bytes` that are used again after `distance` others.
  struct repetition {
    std::int64_t bytes{}, distance{};
    bool to_product{};
  };
  /// Three for each matrix product, two for each value between parts, four for the whole.
  static constexpr int capacity = 5 * max_parts + 2;
  repetition again[capacity]{};
  int count{};

  constexpr void add(std::int64_t bytes, std::int64_t times, std::int64_t distance, bool to_product = false,
                     std::int64_t of = 1) {
    if (bytes > 0 && times > 0) again[count++] = {bytes / of * times + bytes % of * times / of, distance, to_product};
  }
};

/// How the kernel of a part goes over its operands.
struct part_loops {
  enum class kind : std::uint8_t { matrix, convolution, depthwise, other } what{};
  bool accumulates = false;  ///< a matrix product in chunks of its inputs' channels
  int groups = 1;
  int tile = 1;                 ///< a matrix product: pixels of its register tile; depthwise: rows computed at a time
  std::int64_t blocks = 1;      ///< of pixels, rows or (depthwise) channels, computed one after another if it is alone
  std::int64_t panels = 1;      ///< a matrix product: of its weights, for all groups
  std::int64_t weights = 0;     ///< bytes of these panels
  std::int64_t parameters = 0;  ///< all packed parameters, in bytes
  std::int64_t input = 0, output = 0;  ///< bytes of the lines that hold them
  shape in{}, out{};
  window win{};

  constexpr bool is_matrix() const { return what == kind::matrix || what == kind::convolution; }
};

/// A matrix product over `blocks` blocks of its pixels. In a pipeline by channels it is computed in `chunks`: of the
/// products that are added, if it accumulates, otherwise of the results.
constexpr void add_matrix(auto& r, part_loops const& p, std::int64_t blocks, std::int64_t chunks = 1) {
  std::int64_t const deep = p.accumulates ? chunks : 1, panel = p.weights / p.panels / deep;
  std::int64_t const in = p.input / p.groups / blocks / deep, out = p.output / p.panels / blocks;
  std::int64_t const tiles = pieces(pieces(p.out.pixels(), p.tile), blocks);
  r.add(p.input, p.panels / p.groups - chunks / deep, in + panel + out, true);
  r.add(p.weights * blocks, tiles - 1, panel + (in + out) / tiles, true);
  if (p.what != part_loops::kind::convolution) return;
  std::int64_t const rows = 4L * p.win.span_h() * p.in.w * p.in.c / p.groups;
  r.add(p.input * p.panels / p.groups, p.win.kernel_h - p.win.stride_h, rows + panel + out / p.out.h * blocks, true,
        p.win.stride_h);
}

/// The input of a window that goes down the image `rows` rows of results at a time: these read some rows again.
constexpr void add_window(auto& r, window const& w, int rows, std::int64_t input, std::int64_t distance) {
  r.add(input, w.span_h() - w.stride_h, distance, false, std::int64_t(rows) * w.stride_h);
}

/// The kernel of a part that is computed alone. `r`: a priced_use or a step_reuse.
constexpr void add_kernel(auto& r, part_loops const& p) {
  r.weights = p.parameters;
  if (p.is_matrix()) {
    r.to_product = true;
    r.order = {p.blocks, p.panels / p.groups};
    add_matrix(r, p, p.blocks);
    r.add(p.weights, p.blocks - 1, (p.input + p.output) / p.blocks + p.weights, true);
  } else if (p.what == part_loops::kind::depthwise) {
    std::int64_t const rows = std::int64_t(p.tile - 1) * p.win.stride_h + p.win.span_h();
    add_window(r, p.win, p.tile, p.input, (rows * p.input / p.in.h + p.tile * p.output / p.out.h) / p.in.n / p.blocks);
  }
}

/// A pipeline of `count` parts. `use`: set_of the chain in these tiles.
constexpr void add_pipeline(auto& r, part_loops const* parts, chain_link const* chain, int count,
                            chain_tiling const& tiles, working_set const& use) {
  if (tiles.how == tiling::fold) {
    add_pipeline(r, parts, chain, count - 1, {tiling::rows, 0}, use);
    r.weights += parts[count - 1].parameters;
    return r.add(parts[count - 2].output, 1, use.of_pass());
  }
  std::int64_t const passes = use.images * use.passes, input = use.input * use.images, pass = use.of_pass();
  for (int i = 0; i < count; ++i) r.weights += parts[i].parameters;
  if (tiles.how == tiling::operand) return;
  r.to_product = parts[0].is_matrix();
  if (tiles.how == tiling::channels) r.order = {use.images, use.chunks};
  r.add(r.weights, passes - 1, pass, true);
  if (chain[0].kind == op::depthwise && tiles.how != tiling::channels)
    add_window(r, chain[0].win, pipeline_rows, input * use.chunks, pass);
  if (use.chunks > 1) {
    if (chain[0].kind != op::depthwise) r.add(input, use.chunks - 1, use.of_chunk(), r.to_product);
    if (is_matrix_product(chain[count - 1].kind)) r.add(use.result * use.images, use.chunks - 1, use.of_chunk());
  }
  for (int i = 0; i + 1 < count; ++i) {  // written into the ring, and read by the next part, some rows several times
    std::int64_t const value = parts[i].output, kept = use.kept[i];
    std::int64_t const of_pass = value / passes / use.chunks, fresh = of_pass > 0 ? of_pass : 1;
    r.rings[i] = kept;
    std::int64_t const next = i + 2 < count ? use.kept[i + 1] : use.result;
    std::int64_t const between = use.input + kept + (next + r.weights / use.chunks) / 2;
    r.add(value, 1, pass);
    r.add(value, kept > fresh ? kept : 1, tiles.how == tiling::channels ? between : pass, parts[i + 1].is_matrix(),
          kept > fresh ? fresh : 1);
  }
  for (int i = 0; i < count; ++i)
    if (parts[i].is_matrix()) add_matrix(r, parts[i], passes, use.chunks);
}

}  // namespace ago::partition
