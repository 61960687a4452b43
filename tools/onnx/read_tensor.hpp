// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors from files: inputs and expected outputs of a model.
#pragma once

#include <filesystem>

#include "error.hpp"
#include "model.hpp"

namespace ago::onnx {

/// Reads a TensorProto (`.pb`) or a NumPy array (`.npy`, format 1 to 3, row-major or column-major; floats of 2, 4 or 8
/// bytes, integers, bool). Throws import_error if the file is neither, or is damaged.
constant read_tensor(std::filesystem::path const& file);

}  // namespace ago::onnx
