// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant folding.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "site.hpp"

namespace ago::onnx {

/// Limits for constants, in floats; an integer counts as two.
struct fold_budget {
  std::int64_t largest;  ///< per operator
  std::int64_t made;     ///< in total
  std::int64_t read;     ///< in total; bounds the time
};

/// Whether operators of this type can be folded, or removed because they only copy.
bool foldable(std::string_view type);

/// Sets the values of the operation's outputs if they can be known: the shapes of its outputs and its operands (for
/// Shape and Size: their shapes) must be known. Returns whether it did; if the budget does not allow it, the operation
/// records that. Throws a fault for division by zero and the like.
bool fold(model& graph, operation& op, fold_budget& budget);

/// The rules by kind; each returns the outputs' values, or nothing if it does not fold this case.
namespace folding {

using results = std::optional<std::vector<constant>>;

results move(site const& s);        ///< Reshape, Transpose, Slice, Concat, Gather, ...
results make(site const& s);        ///< Constant, Shape, Range, ...
results arithmetic(site const& s);  ///< elementwise
results reduce(site const& s);

}  // namespace folding
}  // namespace ago::onnx
