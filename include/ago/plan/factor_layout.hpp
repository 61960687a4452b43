// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which choices there are for sums of products that are computed as matrix products.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::plan {

/// How contractions read their factors (kernel/contraction/choice.hpp). All but the first take a choice away, to
/// measure what it gains.
enum class factor_layout : std::uint8_t {
  chosen,          ///< by their shapes: which factor gives rows, and whether it is copied or read in place
  not_swapped,     ///< the factor that is written first gives rows
  never_in_place,  ///< rows are copied and columns packed, unless they are parameters that are packed ahead
};

}  // namespace ago::plan
