// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors whose numbers are in a file beside the model.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace ago::onnx {

/// The bytes of a tensor whose data_location is EXTERNAL. The file must be a regular file inside `folder`, with
/// symbolic links resolved, and contain these bytes; throws a fault otherwise.
std::string read_external(::onnx::TensorProto const& tensor, std::filesystem::path const& folder, std::int64_t bytes);

}  // namespace ago::onnx
