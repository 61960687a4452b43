// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeds for fuzzing the whole importer.
#pragma once

#include <map>
#include <string>

#include "../onnx/network.hpp"

namespace ago_test {

/// Small models that between them reach the lowering of every family of operators, by their names.
std::map<std::string, network> import_seeds();

// Operators that are taken apart while a model is read, branches that are chosen, and what vanishes.
network fused_seed();
network fused_attention_seed();
network einsum_seed();
network branches_seed();
network tensorflow_seed();

}  // namespace ago_test
