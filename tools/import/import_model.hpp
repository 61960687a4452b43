// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a file to a network of ago's layers.
#pragma once

#include "lowering.hpp"
#include "model_words.hpp"

namespace ago::importer {

/// Throws onnx::import_error with all faults and unsupported features, including invalid arguments.
lowered_model import_model(model_words const& words, bool trace = false);

}  // namespace ago::importer
