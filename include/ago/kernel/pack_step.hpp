// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of a step. Plain loops, so that any machine can pack for any instruction set.
#pragma once

#include <ago/kernel/depthwise/pack.hpp>
#include <ago/kernel/matrix/pack.hpp>
#include <ago/kernel/movement/pack.hpp>
#include <ago/kernel/norm/pack.hpp>
#include <ago/kernel/pack_stages.hpp>
#include <ago/kernel/winograd/pack.hpp>

namespace ago {

/// Defined in kernel/contraction/copies.hpp: packs the parameter of a product from the user's weights, `from`, into
/// layout.packed_floats() floats.
template <isa I>
void pack_contraction(contraction_layout const& l, expression::index_expression const& e, float const* from, float* to);

/// The weights of a step's main operator, which has some, or those of them that come from one source.
struct operator_packing {
  kernel_key key{};
  packed_operator data{};
  parameter_source from{};
};

/// Writes them. `Contracts`: the operator may be a contraction.
template <isa I, bool Contracts>
void pack_operator(operator_packing const& o, float const* blob, float* packed) {
  float* const weights = packed + o.data.weights;
  switch (o.key.what) {
    case structure::pointwise:
    case structure::convolution:
    case structure::im2col: pack_matrix<I>(o.key, o.data, o.from, blob, weights); break;
    case structure::winograd_2:
    case structure::winograd_4: pack_winograd<I>(o.key, o.data, o.from, blob, weights); break;
    case structure::depthwise: pack_depthwise<I>(o.key, o.data, o.from, blob, weights); break;
    case structure::layer_norm: pack_layer_norm<I>(o.data, o.from, blob, weights); break;
    case structure::embedding: pack_embedding<I>(o.data, o.from, blob, weights); break;
    case structure::contraction:
      if constexpr (Contracts) {
        pack_contraction<I>(layout_of_contraction(o.key), *o.key.described, blob + o.from.weight, weights);
        break;
      }
      [[fallthrough]];
    default: detail::no_case_for_this_value();
  }
}

}  // namespace ago
