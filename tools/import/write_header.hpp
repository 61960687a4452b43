// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C++ header of an imported network.
#pragma once

#include "expression.hpp"
#include "lowering.hpp"

#include <ostream>

namespace ago::importer {

struct header_of {
  std::string name;    ///< of its namespace
  std::string source;  ///< the file it was imported from
  std::vector<port> inputs, outputs;
};

/// The text of an imported network, in blocks.
program_text written_text(lowered_model const& lowered);

/// The name must be free (names.hpp).
void write_header(std::ostream& out, program_text const& text, header_of const& about);

}  // namespace ago::importer
