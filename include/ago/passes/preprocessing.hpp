// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options for rewriting a network before it is partitioned.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::passes {

/// The algebraic rules that simplify the graph (see rule.hpp).
enum class algebra : std::uint8_t {
  literal,      ///< none; unused values, copies and duplicate values are still removed, and batch norms are folded
  exact,        ///< those that do not change the value of any element
  reassociate,  ///< also associativity and distributivity of real numbers; results differ in rounding
};

/// Are convolutions and matrix products that read the same value merged (see merge_siblings)? Results are the same,
/// except for rounding where registers are filled differently. In a training step also: is the gradient of a matrix
/// that several products share computed as one product (train/shared_products.hpp)? It is, unless this is `off`.
enum class horizontal_fusion : std::uint8_t { where_it_pays, always, off };

/// Which siblings are merged, and the data for this decision: floats of a vector register, bytes of L2.
struct merging {
  horizontal_fusion siblings = horizontal_fusion::off;
  int lanes = 1;
  long l2_bytes = 1 << 20;
  bool operator==(merging const&) const = default;
};

}  // namespace ago::passes

namespace ago {
using passes::algebra;
using passes::horizontal_fusion;
}  // namespace ago
