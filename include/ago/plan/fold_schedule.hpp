// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many pixels of a value are folded at a time, and where they are meanwhile.
#pragma once

#include <ago/expression/index_expression.hpp>
#include <ago/ir/isa.hpp>
#include <ago/ir/op.hpp>
#include <ago/partition/device.hpp>
#include <ago/partition/tiling.hpp>

namespace ago::plan {

/// Floats of a value that are folded at a time, or pipeline_rows rows if these are more: 128 KB, or 64, half of the L2
/// of little cores. (Measured on Zen 4, steps of MobileNet-V2 with eight images: 128 KB take 0.81 to 0.97 of the time
/// of 64, with 28x28 and 14x14 pixels; 256 KB take longer.)
constexpr int floats_folded(isa target) { return is_scheduled_by_hand(target) ? 1 << 14 : 1 << 15; }
/// As rows of w pixels of c channels, and as pixels.
constexpr int rows_folded(int w, int c, isa target) {
  int const fit = floats_folded(target) / (w * c) / pipeline_rows * pipeline_rows;
  return fit > pipeline_rows ? fit : pipeline_rows;
}
constexpr long pixels_folded(int w, int c, isa target) {
  long const fit = floats_folded(target) / c, rows = long(pipeline_rows) * w;
  return fit > rows ? fit : rows;
}

/// Are these made in scratch, stored from there past the caches, and folded there? Pays where L3 has no room for the
/// value: its lines are not read before they are written, and written in order. (Measured on Zen 4 with values of
/// 10 to 38 MB: gradients of depthwise convolutions 0.48 to 0.74 of the time, these convolutions 0.76 to 0.85,
/// gradients of pointwise ones 0.80 to 0.88; what reads the values next 1 to 1.09. Pointwise convolutions themselves 1
/// to 1.12.)
constexpr bool pays_to_stream(ir::op kind, std::int64_t floats, isa target, device const& on) {
  return has_streaming_stores(target) && !ir::is_matrix_product(kind) && kind != ir::op::conv2d &&
         exceeds_l3(4 * floats, on);
}
/// Floats of scratch for a value [n, h, w, c]. Kernels may compute more pixels at a time than are folded.
constexpr long streamed_floats(expression::extents const& value, isa target) {
  return 3 * pixels_folded(value.of[2], value.of[3], target) * value.of[3];
}

}  // namespace ago::plan
