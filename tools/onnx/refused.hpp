// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of ONNX that cannot be imported, and why.
#pragma once

#include <string>
#include <string_view>

namespace ago::onnx {

/// The reason for refusing a node of this type: unsupported_operator, and why if it is an operator of ONNX that no
/// network of fixed shapes and floats can have.
std::string refusal_of(std::string_view type);

}  // namespace ago::onnx
