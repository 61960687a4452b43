// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layers.hpp"

namespace ago::importer {

layer_value::layer_value() = default;
layer_value::layer_value(layer_value const&) = default;
layer_value::layer_value(layer_value&&) noexcept = default;
layer_value& layer_value::operator=(layer_value const&) = default;
layer_value& layer_value::operator=(layer_value&&) noexcept = default;
layer_value::~layer_value() = default;

}  // namespace ago::importer
