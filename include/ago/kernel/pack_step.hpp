// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of a step. Plain loops, so that any machine can pack for any instruction set.
#pragma once

#include <ago/kernel/depthwise/pack.hpp>
#include <ago/kernel/matrix/pack.hpp>
#include <ago/kernel/movement/pack.hpp>
#include <ago/kernel/norm/pack.hpp>
#include <ago/kernel/pack_stages.hpp>
#include <ago/kernel/units.hpp>
#include <ago/kernel/winograd/pack.hpp>

namespace ago::kernel {

template <isa I, bool Contracts, class... Units>
bool pack_among(unit_list<Units...>, operator_packing const& o, float const* blob, float* to) {
  auto const pack = [&](auto unit) {
    using unit_type = decltype(unit);
    if constexpr (unit_type::has_weights && (Contracts || !unit_type::of_expressions)) {
      if (!computes<unit_type>(o.key.what)) return false;
      unit_type::template pack<I>(o, blob, to);
      return true;
    } else {
      return false;
    }
  };
  return (pack(Units{}) || ...);
}

/// Writes them. `Contracts`: the operator may be a contraction.
template <isa I, bool Contracts>
void pack_operator(operator_packing const& o, float const* blob, float* packed) {
  if (!pack_among<I, Contracts>(kernel_units{}, o, blob, packed + o.data.weights)) ir::no_case_for_this_value();
}

}  // namespace ago::kernel
