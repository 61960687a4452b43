// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How freely a network may be rewritten before it is partitioned.
#pragma once

#include <ago/graph/requirements.hpp>

#include <cstdint>

namespace ago {

/// Which rules of algebra the graph is simplified by (see rule.hpp).
enum class algebra : std::uint8_t {
  literal,      ///< none: values that nothing reads, copies and values computed twice go, batch norms are folded
  exact,        ///< those after which every element is the same number as before
  reassociate,  ///< also those of real numbers, associativity and distributivity: results differ in rounding
};

/// Do convolutions and matrix products that read one value become one (see merge_siblings)? Results are the same, but
/// for rounding where registers are filled differently.
enum class horizontal_fusion : std::uint8_t { where_it_pays, always, off };

/// Which siblings are merged, and what that is decided by: floats of a vector register, bytes of L2.
struct merging {
  horizontal_fusion siblings = horizontal_fusion::off;
  int lanes = 1;
  long l2_bytes = 1 << 20;
  bool operator==(merging const&) const = default;
};

}  // namespace ago
