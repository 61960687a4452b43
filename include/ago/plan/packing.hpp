// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout of packed weights, shared by the plan that sizes them, the packer that writes them and the kernels that
// read them.
#pragma once

#include <ago/kernel/contraction/layout.hpp>
#include <ago/kernel/matrix/layout.hpp>
#include <ago/kernel/winograd/layout.hpp>

namespace ago {

/// Floats of the packed weights of depthwise: for each vector of channels the taps (ky, kx), then the shift,
/// [taps + 1][lanes].
constexpr long depthwise_floats(kernel_key const& key, step_data const& s) {
  return long(padded(s.out.c, key.target)) * (s.win.kernel_h * s.win.kernel_w + 1);
}

/// Whether a step's main operator has weights to be packed.
constexpr bool packs_weights(kernel_key const& key) {
  switch (key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col:
    case structure::depthwise:
    case structure::winograd_2:
    case structure::winograd_4:
    case structure::embedding:
    case structure::layer_norm: return true;
    case structure::contraction: return key.weight_operand >= 0;
    case structure::max_pool:
    case structure::avg_pool:
    case structure::global_max_pool:
    case structure::global_avg_pool:
    case structure::elementwise:
    case structure::from_nchw:
    case structure::to_nchw:
    case structure::matmul:
    case structure::attention_scores:
    case structure::attention_values:
    case structure::attention:
    case structure::softmax:
    case structure::copy:
    case structure::pad:
    case structure::resize_nearest:
    case structure::resize_bilinear:
    case structure::reduction:
    case structure::nest: return false;
  }
  detail::no_case_for_this_value();
}

/// Floats of these weights.
constexpr long packed_floats(kernel_key const& key, step_data const& s) {
  if (!packs_weights(key)) return 0;
  switch (key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col: return layout_of_matrix(key, s).floats(s.groups);
    case structure::depthwise: return depthwise_floats(key, s);
    case structure::winograd_2:
    case structure::winograd_4: return layout_of_winograd(key, s).weight_floats();
    case structure::embedding: return long(s.groups) * s.out.c;
    case structure::layer_norm: return 2L * padded(s.out.c, key.target);  // gamma, beta
    case structure::contraction: return layout_of_contraction(key).packed_floats();
    default: detail::no_case_for_this_value();
  }
}

/// Floats of the packed parameters of an epilogue stage.
constexpr long packed_floats(stage const& after, isa target, shape const& out) {
  if (!is_parametric(after.kind)) return 0;
  switch (after.kind) {
    case op::bias:
    case op::scale:
    case op::prelu: return padded(out.c, target);
    case op::batch_norm: return 2L * padded(out.c, target);
    case op::positions: return long(out.h) * out.w * out.c;
    default: detail::no_case_for_this_value();
  }
}

}  // namespace ago
