// Files that appear whole or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace ago::tools {

/// Calls `write` with a temporary file beside `path`, which then takes that name. Throws std::runtime_error, and leaves
/// what was at `path` as it is, if anything fails.
void write_file(std::string const& path, std::function<void(std::ostream&)> const& write);

}  // namespace ago::tools
