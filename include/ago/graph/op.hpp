// The operators of the graph. A layer may record several of them (linear: linear, bias).
#pragma once

#include <cstdint>

namespace ago {

enum class op : std::uint8_t {
  input,
  // complex operators (AGO section II): they carry the reductions
  conv2d, depthwise, pointwise, linear,
  // per-channel parameters
  bias, batch_norm,
  // elementwise, no parameters
  relu, relu6, leaky_relu, clip, hard_sigmoid, hard_swish, sigmoid, silu, gelu, gelu_tanh, tanh, map,
  // elementwise, two operands
  add, mul,
  // reductions over a window or the image
  max_pool, avg_pool, global_max_pool, global_avg_pool,
  // data movement
  concat, identity, from_nchw, to_nchw,
};

/// Convolutions and matrix products: what a mini-subgraph has at most one of.
constexpr bool is_complex(op kind) { return kind >= op::conv2d && kind <= op::linear; }
/// Mixes the channels of each pixel, and nothing else.
constexpr bool is_matrix_product(op kind) { return kind == op::pointwise || kind == op::linear; }
/// Reads and writes element i only, one operand.
constexpr bool is_unary(op kind) { return kind >= op::bias && kind <= op::map; }
/// Reads element i of two operands (the second may be broadcast over the image).
constexpr bool is_binary(op kind) { return kind == op::add || kind == op::mul; }
/// What an epilogue can hold.
constexpr bool is_elementwise(op kind) { return is_unary(kind) || is_binary(kind); }
constexpr bool is_pool(op kind) { return kind >= op::max_pool && kind <= op::global_avg_pool; }

constexpr char const* name_of(op kind) {
  switch (kind) {
    case op::input: return "input";
    case op::conv2d: return "conv2d";
    case op::depthwise: return "depthwise";
    case op::pointwise: return "pointwise";
    case op::linear: return "linear";
    case op::bias: return "bias";
    case op::batch_norm: return "batch_norm";
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
    case op::max_pool: return "max_pool";
    case op::avg_pool: return "avg_pool";
    case op::global_max_pool: return "global_max_pool";
    case op::global_avg_pool: return "global_avg_pool";
    case op::concat: return "concat";
    case op::identity: return "identity";
    case op::from_nchw: return "from_nchw";
    case op::to_nchw: return "to_nchw";
  }
  return "?";
}

}  // namespace ago
