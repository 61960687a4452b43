// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What step_data::portion counts where it is the part of a step that a work item computes.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/kernel/contraction/layout.hpp>
#include <ago/kernel/winograd/layout.hpp>

namespace ago::detail {

/// Does a work item take a range of the indices of something, and of no value: the tiles of Winograd, the rows of a
/// contraction, or the outermost axis of a nest's result?
constexpr bool takes_portion(structure what) {
  return winograd_tile(what) > 0 || what == structure::contraction || what == structure::nest;
}
/// The number of these indices.
constexpr long indices_of(kernel_key const& key, step_data const& s) {
  if (winograd_tile(key.what) > 0) return layout_of_winograd(key, s).tiles;
  if (key.what == structure::contraction) return layout_of_contraction(key).all_rows();
  return expression::outermost_extent(*key.described);
}

}  // namespace ago::detail
