// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recombines operators that exporters decompose.
#pragma once

#include "../onnx/model.hpp"

namespace ago::importer {

/// Sigmoid gates become Silu, hard ones HardSwish, and so on: Gelu, Mish, LayerNormalization. MultiHeadAttention is an
/// operator of the importer's own, of queries, keys and values {n, tokens, channels}, with attributes heads and
/// scale.
onnx::model with_patterns(onnx::model model);

}  // namespace ago::importer
