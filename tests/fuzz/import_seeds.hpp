// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeds for fuzzing the whole importer.
#pragma once

#include <map>
#include <string>

#include "../onnx/network.hpp"

namespace ago_test {

/// Small models that between them reach the lowering of every family of operators, by their names.
std::map<std::string, network> import_seeds();

}  // namespace ago_test
