// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network as a list of ago's layers: the form of an ONNX model before it is written as C++ or recorded as a graph.
#pragma once

#include <ago/layers/expressed/expressed.hpp>
#include <ago/network/network.hpp>

#include <string>
#include <variant>
#include <vector>

namespace ago::importer {

/// map{[](auto x) { return <expression>; }}
struct map_of {
  std::string expression;
  ir::user_function stands_for{};  ///< its address, in a recorded graph: like every lambda, it differs from all others
};
/// x + y, x - y, x * y, x / y, maximum(x, y), minimum(x, y), power(x, y)
struct binary {
  op kind = op::add;
};
struct join {
  ago::axis along = ago::axis::channels;
};
/// matmul(x, y, transposed)
struct product_of {
  bool transposed = false;
};

/// ago::view
struct view_as {
  expression::extents to{};
};

/// All layers that the importer uses, as the library's types.
using any_layer =
    std::variant<input, conv2d, pointwise, depthwise, linear, bias, batch_norm, layer_norm, rms_norm, group_norm,
                 instance_norm, l2_normalize, local_response_norm, embedding, positions, relu, relu6, leaky_relu, clip,
                 hard_sigmoid, hard_swish, sigmoid, silu, hyperbolic_tangent, gelu, identity, map_of, max_pool,
                 avg_pool, global_avg_pool, global_max_pool, softmax, slice, channel_shuffle, reshape, permute, pad,
                 resize_nearest, resize_bilinear, elu, selu, celu, affine_sigmoid, threshold, shrink, affine, to_power,
                 softplus, mish, softsign, negative, absolute, square_root, reciprocal_root, reciprocal, exponential,
                 logarithm, error_function, sine, cosine, round_down, round_up, round_off, scale, prelu, expand, tile,
                 constant, reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_product, arg_max, conv_transpose,
                 depth_to_space, pixel_shuffle, space_to_depth, binary, join, product_of, attention, to_nchw, view_as,
                 conv3d, conv_transpose3d, max_pool3d, max_pool3d_index, avg_pool3d, lp_pool3d, col2im, hardmax,
                 triangle, take_along_axis, gather_nd, reverse_sequence, grid_sample>;

/// One of them. Copying, moving and destroying it is compiled once, in layers.cpp: it would take every file that has
/// a list of calls seconds.
struct layer_value : any_layer {
  using any_layer::any_layer;
  layer_value();
  layer_value(layer_value const&);
  layer_value(layer_value&&) noexcept;
  layer_value& operator=(layer_value const&);
  layer_value& operator=(layer_value&&) noexcept;
  ~layer_value();
};

/// A layer of the network: what it is, its operands, and its parameters in declaration order.
struct call {
  layer_value what;
  std::vector<int> operands;  ///< indices of calls
  shape out;
  std::vector<float> weights;
  std::string origin;  ///< name of its ONNX node
};

/// Calls in topological order, inputs first.
struct call_list {
  std::vector<call> calls;
  std::vector<int> outputs;
};

}  // namespace ago::importer
