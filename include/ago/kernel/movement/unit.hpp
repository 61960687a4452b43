// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of what moves data: copies, pads, resizing, look-ups, and the user's channels-first memory.
#pragma once

#include <ago/kernel/unit.hpp>

namespace ago::kernel {

template <kernel_key K>
struct copy_kernel;  // copy.hpp
template <kernel_key K>
struct pad_kernel;  // pad.hpp
template <kernel_key K>
struct resize_nearest_kernel;  // resize.hpp
template <kernel_key K>
struct resize_bilinear_kernel;
template <kernel_key K>
struct embedding_kernel;  // embedding.hpp
template <kernel_key K>
struct from_nchw_kernel;  // transpose.hpp
template <kernel_key K>
struct to_nchw_kernel;
template <isa I>
void pack_embedding(packed_operator const& s, parameter_source const& from, float const* blob,
                    float* packed);  // pack.hpp

struct movement_unit : without_schedule, without_tiles, with_plain_loops, undivided, keeps_operands {
  static constexpr structure structures[] = {
      structure::copy,      structure::pad,       structure::resize_nearest, structure::resize_bilinear,
      structure::embedding, structure::from_nchw, structure::to_nchw};
  static constexpr bool multiplies_values = false, of_expressions = false, has_weights = true;
  static constexpr bool implements(structure what, op kind) {
    switch (kind) {
      case op::slice:
      case op::channel_shuffle:
      case op::reshape:
      case op::permute:
      case op::unfold:
      case op::fold:
      case op::concat:
      case op::expand: return what == structure::copy;
      case op::pad: return what == structure::pad;
      case op::resize_nearest: return what == structure::resize_nearest;
      case op::resize_bilinear: return what == structure::resize_bilinear;
      case op::embedding: return what == structure::embedding;
      case op::from_nchw: return what == structure::from_nchw;
      case op::to_nchw: return what == structure::to_nchw;
      default: return false;
    }
  }
  static constexpr bool multiplies(structure) { return false; }
  static constexpr bool copies(structure what) { return what == structure::copy; }
  template <kernel_key K>
  static constexpr auto kernel() {
    if constexpr (K.what == structure::copy) return std::type_identity<copy_kernel<K>>{};
    else if constexpr (K.what == structure::pad) return std::type_identity<pad_kernel<K>>{};
    else if constexpr (K.what == structure::resize_nearest) return std::type_identity<resize_nearest_kernel<K>>{};
    else if constexpr (K.what == structure::resize_bilinear) return std::type_identity<resize_bilinear_kernel<K>>{};
    else if constexpr (K.what == structure::embedding) return std::type_identity<embedding_kernel<K>>{};
    else if constexpr (K.what == structure::from_nchw) return std::type_identity<from_nchw_kernel<K>>{};
    else return std::type_identity<to_nchw_kernel<K>>{};
  }

  static constexpr bool packs_weights(kernel_key const& key) { return key.what == structure::embedding; }
  static constexpr long packed_floats(kernel_key const&, step_data const& s) { return long(s.groups) * s.out.c; }
  template <isa I>
  static void pack(operator_packing const& o, float const* blob, float* to) {
    pack_embedding<I>(o.data, o.from, blob, to);
  }

  static constexpr double cycles(kernel_key const& key, planned_data const& s, chain_tiling const&, device const&) {
    return copy_cycles(key, s);
  }
  static constexpr double in_order_factor(structure) { return 1; }
};

}  // namespace ago::kernel
