// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of the graph. A layer may record several of them (linear: linear, bias).
#pragma once

#include <ago/ir/enumerators.hpp>

#include <cstdint>

namespace ago::ir {

enum class op : std::uint8_t {
  // clang-format off
  input,
  // complex operators (AGO section II), which have the reductions: with weights; products of two values
  conv2d, depthwise, pointwise, linear,
  matmul, attention_scores, attention_values,
  // elementwise, with parameters per channel or per element of an image
  bias, batch_norm, positions, scale, prelu,
  // elementwise, no parameters
  relu, relu6, leaky_relu, clip, hard_sigmoid, hard_swish, sigmoid, silu, gelu, gelu_tanh, tanh, map,
  // elementwise, two operands
  add, mul, sub, div, maximum, minimum, less, power,
  // reductions over a window or the image
  max_pool, avg_pool, global_max_pool, global_avg_pool,
  // normalisation over the channels of each pixel
  softmax, layer_norm,
  // reductions along the axes on which the result has one element; arg_max along the channels
  reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_product, arg_max,
  // data movement
  concat, slice, channel_shuffle, reshape, permute, unfold, fold, pad, expand, resize_nearest, resize_bilinear,
  embedding, constant,
  identity, from_nchw, to_nchw,
  // index expressions (node::described): a sum of products, one of whose factors may be weights; any other. They are
  // last, because tables of tuned schedules depend on the numbers of operators
  contraction, nest,
  // clang-format on
};

/// The classes of operators, for stages that do not distinguish single operators.
enum class op_class : std::uint8_t {
  input,
  constant,
  // complex, with trained weights: with windows of neighbouring pixels; mixing the channels of each pixel
  convolution,
  matrix_product,
  // complex, of two values
  value_product,
  contraction,
  // elementwise, one operand: with trained parameters, a few instructions, many instructions
  parametric,
  arithmetic,
  function,
  // elementwise, two operands: commutative; not commutative; not commutative, many instructions
  commutative,
  ordered,
  power,
  // reductions of many elements
  window_pool,
  global_pool,
  norm,
  reduction,
  // each element of the result is one of the operand's; adding or repeating elements; changes of layout; others
  movement,
  concat,
  pad,
  expand,
  layout,
  identity,
  resize,
  embedding,
  nest,
};

/// The properties of an operator. A new operator needs a line here, and cases in the switches that compilers report.
struct operator_facts {
  op kind;
  op_class of;
  char const* name;
};
inline constexpr operator_facts operators[] = {
    {op::input, op_class::input, "input"},
    {op::conv2d, op_class::convolution, "conv2d"},
    {op::depthwise, op_class::convolution, "depthwise"},
    {op::pointwise, op_class::matrix_product, "pointwise"},
    {op::linear, op_class::matrix_product, "linear"},
    {op::matmul, op_class::value_product, "matmul"},
    {op::attention_scores, op_class::value_product, "attention_scores"},
    {op::attention_values, op_class::value_product, "attention_values"},
    {op::bias, op_class::parametric, "bias"},
    {op::batch_norm, op_class::parametric, "batch_norm"},
    {op::positions, op_class::parametric, "positions"},
    {op::scale, op_class::parametric, "scale"},
    {op::prelu, op_class::parametric, "prelu"},
    {op::relu, op_class::arithmetic, "relu"},
    {op::relu6, op_class::arithmetic, "relu6"},
    {op::leaky_relu, op_class::arithmetic, "leaky_relu"},
    {op::clip, op_class::arithmetic, "clip"},
    {op::hard_sigmoid, op_class::arithmetic, "hard_sigmoid"},
    {op::hard_swish, op_class::arithmetic, "hard_swish"},
    {op::sigmoid, op_class::function, "sigmoid"},
    {op::silu, op_class::function, "silu"},
    {op::gelu, op_class::function, "gelu"},
    {op::gelu_tanh, op_class::function, "gelu_tanh"},
    {op::tanh, op_class::function, "tanh"},
    {op::map, op_class::function, "map"},
    {op::add, op_class::commutative, "add"},
    {op::mul, op_class::commutative, "mul"},
    {op::sub, op_class::ordered, "sub"},
    {op::div, op_class::ordered, "div"},
    {op::maximum, op_class::commutative, "maximum"},
    {op::minimum, op_class::commutative, "minimum"},
    {op::less, op_class::ordered, "less"},
    {op::power, op_class::power, "power"},
    {op::max_pool, op_class::window_pool, "max_pool"},
    {op::avg_pool, op_class::window_pool, "avg_pool"},
    {op::global_max_pool, op_class::global_pool, "global_max_pool"},
    {op::global_avg_pool, op_class::global_pool, "global_avg_pool"},
    {op::softmax, op_class::norm, "softmax"},
    {op::layer_norm, op_class::norm, "layer_norm"},
    {op::reduce_sum, op_class::reduction, "reduce_sum"},
    {op::reduce_mean, op_class::reduction, "reduce_mean"},
    {op::reduce_max, op_class::reduction, "reduce_max"},
    {op::reduce_min, op_class::reduction, "reduce_min"},
    {op::reduce_product, op_class::reduction, "reduce_product"},
    {op::arg_max, op_class::reduction, "arg_max"},
    {op::concat, op_class::concat, "concat"},
    {op::slice, op_class::movement, "slice"},
    {op::channel_shuffle, op_class::movement, "channel_shuffle"},
    {op::reshape, op_class::movement, "reshape"},
    {op::permute, op_class::movement, "permute"},
    {op::unfold, op_class::movement, "unfold"},
    {op::fold, op_class::movement, "fold"},
    {op::pad, op_class::pad, "pad"},
    {op::expand, op_class::expand, "expand"},
    {op::resize_nearest, op_class::resize, "resize_nearest"},
    {op::resize_bilinear, op_class::resize, "resize_bilinear"},
    {op::embedding, op_class::embedding, "embedding"},
    {op::constant, op_class::constant, "constant"},
    {op::identity, op_class::identity, "identity"},
    {op::from_nchw, op_class::layout, "from_nchw"},
    {op::to_nchw, op_class::layout, "to_nchw"},
    {op::contraction, op_class::contraction, "contraction"},
    {op::nest, op_class::nest, "nest"},
};

inline constexpr int operator_count = lines_of(operators);

static_assert(in_order(operators, &operator_facts::kind) && has_enumerators<op, operator_count>(),
              "each operator needs a line in `operators`, in the order of `op`");

/// Separate from the names, so that programs need not contain these.
struct class_table {
  op_class of[operator_count];
};
inline constexpr class_table classes = [] {
  class_table r{};
  for (int i = 0; i < operator_count; ++i) r.of[i] = operators[i].of;
  return r;
}();

constexpr op_class class_of(op kind) {
  if (int(kind) >= operator_count) no_case_for_this_value();
  return classes.of[int(kind)];
}
constexpr char const* name_of(op kind) {
  if (int(kind) >= operator_count) no_case_for_this_value();
  return operators[int(kind)].name;
}

/// A set of classes, as bits.
template <class... Classes>
constexpr unsigned classes_of(Classes... c) {
  static_assert(int(op_class::nest) < 32);
  return (0u | ... | (1u << int(c)));
}
constexpr bool is_in(op kind, unsigned classes) { return classes >> int(class_of(kind)) & 1; }

inline constexpr unsigned with_weights = classes_of(op_class::convolution, op_class::matrix_product),
                          complex = with_weights | classes_of(op_class::value_product, op_class::contraction),
                          unary = classes_of(op_class::parametric, op_class::arithmetic, op_class::function),
                          binary = classes_of(op_class::commutative, op_class::ordered, op_class::power),
                          pools = classes_of(op_class::window_pool, op_class::global_pool);

/// Is it a convolution or matrix product? A mini-subgraph has at most one.
constexpr bool is_complex(op kind) { return is_in(kind, ir::complex); }
/// Does it multiply a value by trained weights?
constexpr bool has_weights(op kind) { return is_in(kind, with_weights); }
/// Does it mix only the channels of each pixel?
constexpr bool is_matrix_product(op kind) { return class_of(kind) == op_class::matrix_product; }
/// Does element i of the result depend only on element i of a single operand?
constexpr bool is_unary(op kind) { return is_in(kind, ir::unary); }
/// Is it a product of two values that is not described by an index expression?
constexpr bool is_value_product(op kind) { return class_of(kind) == op_class::value_product; }
/// Is it unary, with trained parameters per channel or per element of an image?
constexpr bool is_parametric(op kind) { return class_of(kind) == op_class::parametric; }
/// Does element i of the result depend on element i of two operands? The second may be broadcast.
constexpr bool is_binary(op kind) { return is_in(kind, ir::binary); }
/// Can its operands be exchanged?
constexpr bool commutes(op kind) { return class_of(kind) == op_class::commutative; }
/// Can it be part of an epilogue?
constexpr bool is_elementwise(op kind) { return is_in(kind, ir::unary | ir::binary); }
/// Does it take many instructions?
constexpr bool is_lengthy(op kind) { return is_in(kind, ir::classes_of(op_class::function, op_class::power)); }
/// Can its kernel have an epilogue?
constexpr bool takes_epilogue(op kind) {
  return is_in(kind, ir::complex | ir::unary | ir::binary | ir::pools |
                         ir::classes_of(op_class::norm, op_class::resize, op_class::embedding, op_class::identity));
}
/// Is it described by an index expression (node::described), whose operands and result are contiguous?
constexpr bool is_expression(op kind) { return is_in(kind, ir::classes_of(op_class::contraction, op_class::nest)); }
constexpr bool pools_windows(op kind) { return class_of(kind) == op_class::window_pool; }
constexpr bool is_reduction(op kind) { return class_of(kind) == op_class::reduction; }
/// Is each element of its result an element of its operand?
constexpr bool moves_elements(op kind) { return class_of(kind) == op_class::movement; }
constexpr bool is_pool(op kind) { return is_in(kind, ir::pools); }

}  // namespace ago::ir

namespace ago {
using ir::name_of;
using ir::op;
}  // namespace ago
