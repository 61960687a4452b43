// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Valid names of a network: its name is that of a namespace, in programs that include any other headers.
#pragma once

#include <string>

namespace ago::importer {

/// `name` if it is a C++ identifier; otherwise with underscores instead of other characters.
std::string identifier(std::string const& name);

/// The owner of a name that is already used, "C++" for example; null if it is free.
char const* owner_of(std::string const& name);

/// A similar name that is free.
std::string free_name(std::string const& name);

}  // namespace ago::importer
