// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph as a constexpr value: nodes in topological (recorded) order, edges as compressed rows.
#pragma once

#include <ago/expression/index_expression.hpp>
#include <ago/ir/array_of.hpp>
#include <ago/ir/op.hpp>
#include <ago/ir/sampling.hpp>
#include <ago/ir/shape.hpp>
#include <ago/ir/user_function.hpp>

#include <cstdint>

namespace ago::ir {

/// Window of a convolution or pooling: extents, strides and dilations in pixels; pads can be asymmetric.
struct window {
  int kernel_h = 1, kernel_w = 1;
  int stride_h = 1, stride_w = 1;
  int dilation_h = 1, dilation_w = 1;
  int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;

  constexpr bool operator==(window const&) const = default;
  /// Input rows that one output row spans.
  constexpr int span_h() const { return (kernel_h - 1) * dilation_h + 1; }
  constexpr int span_w() const { return (kernel_w - 1) * dilation_w + 1; }
  constexpr bool is_identity() const { return *this == window{}; }
  /// Is it a window of kernel x kernel adjacent pixels at stride 1?
  constexpr bool is_dense_square(int kernel) const {
    return kernel_h == kernel && kernel_w == kernel && stride_h == 1 && stride_w == 1 && dilation_h == 1 &&
           dilation_w == 1;
  }
  /// Does each output row read a single input row, and the next one the next?
  constexpr bool goes_row_by_row() const { return kernel_h == 1 && stride_h == 1; }
};

/// Parameters of an operator that has been merged into another one (see merge_siblings) and computes its further output
/// channels. Its vectors have `channels` elements.
struct sibling {
  int channels{};  ///< 0: none
  int weight{-1}, shift{-1}, norm{-1};
  constexpr bool operator==(sibling const&) const = default;
};
/// The most operators that can be merged into one.
inline constexpr int max_siblings = 4;

/// The part of an image in which pixels have places: attention, unfold and fold treat each place for itself.
struct patch {
  int h = 1, w = 1;

  constexpr bool operator==(patch const&) const = default;
  constexpr int pixels() const { return h * w; }
};

/// For a convolution that computes a transposed one: the window of the transposed one, whose weights are stored as
/// [in][out / groups][kernel_h][kernel_w]. The convolution's own output channels are [stride_h][stride_w][out / groups]
/// in each group.
struct scattering {
  int kernel_h = 0, kernel_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;

  constexpr bool operator==(scattering const&) const = default;
  constexpr bool is_used() const { return kernel_h > 0; }
};

/// One operator. Flat, because this makes constant evaluation and compilation fastest.
struct node {
  op kind{};
  shape out{};
  int input_first{}, input_count{};  ///< its operands are graph::edges[input_first ...]
  window win{};                      ///< convolutions and pooling; pad: its pads
  scattering scatter{};              ///< convolutions
  int groups{1};                     ///< conv2d, channel_shuffle; attention: heads
  bool count_pads{};                 ///< avg_pool: padded pixels count in the divisor
  ago::ir::patch patch{};            ///< attention, unfold, fold
  bool transposed{};                 ///< matmul: the second operand is transposed
  bool exchanged{};                  ///< sub, div, less, power: the operands are exchanged
  int axis{3};                       ///< concat, slice: 0 images, 1 rows, 2 columns, 3 channels
  int begin{}, step{1};              ///< slice: index of the first element along the axis, and the step between two
  int pad_channels{};                ///< pad: channels before the value
  bool last_of_equals{};             ///< arg_max: selects the last of equal elements, not the first
  sampling positions{};              ///< resizing
  rounding rounds{};                 ///< resize_nearest
  int order[4]{0, 1, 2, 3};          ///< permute: extent i of the result is extent order[i] of the operand
  int entries{};                     ///< embedding: rows of the table; prelu: slopes, one or as many as channels
  bool is_detached{};                ///< identity: no gradient flows through it
  float alpha{}, beta{};             ///< leaky_relu: slope; clip: lower, upper bound; batch_norm, folded norm and
                                     ///< layer_norm: epsilon; products of two values: a factor; pad: the padding value
  user_function const* function{};   ///< map
  char const* function_name{};       ///< map, contraction, nest: its name in drawings; null: it has none
  expression::index_expression const* described{};  ///< contraction, nest: its operands are values, in order, but for
  int weight_operand{-1};  ///< contraction: the operand of `described` whose elements are at `weight`; -1: none
  int weight{-1}, shift{-1}, norm{-1};   ///< offsets into the parameters, in floats; -1: none. `shift` is a bias
                                         ///< vector; `norm` is gamma, beta, mean, variance, each of out.c floats;
                                         ///< layer_norm: gamma and beta are `weight` and `shift`
  sibling siblings[max_siblings - 1]{};  ///< operators merged into this one; their channels follow its own, in order
  int layer{}, line{};                   ///< number of the layer that recorded it (inputs first), its source line
  char const* name{};                    ///< from named(), with enclosing names: "encoders.1.norm2"; or null

