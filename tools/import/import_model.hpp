// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a file to a network of ago's layers.
#pragma once

#include "lowering.hpp"
#include "model_words.hpp"

namespace ago::importer {

/// Throws onnx::import_error with everything that is wrong or not supported, words that make no sense included.
lowered_model import_model(model_words const& words, bool trace = false);

}  // namespace ago::importer
