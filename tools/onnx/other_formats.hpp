// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are taken for ONNX models and are something else.
#pragma once

#include <filesystem>
#include <string>

namespace ago::onnx {

/// What a file is by its first bytes, and how a model of that kind becomes one of ONNX: "a TensorFlow Lite model; ...".
/// Empty where nothing is known of it. Only to be asked of what could not be read as ONNX.
std::string other_format(std::filesystem::path const& file);

}  // namespace ago::onnx
