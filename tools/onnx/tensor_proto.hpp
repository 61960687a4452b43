// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of ONNX files as constants.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>

#include "model.hpp"

namespace ago::onnx {

/// The element type for an ONNX data type; throws a fault for strings, complex numbers and unknown types.
element element_of(int data_type);

/// "FLOAT16", or the number of an unknown type.
std::string name_of_type(int data_type);

/// The tensor's numbers, wherever they are stored: raw, typed or in a file inside `folder`. Throws a fault if
/// their number does not match its shape.
constant decode_tensor(::onnx::TensorProto const& tensor, std::filesystem::path const& folder);

}  // namespace ago::onnx
