// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeds for fuzzing the whole importer.
#pragma once

#include <map>
#include <string>

#include "../onnx/network.hpp"

namespace ago_test {

/// Small models, by name, that together reach the lowering of every family of operators.
std::map<std::string, network> import_seeds();

// Operators that are decomposed when a model is read, branches that are chosen, and nodes that vanish.
network fused_seed();
network fused_attention_seed();
network einsum_seed();
network branches_seed();
network tensorflow_seed();
network composed_seed();

}  // namespace ago_test
