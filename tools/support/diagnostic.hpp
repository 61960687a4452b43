// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the front end refuses, in words.
#pragma once

#include <ago/graph/graph.hpp>

#include <string>

namespace ago::tools {

/// The sentence that tells what is wrong, with the two numbers that do not agree, if there are any.
std::string sentence_of(diagnostic const& d);

}  // namespace ago::tools
