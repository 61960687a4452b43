// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Leaves out of a model what makes no difference to its outputs.
#pragma once

#include "model.hpp"

namespace ago::onnx {

/// Removes operators that return their operand (Identity, Dropout, Cast to a type that is the same here, Reshape to the
/// same shape, Concat of one, ...), operators and values that no output needs, and output names nobody reads. Inputs
/// stay.
void prune(model& m);

}  // namespace ago::onnx
