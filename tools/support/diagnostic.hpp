// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The front end's diagnostics as text.
#pragma once

#include <ago/ir/graph.hpp>

#include <string>

namespace ago::tools {

/// The fault in the words of its enumerator, with the two conflicting numbers, if there are any: "window exceeds input
/// (expects 3, gets 1)". For an index expression it tells the expression's fault, too, and of which operand.
std::string text_of(ir::diagnostic const& d);

}  // namespace ago::tools
