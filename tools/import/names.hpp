// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a network may be called: its name is that of a namespace, in programs that include any other header.
#pragma once

#include <string>

namespace ago::importer {

/// `name` if C++ could declare it; else with an underscore in the place of whatever is no letter or digit.
std::string identifier(std::string const& name);

/// Whose name that is already, "C++" for example; null if it is free.
char const* owner_of(std::string const& name);

/// A name like this one that is free.
std::string free_name(std::string const& name);

}  // namespace ago::importer
