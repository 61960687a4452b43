// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resizing of images.
#pragma once

#include <ago/ir/sampling.hpp>
#include <ago/tracing/recording.hpp>

namespace ago {

/// Resizes to the nearest pixel: by default, row y of the result is row floor(y * h / height). With
/// `sampling::half_pixel, rounding::nearest_or_up` it is PyTorch's interpolate(mode="nearest-exact").
struct resize_nearest {
  int height = 1, width = 1;
  ago::ir::sampling sampling = ago::ir::sampling::standard;
  ago::ir::rounding rounding = ago::ir::rounding::down;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::resize_nearest, line, x);
    ir::node n{.kind = op::resize_nearest, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.begin = int(sampling);
    n.step = 1 + int(rounding);
    return r.append(n, x);
  }
};

/// Resizes by linear interpolation in both directions; by default PyTorch's
/// interpolate(mode="bilinear", align_corners=False).
struct resize_bilinear {
  int height = 1, width = 1;
  ago::ir::sampling sampling = ago::ir::sampling::standard;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::resize_bilinear, line, x);
    ir::node n{.kind = op::resize_bilinear, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.begin = int(sampling);
    return r.append(n, x);
  }
};

}  // namespace ago
