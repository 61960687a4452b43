// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of a step. Plain loops, so that any machine can pack for any instruction set.
#pragma once

#include <ago/kernel/pack_depthwise.hpp>
#include <ago/kernel/pack_embedding.hpp>
#include <ago/kernel/pack_layer_norm.hpp>
#include <ago/kernel/pack_matrix.hpp>
#include <ago/kernel/pack_stages.hpp>
#include <ago/kernel/pack_winograd.hpp>

namespace ago {

/// Defined in kernel/contraction_copies.hpp: packs the parameter of a product from the user's weights, `from`, into
/// layout.packed_floats() floats.
template <isa I>
void pack_contraction(contraction_layout const& l, expression::index_expression const& e, float const* from, float* to);

/// Writes the packed weights of one step: those of its main operator and of its epilogue. `Contracts`: it may be a
/// contraction.
template <isa I, bool Contracts>
void pack_step(kernel_key const& key, planned_data const& s, packing_data const& from, float const* blob,
               float* packed) {
  float* const weights = packed + s.weights;
  switch (key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col: pack_matrix<I>(key, s, from.main, blob, weights); break;
    case structure::winograd_2:
    case structure::winograd_4: pack_winograd<I>(key, s, from.main, blob, weights); break;
    case structure::depthwise: pack_depthwise<I>(key, s, from.main, blob, weights); break;
    case structure::layer_norm: pack_layer_norm<I>(s, from.main, blob, weights); break;
    case structure::embedding: pack_embedding<I>(s, from.main, blob, weights); break;
    case structure::contraction:
      if constexpr (Contracts) {
        if (key.weight_operand >= 0)
          pack_contraction<I>(layout_of_contraction(key), *key.described, blob + from.main.weight, weights);
        break;
      }
      [[fallthrough]];
    default:
      if (packed_floats(key, s) > 0) detail::no_case_for_this_value();
  }
  pack_stages<I>(key, s, from, blob, packed);
}

}  // namespace ago
