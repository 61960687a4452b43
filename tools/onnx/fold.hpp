// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation of operators whose operands are known.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "site.hpp"

namespace ago::onnx {

/// What may be spent on constants, in floats; an integer takes the memory of two.
struct fold_budget {
  std::int64_t largest;  ///< made by one operator
  std::int64_t made;     ///< made in total
  std::int64_t read;     ///< read in total, which takes time
};

/// Whether operators of this type can be folded, or left out because they copy.
bool foldable(std::string_view type);

/// Sets the values of the operation's outputs if they can be known: the shapes of its outputs are, and its operands
/// (for Shape and Size: the operands' shapes). Returns whether it did; where the budget does not allow it,
/// the operation says so. Throws a fault for division by zero and the like.
bool fold(model& graph, operation& op, fold_budget& budget);

/// The rules by kind; each returns the outputs' values, nothing if this case is not for folding.
namespace folding {

using results = std::optional<std::vector<constant>>;

results move(site const& s);        ///< Reshape, Transpose, Slice, Concat, Gather, ...
results make(site const& s);        ///< Constant, Shape, Range, ...
results arithmetic(site const& s);  ///< elementwise
results reduce(site const& s);

}  // namespace folding
}  // namespace ago::onnx
