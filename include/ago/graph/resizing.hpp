// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of other extents.
#pragma once

#include <ago/graph/recording.hpp>
#include <ago/graph/sampling.hpp>

namespace ago {

/// Other extents by the nearest pixel: row y of the result is row floor(y * h / height), unless told otherwise. With
/// `sampling::half_pixel, rounding::nearest_or_up` it is PyTorch's interpolate(mode="nearest-exact").
struct resize_nearest {
  int height = 1, width = 1;
  ago::sampling sampling = ago::sampling::standard;
  ago::rounding rounding = ago::rounding::down;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    detail::recording r(op::resize_nearest, line, x);
    node n{.kind = op::resize_nearest, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.begin = int(sampling);
    n.step = 1 + int(rounding);
    return r.append(n, x);
  }
};

/// Other extents by linear interpolation in both directions; as PyTorch's interpolate(align_corners=False) unless told
/// otherwise.
struct resize_bilinear {
  int height = 1, width = 1;
  ago::sampling sampling = ago::sampling::standard;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    detail::recording r(op::resize_bilinear, line, x);
    node n{.kind = op::resize_bilinear, .out = {x.images(), r.positive(height), r.positive(width), x.channels()}};
    n.begin = int(sampling);
    return r.append(n, x);
  }
};

}  // namespace ago
