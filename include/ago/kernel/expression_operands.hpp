// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the kernels of index expressions find their operands, and what a work item computes.
#pragma once

#include <ago/kernel/epilogue.hpp>

namespace ago::kernel {

/// Operand i of an expression: values are the step's, in order; the weights are packed.
AGO_INLINE float const* operand_of_expression(step_data const& s, kernel_memory const& m, int i, int weights) {
  if (i == weights) return m.weights + s.weights;
  int const value = i - (weights >= 0 && weights < i);
  return address(value == 0 ? s.source : m.details(s).other[value - 1], m);
}

/// The whole granules that begin in a portion.
AGO_INLINE index_range granules_in(index_range const& portion, int granule, int all) {
  auto const up = [=](int i) {
    int const at = (i + granule - 1) / granule * granule;
    return at < all ? at : all;
  };
  return portion.last == 0 ? index_range{0, all} : index_range{up(portion.first), up(portion.last)};
}

}  // namespace ago::kernel
