// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are written completely or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace ago::tools {

/// A file to be written, and its writer.
struct output_file {
  std::string path;
  std::function<void(std::ostream&)> write;
};

/// Writes each file under a temporary name beside its path; once all are written, renames them. If a file cannot be
/// written, throws std::runtime_error, or the exception of its `write`, and leaves the existing files unchanged.
void write_files(std::vector<output_file> const& files);
/// The same for a single file.
void write_file(std::string const& path, std::function<void(std::ostream&)> const& write);

}  // namespace ago::tools
