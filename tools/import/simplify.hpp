// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers joined that one layer does.
#pragma once

#include "layers.hpp"

namespace ago::importer {

/// A bias becomes part of the convolution or product before it.
call_list simplified(call_list list);

}  // namespace ago::importer
