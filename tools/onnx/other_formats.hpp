// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are not ONNX models but are mistaken for them.
#pragma once

#include <filesystem>
#include <string>

namespace ago::onnx {

/// The format of a file according to its first bytes, and how to convert it to ONNX: "a TensorFlow Lite model; ...".
/// Empty if the format is unknown. Call it only for files that could not be read as ONNX.
std::string other_format(std::filesystem::path const& file);

}  // namespace ago::onnx
