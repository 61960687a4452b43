// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace ago::tools {

temporary_folder::temporary_folder(std::string const& prefix) {
  std::error_code error;
  std::filesystem::path const place = std::filesystem::temp_directory_path(error);
  std::string name = (place / (prefix + "-XXXXXX")).string();
  if (error) throw std::runtime_error("there is no folder for temporary files: " + error.message());
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make the folder " + name + ": " + std::strerror(errno));
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ago::tools
