// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's file format.
#pragma once

#include <string>

#include "model.hpp"

namespace ago::onnx {

bool is_npy(std::string const& bytes);

/// An array of format 1, 2 or 3 as a row-major constant. Throws a fault if it is damaged, or not numeric.
constant decode_npy(std::string const& bytes);

}  // namespace ago::onnx
