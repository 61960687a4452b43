// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of a plan. A kernel is determined by a key, which selects its code, and data.
#pragma once

#include <ago/ir/graph.hpp>
#include <ago/ir/sampling.hpp>
#include <ago/partition/tiling.hpp>
#include <ago/plan/factor_layout.hpp>
#include <ago/plan/strided_loops.hpp>

namespace ago::plan {

/// The loop structure of a kernel.
enum class structure : std::uint8_t {
  pointwise,    ///< matrix product over pixels: 1x1 convolution, linear
  convolution,  ///< direct convolution, any window, groups, dilation
  depthwise,    ///< one window per channel
  max_pool,
  avg_pool,
  global_max_pool,
  global_avg_pool,
  elementwise,  ///< reads one value, applies the epilogue, writes
  from_nchw,
  to_nchw,
  im2col,            ///< convolution of a small image: the product of its copied windows and the weights
  winograd_2,        ///< F(2x2, 3x3): convolution 3x3 with stride 1
  winograd_4,        ///< F(4x4, 3x3)
  matmul,            ///< batches of products of two values
  attention_scores,  ///< queries times keys
  attention_values,  ///< weights times values
  attention,         ///< both with the softmax between them, a few rows at a time
  softmax,
  layer_norm,
  copy,  ///< data movement: slice, channel_shuffle, permute, unfold, fold, expand: step_details::loops
  pad,
  resize_nearest,
  resize_bilinear,
  embedding,
  reduction,    ///< along axes: kernel_key::reduces
  contraction,  ///< a matrix product with scattered rows and columns: kernel_key::described
  nest,         ///< the loops of an index expression: kernel_key::described
};

inline constexpr char const* structure_names[] = {"pointwise",
                                                  "convolution",
                                                  "depthwise",
                                                  "max_pool",
                                                  "avg_pool",
                                                  "global_max_pool",
                                                  "global_avg_pool",
                                                  "elementwise",
                                                  "from_nchw",
                                                  "to_nchw",
                                                  "im2col",
                                                  "winograd_2",
                                                  "winograd_4",
                                                  "matmul",
                                                  "attention_scores",
                                                  "attention_values",
                                                  "attention",
                                                  "softmax",
                                                  "layer_norm",
                                                  "copy",
                                                  "pad",
                                                  "resize_nearest",
                                                  "resize_bilinear",
                                                  "embedding",
                                                  "reduction",
                                                  "contraction",
                                                  "nest"};
inline constexpr int structure_count = ir::lines_of(structure_names);
static_assert(ir::has_enumerators<structure, structure_count>());
constexpr char const* name_of(structure what) { return structure_names[int(what)]; }

inline constexpr int max_stages = 6;
/// The most values that the main operator of a step reads.
inline constexpr int max_inputs = expression::index_expression::max_operands;

/// One elementwise operator applied in registers before a result is stored.
struct stage {
  op kind = op::identity;           ///< an elementwise op; identity ends the list
  user_function const* function{};  ///< op::map
  bool reversed = false;            ///< binary: the operand comes first, then the result so far
  bool one_channel = false;         ///< binary: the operand has one channel, which is broadcast
  bool operator==(stage const&) const = default;
};

/// Elementwise operators that a kernel applies after its main operator, in order.
struct epilogue {
  stage stages[max_stages]{};
  bool operator==(epilogue const&) const = default;
  constexpr int count() const {
    int n = 0;
    while (n < max_stages && stages[n].kind != op::identity) ++n;
    return n;
  }
};

/// A register tile: `pixels` x `vectors` accumulators, and the remainders of the extents after whole tiles, which are 0
/// if there are none. Part of the key, because it decides the code.
struct register_tile {
  int pixels = 1, vectors = 1;
  int pixels_left = 0, vectors_left = 0;
  bool operator==(register_tile const&) const = default;
};

/// Everything that changes the code of a kernel; extents, addresses and cache tiles are data (step_data).
/// Two steps with one key share one function.
struct kernel_key {
  structure what{};
  isa target = native_isa;
  register_tile tile{};
  bool partial{};                  ///< the last vector of channels is partly filled
  bool paired{};                   ///< pointwise: a register holds two steps of K for half as many channels
  bool accumulates{};              ///< pointwise: adds step_data::portion of K at a time, and keeps sums in the result
  bool points_first{};             ///< Winograd: every point of all panels before the next point, see winograd_layout
  bool gathers{};                  ///< pointwise: copies blocks of its input into scratch first
  bool in_runs{};                  ///< pointwise: reads step_data::runs, which are not contiguous
  bool fetches_input{};            ///< convolution, elementwise: prefetches its input
  bool fetches_ahead{};            ///< elementwise: its input exceeds L3, too; the part after it: prefetches that
  std::uint8_t joined_pixels = 1;  ///< convolution: pixels of a row whose channels are computed as those of one
  std::uint8_t window_row{};       ///< convolution: floats in a row of the window, if loops are compiled for so many
  bool in_order{};                 ///< loops for cores that issue in order, see device::in_order
  bool transposed{};               ///< matmul: the second operand's rows are the columns of the product; pointwise: the
                                   ///< scratch of one that gathers has a channel of four pixels after another
  op reduces{};                    ///< reduction: the operator
  int kernel_h{}, kernel_w{};      ///< depthwise, max_pool: window known at compile time; 0: taken from the data
  int stride_h{}, stride_w{};      ///< likewise
  epilogue after{};
  expression::index_expression const* described{};  ///< contraction, nest: what is computed
  std::int8_t weight_operand{-1};                   ///< contraction: as in `node`
  std::int8_t made_operand{-1};                     ///< contraction: the one that the part before it computes; nest:
                                                    ///< the one whose pixels are in scratch while it folds them
  std::int8_t folded_operand{-1};                   ///< nest: the one that the part before it computes
  factor_layout factors{};                          ///< contraction: how factors are read
  bool operator==(kernel_key const&) const = default;
};

/// One step's kernel, or several run as one: a pipeline, in which a tile of each part's result is computed just before
/// the next part reads it (AGO III.B, intensive fusion).
struct fused_key {
  int parts = 1;
  kernel_key part[max_parts]{};
  ago::partition::tiling tiling = ago::partition::tiling::none;
  bool operator==(fused_key const&) const = default;
};

/// The place of a value in memory. Element (image, y, x, channel) is at
/// base + offset + ((image * h + y) * w + x) * pixel_stride + channel.
struct place {
  enum class area : std::uint8_t { none, arena, input, output, weights };
  area in = area::none;
  std::uint16_t index = 0;  ///< which input or output
  int offset = 0;           ///< floats
  int pixel_stride = 0;     ///< floats between pixels: more than the channels inside a concatenation, 0 if one pixel is
                            ///< broadcast
  int ring = 0;             ///< rows of a ring buffer, row y in slot y % ring; 0: all rows are kept
  bool operator==(place const&) const = default;
};

/// Contiguous channels in memory, which are channels `start`, `start + step`, ... of a value.
struct channel_segment {
  int count = 0, start = 0, step = 1;
  bool operator==(channel_segment const&) const = default;
};

/// A segment of K of a matrix product, of the value that the weights are for, and where it is.
struct input_run : channel_segment {
  place at{};
};

/// Can offsets address an area of memory of so many floats?
constexpr bool fits_offsets(long floats) { return floats <= 0x7fff'ffff; }

/// What has the indices first ... last - 1; all of it if `last` is 0.
struct index_range {
  int first = 0, last = 0;
};

/// The data of one epilogue stage.
struct stage_data {
  place operand{};      ///< binary: the other operand; pixel_stride 0 broadcasts one pixel per image
  int image_step = 0;   ///< binary: added to its addresses for each image; pixels are counted across images
  int parameters = -1;  ///< bias: shift[padded c]; batch_norm: scale[padded c], shift[padded c]; scale, prelu:
                        ///< factor[padded c]; offset into the packed weights
  float alpha = 0, beta = 0;
};

/// The data of one step that most kernels read. There is one for every part of every work item, so it is small: offsets
/// are ints, see fits_offsets, and what few kernels read is in step_tables, at the indices given here.
struct step_data {
  shape in{}, out{};
  window win{};
  int groups = 1;  ///< convolution; attention: heads
  bool count_pads = false;
  place source{}, destination{};
  int weights = 0;         ///< offset of this step's packed weights, in floats; a multiple of 16 (64 bytes)
  int block = 0;           ///< cache tile: pixels (pointwise), output rows (convolution) or tiles (Winograd) per pass
                           ///< over the weights, vectors of channels (depthwise) per pass over the image; 0: all
  index_range channels{};  ///< output channels to compute: whole panels, except for the last
  index_range portion{};   ///< input channels to add, if the kernel accumulates; how many to copy at a time, if it
                           ///< gathers; tiles to compute (Winograd), rows of M (contraction), indices of the
                           ///< outermost axis of the result with several (nest)
  int scratch = 0;         ///< Winograd, im2col, gathering, products of two values, contractions: where in the arena
                           ///< it is
  int run_count = 0;       ///< pointwise: the source's segments, all its channels; 0: contiguous
  int odd_runs = 0;        ///< segments with an odd number of channels
  int first_run = 0, first_stage = 0, details = 0;  ///< indices in step_tables
};

/// The data of one step that few kernels read.
struct step_details {
  place other[max_inputs - 1]{};  ///< products of two values: the second operand (keys, values); attention: keys,
                                  ///< values; contraction, nest: operands 1 ... of the expression
  shape other_shape{};            ///< of each of them, if they are alike
  ago::ir::patch patch{};         ///< attention and its products
  float alpha = 0;                ///< layer_norm: epsilon; products of two values: a factor; pad: the value of the pads
  strided_loops loops{};          ///< what a copy or pad moves; none: in the order of memory
  sampling positions{};           ///< resizing
  rounding rounds{};              ///< resize_nearest
  bool last_of_equals = false;    ///< arg_max: selects the last of equal channels, not the first
  bool operator==(step_details const&) const = default;
};

/// What steps have in different numbers: each step's entries are contiguous, from the index in step_data on.
struct step_tables {
  stage_data const* stages;  ///< of the epilogue
  input_run const* runs;
  step_details const* details;  ///< one for each step; steps without details share one
};

/// What packing the weights of a step's main operator needs to know of it.
struct packed_operator : step_data {
  input_run const* runs = nullptr;  ///< of the source, run_count of them
};

/// The data of one step as it is planned: complete in itself.
struct planned_data : packed_operator, step_details {
  stage_data after[max_stages]{};
  int pixel_floats = 0;  ///< of the cache lines in which the segments of a pixel are; 0: contiguous
  constexpr bool has_details() const { return !(static_cast<step_details const&>(*this) == step_details{}); }
  /// For a kernel that runs this step alone.
  step_tables tables() const { return {after, runs, this}; }
};

/// The source of the parameters of an operator or of an epilogue stage: offsets into the user's weight blob in floats,
/// -1 if there are none. Batch norm is folded while packing: with scale = gamma / sqrt(variance + epsilon) from `norm`,
/// weights become weight * scale, and shift becomes (shift - mean) * scale + beta from `shift_norm`.
struct parameter_source {
  int weight = -1;
  int norm = -1;        ///< scales the weights
  int shift = -1;       ///< bias vector
  int shift_norm = -1;  ///< norm applied to the bias; equals `norm` unless a partition separated the two
  float epsilon = 0;
  int start = 0, step = 1;  ///< output channel i is channel start + i * step of the source (step 0: one for all) ...
  int of = 0;               ///< ... which has this many channels; 0: as many as the step
  scattering scatter{};     ///< convolutions: the weights are those of a transposed convolution
  bool operator==(parameter_source const&) const = default;
};

/// The sources of the weights to pack for one step.
struct packing_data {
  parameter_source main{};
  parameter_source after[max_stages]{};
};

/// The memory that a run works on.
struct run_memory {
  float const* weights;        ///< packed, 64-byte aligned
  float* arena;                ///< 64-byte aligned
  float const* const* inputs;  ///< user's memory: no alignment, nothing read beyond the end. With storage::trained,
                               ///< the parameters follow
  float* const* outputs;       ///< likewise, and nothing written beyond the end
};

/// What a kernel works on besides the data of its step.
struct kernel_memory : run_memory {
  step_tables tables;

  constexpr kernel_memory(run_memory const& memory, step_tables const& lists) : run_memory(memory), tables(lists) {}
  constexpr stage_data const& stage(step_data const& s, int i) const { return tables.stages[s.first_stage + i]; }
  constexpr input_run const& run(step_data const& s, int i) const { return tables.runs[s.first_run + i]; }
  constexpr step_details const& details(step_data const& s) const { return tables.details[s.details]; }
};

/// A kernel, whose key is bound at compile time. The data of a pipeline's parts are contiguous in memory.
using kernel_function = void (*)(step_data const&, kernel_memory const&);

/// Is the last vector of so many channels partly filled (kernel_key::partial)?
constexpr bool has_partial_vector(kernel_key const& key, int channels) {
  return channels * (key.paired ? 2 : 1) % lanes(key.target) != 0;
}
/// Rounds up to whole vectors.
constexpr int padded(int channels, isa target) {
  return (channels + lanes(target) - 1) / lanes(target) * lanes(target);
}

}  // namespace ago::plan

namespace ago {
using plan::name_of;
}  // namespace ago
