// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that exporters write as several ones, put together again.
#pragma once

#include "../onnx/model.hpp"

namespace ago::importer {

/// Sigmoid gates become Silu, hard ones HardSwish, and so on: Gelu, Mish, LayerNormalization, and MultiHeadAttention,
/// an operator of the importer's own, of queries, keys and values {n, tokens, channels} with attributes heads and
/// scale.
onnx::model with_patterns(onnx::model model);

}  // namespace ago::importer
