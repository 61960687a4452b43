// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes everything from a model that does not affect its outputs.
#pragma once

#include "model.hpp"

namespace ago::onnx {

/// Removes operators that return their operand (Identity, Dropout, Cast to a type that is the same here, Reshape to the
/// same shape, Concat of one, ...), operators and values that no output needs, and names of unread outputs. Inputs
/// remain.
void prune(model& m);

}  // namespace ago::onnx
