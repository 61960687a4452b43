// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of operators that make constants, for shape inference and folding.
#pragma once

#include <utility>

#include "site.hpp"

namespace ago::onnx {

/// Constant: the single value among its attributes.
constant constant_of(site const& s);

/// ConstantOfShape: the number that is repeated.
constant fill_of(site const& s);

/// Shape: the axes [first, second) of the input.
std::pair<std::size_t, std::size_t> shape_range(site const& s);

/// Range: the number of elements.
std::int64_t range_length(site const& s);

}  // namespace ago::onnx
