// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of the graph. A layer may record several of them (linear: linear, bias).
#pragma once

#include <ago/graph/requirements.hpp>

#include <cstdint>

namespace ago {

enum class op : std::uint8_t {
  input,
  // complex operators (AGO section II): they carry the reductions; with weights, and of two values
  conv2d, depthwise, pointwise, linear,
  matmul, attention_scores, attention_values,
  // elementwise, with parameters: for each channel, for each element of an image
  bias, batch_norm, positions, scale, prelu,
  // elementwise, no parameters
  relu, relu6, leaky_relu, clip, hard_sigmoid, hard_swish, sigmoid, silu, gelu, gelu_tanh, tanh, map,
  // elementwise, two operands
  add, mul, sub, div, maximum, minimum, less, power,
  // reductions over a window or the image
  max_pool, avg_pool, global_max_pool, global_avg_pool,
  // over the channels of each pixel
  softmax, layer_norm,
  // reductions along axes, those on which the result has one element; along the channels
  reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_product, arg_max,
  // data movement
  concat, slice, channel_shuffle, reshape, permute, unfold, fold, pad, expand, resize_nearest, resize_bilinear,
  embedding, constant,
  identity, from_nchw, to_nchw,
};

/// Convolutions and matrix products: what a mini-subgraph has at most one of.
constexpr bool is_complex(op kind) { return kind >= op::conv2d && kind <= op::attention_values; }
/// Those of them that multiply a value by trained weights.
constexpr bool has_weights(op kind) { return kind >= op::conv2d && kind <= op::linear; }
/// Mixes the channels of each pixel, and nothing else.
constexpr bool is_matrix_product(op kind) { return kind == op::pointwise || kind == op::linear; }
/// Reads and writes element i only, one operand.
constexpr bool is_unary(op kind) { return kind >= op::bias && kind <= op::map; }
/// Reads element i of two operands, the second of which may be broadcast.
constexpr bool is_binary(op kind) { return kind >= op::add && kind <= op::power; }
/// May its operands change places?
constexpr bool commutes(op kind) {
  return kind == op::add || kind == op::mul || kind == op::maximum || kind == op::minimum;
}
/// What an epilogue can hold.
constexpr bool is_elementwise(op kind) { return is_unary(kind) || is_binary(kind); }
/// Can elementwise operators follow in the kernel of this one?
constexpr bool takes_epilogue(op kind) {
  return is_complex(kind) || is_elementwise(kind) || (kind >= op::max_pool && kind <= op::layer_norm) ||
         kind == op::resize_nearest || kind == op::resize_bilinear || kind == op::embedding || kind == op::identity;
}
constexpr bool pools_windows(op kind) { return kind == op::max_pool || kind == op::avg_pool; }
constexpr bool is_reduction(op kind) { return kind >= op::reduce_sum && kind <= op::arg_max; }
/// Each element of its result is one of its operand's.
constexpr bool moves_elements(op kind) { return kind >= op::slice && kind <= op::fold; }
constexpr bool is_pool(op kind) { return kind >= op::max_pool && kind <= op::global_avg_pool; }

constexpr char const* name_of(op kind) {
  switch (kind) {
    case op::input: return "input";
    case op::conv2d: return "conv2d";
    case op::depthwise: return "depthwise";
    case op::pointwise: return "pointwise";
    case op::linear: return "linear";
    case op::matmul: return "matmul";
    case op::attention_scores: return "attention_scores";
    case op::attention_values: return "attention_values";
    case op::bias: return "bias";
    case op::batch_norm: return "batch_norm";
    case op::positions: return "positions";
    case op::scale: return "scale";
    case op::prelu: return "prelu";
    case op::relu: return "relu";
    case op::relu6: return "relu6";
    case op::leaky_relu: return "leaky_relu";
    case op::clip: return "clip";
    case op::hard_sigmoid: return "hard_sigmoid";
    case op::hard_swish: return "hard_swish";
    case op::sigmoid: return "sigmoid";
    case op::silu: return "silu";
    case op::gelu: return "gelu";
    case op::gelu_tanh: return "gelu_tanh";
    case op::tanh: return "tanh";
    case op::map: return "map";
    case op::add: return "add";
    case op::mul: return "mul";
    case op::sub: return "sub";
    case op::div: return "div";
    case op::maximum: return "maximum";
    case op::minimum: return "minimum";
    case op::less: return "less";
    case op::power: return "power";
    case op::max_pool: return "max_pool";
    case op::avg_pool: return "avg_pool";
    case op::global_max_pool: return "global_max_pool";
    case op::global_avg_pool: return "global_avg_pool";
    case op::softmax: return "softmax";
    case op::layer_norm: return "layer_norm";
    case op::reduce_sum: return "reduce_sum";
    case op::reduce_mean: return "reduce_mean";
    case op::reduce_max: return "reduce_max";
    case op::reduce_min: return "reduce_min";
    case op::reduce_product: return "reduce_product";
    case op::arg_max: return "arg_max";
    case op::concat: return "concat";
    case op::slice: return "slice";
    case op::channel_shuffle: return "channel_shuffle";
    case op::reshape: return "reshape";
    case op::permute: return "permute";
    case op::unfold: return "unfold";
    case op::fold: return "fold";
    case op::pad: return "pad";
    case op::expand: return "expand";
    case op::resize_nearest: return "resize_nearest";
    case op::resize_bilinear: return "resize_bilinear";
    case op::embedding: return "embedding";
    case op::constant: return "constant";
    case op::identity: return "identity";
    case op::from_nchw: return "from_nchw";
    case op::to_nchw: return "to_nchw";
  }
  return "?";
}

}  // namespace ago
