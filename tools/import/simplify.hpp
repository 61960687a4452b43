// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges layers that a single layer can compute.
#pragma once

#include "layers.hpp"

namespace ago::importer {

/// Makes a bias part of the preceding convolution or product.
call_list simplified(call_list list);

}  // namespace ago::importer
