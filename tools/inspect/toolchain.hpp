// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler of this machine, what it needs to compile ago, and what the machine can run.
#pragma once

#include <ago/ir/isa.hpp>

#include <string>
#include <vector>

namespace ago::tools {

/// The widest instruction set of this machine.
isa widest_isa();

/// Whether programs for `target` run on this machine.
bool can_run(isa target);

/// The compiler: `given`, or else $CXX, or else what compiled this tool, by its name. It may have arguments, separated
/// by blanks, unless the whole text is the name of a file.
std::vector<std::string> compiler_words(std::string const& given);

/// Flags for `target`: what this machine has if that is its widest instruction set, or else an older processor.
std::vector<std::string> flags_for(isa target);

/// `given`, then the folders of the headers of ago and xsimd: those that the build has listed beside this program, or
/// those installed with it. (Compilers find xsimd where systems install it.) Throws std::runtime_error if none of them
/// has ago's headers.
std::vector<std::string> header_folders(std::vector<std::string> const& given);

}  // namespace ago::tools
