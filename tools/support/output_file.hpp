// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that appear whole or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace ago::tools {

/// A file to be, and what writes it.
struct output_file {
  std::string path;
  std::function<void(std::ostream&)> write;
};

/// Writes each file under a temporary name beside its path; once all are written they take their names. Throws
/// std::runtime_error, or what a `write` throws, and leaves what was at the paths as it is, if any cannot be written.
void write_files(std::vector<output_file> const& files);
/// Likewise a single one.
void write_file(std::string const& path, std::function<void(std::ostream&)> const& write);

}  // namespace ago::tools
