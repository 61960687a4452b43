// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sentences for the front end's diagnostics.
#pragma once

#include <ago/ir/graph.hpp>

#include <string>

namespace ago::tools {

/// The sentence that describes the fault, with the two conflicting numbers, if there are any.
std::string sentence_of(ir::diagnostic const& d);

}  // namespace ago::tools