  constexpr bool is_merged() const { return siblings[0].channels > 0; }
};

/// Are two nodes the same operator, but for their operands, parameters and names?
constexpr bool same_operator(node const& x, node const& y) {
  if (x.kind != y.kind || x.out != y.out || x.input_count != y.input_count) return false;
  if (x.win != y.win || x.scatter != y.scatter || x.groups != y.groups || x.count_pads != y.count_pads) return false;
  if (x.alpha != y.alpha || x.beta != y.beta || x.function != y.function) return false;
  if (x.described != y.described || x.weight_operand != y.weight_operand) return false;
  if (x.transposed != y.transposed || x.axis != y.axis || x.begin != y.begin || x.step != y.step) return false;
  if (x.exchanged != y.exchanged || x.patch != y.patch || x.pad_channels != y.pad_channels) return false;
  if (x.is_detached != y.is_detached) return false;
  if (x.last_of_equals != y.last_of_equals || x.positions != y.positions || x.rounds != y.rounds) return false;
  for (int i = 0; i < 4; ++i)
    if (x.order[i] != y.order[i]) return false;
  for (int i = 0; i < max_siblings - 1 && x.siblings[i].channels + y.siblings[i].channels > 0; ++i)
    if (x.siblings[i] != y.siblings[i]) return false;
  return x.entries == y.entries;
}

/// The operator's name in drawings and reports: that of its function, if it has one.
constexpr char const* label_of(node const& n) { return n.function_name ? n.function_name : name_of(n.kind); }

/// What can be wrong with a layer or its input. Faults are found while tracing and asserted when the network is used.
enum class fault : std::uint8_t {
  none,
  shapes_differ,
  channels_differ,
  extents_differ,
  channels_not_divisible_by_groups,
  outputs_not_divisible_by_groups,
  window_exceeds_input,
  argument_must_be_positive,
  argument_must_not_be_negative,
  pad_exceeds_half_of_window,
  channel_first_value_cannot_be_used,
  tensor_of_another_network,
  window_misses_the_image,
  bounds_are_reversed,
  too_many_elements,
  slice_exceeds_extent,
  parts_must_divide_extent,
  patch_must_divide_image,
  elements_differ,
  not_a_permutation,
  pads_take_all,
  not_a_network,
  network_is_not_constexpr,
  takes_four_axes,
  expression_does_not_fit,
  not_a_probability,
  has_no_gradient,
  no_gradient_reaches,
};

/// The first misfit of a network: the layer, its line in the user's source, and the two numbers that do not agree.
struct diagnostic {
  fault what{};
  op where{};
  int layer{}, line{};
  int expected{}, actual{};
  expression::name operation{};        ///< expression_does_not_fit: of which operator ...
  expression::diagnostic described{};  ///< ... and why
  constexpr bool operator==(diagnostic const&) const = default;
};

/// A network's operators. `V`, `E`, `O` are capacities (exact after lowering); the counts give how much is in use, so
/// that passes can shrink a graph in place and the same functions work on graphs built at run time.
/// Invariant: an operand's index is smaller than its reader's. Inputs are nodes 0 ... input_count - 1.
template <int V, int E, int O = 1>
struct graph {
  static constexpr int node_capacity = V, edge_capacity = E, output_capacity = O;

  array_of<node, V> nodes{};
  array_of<int, E> edges{};
  array_of<int, O> outputs{};
  int node_count{}, edge_count{}, input_count{}, output_count{};
  int parameters{};  ///< floats of the weight blob, in declaration order
  diagnostic bad{};

  constexpr int operand(int v, int k = 0) const { return edges[nodes[v].input_first + k]; }
  constexpr node const& source(int v, int k = 0) const { return nodes[operand(v, k)]; }
};

/// Refers to a graph of any capacities, which must outlive it. What looks at an operator of a step takes a view, and is
/// compiled once for all graphs. What passes and partitioners do for all operators takes the graph: in a constant
/// expression, g++ needs twice as long to follow a pointer into it.
struct graph_view {
  node const* nodes{};
  int const *edges{}, *outputs{};
  int node_count{}, edge_count{}, input_count{}, output_count{}, parameters{};

  template <int V, int E, int O>
  constexpr graph_view(graph<V, E, O> const& g)
      : nodes{g.nodes}, edges{g.edges}, outputs{g.outputs}, node_count{g.node_count}, edge_count{g.edge_count},
        input_count{g.input_count}, output_count{g.output_count}, parameters{g.parameters} {}

  constexpr int operand(int v, int k = 0) const { return edges[nodes[v].input_first + k]; }
  constexpr node const& source(int v, int k = 0) const { return nodes[operand(v, k)]; }
};

/// Numbers of nodes and edges.
struct graph_size {
  int nodes{}, edges{};
};

}  // namespace ago::ir
