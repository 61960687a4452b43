// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// oneDNN's types for extents, layouts, clamps and activations.
#pragma once

#include "layers.hpp"

#include <dnnl.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace bench {

using dnnl::memory;
using tag = memory::format_tag;

inline memory::dims dims_of(ago::shape s) { return {s.n, s.c, s.h, s.w}; }
inline memory::desc describe(ago::shape s, tag t) { return {dims_of(s), memory::data_type::f32, t}; }

/// Whether two descriptions of the same dimensions describe the same bytes. Strides of extents of 1 do not matter.
inline bool same_bytes(memory::desc const& a, memory::desc const& b) {
  if (a == b) return true;
  if (a.data.offset0 != b.data.offset0) return false;
  auto const plain = [](memory::desc const& d) {
    return d.data.format_kind == dnnl_blocked && d.data.format_desc.blocking.inner_nblks == 0;
  };
  if (!plain(a) || !plain(b) || a.data.ndims != b.data.ndims) return false;
  for (int i = 0; i < a.data.ndims; ++i) {
    if (a.data.dims[i] != b.data.dims[i]) return false;
    auto const strides = [i](memory::desc const& d) { return d.data.format_desc.blocking.strides[i]; };
    if (a.data.dims[i] > 1 && strides(a) != strides(b)) return false;
  }
  return true;
}

inline void append(dnnl::post_ops& after, clamp c) {
  if (c.is_identity()) return;
  if (c.lower == 0 && std::isinf(c.upper)) return after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  after.append_eltwise(1, dnnl::algorithm::eltwise_clip, std::max(c.lower, -FLT_MAX), std::min(c.upper, FLT_MAX));
}

inline void append(dnnl::post_ops& after, ago::op function) {
  if (function == ago::op::silu) after.append_eltwise(1, dnnl::algorithm::eltwise_swish, 1, 0);
  if (function == ago::op::gelu) after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
}

inline dnnl::primitive_attr with(dnnl::post_ops const& after) {
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return attributes;
}

}  // namespace bench
