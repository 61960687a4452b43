// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder for files that child processes read or write.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

namespace bench {

/// A temporary folder for models and values, which is removed on destruction.
class temporary_folder {
 public:
  temporary_folder() : path_{(std::filesystem::temp_directory_path() / "ago-bench-XXXXXX").string()} {
    if (!mkdtemp(path_.data())) throw std::runtime_error("cannot create a temporary folder: " + path_);
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  std::string const& path() const { return path_; }
  std::string file(char const* name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// Throws std::runtime_error if the file cannot be written.
inline void write_floats(std::string const& file, std::span<float const> floats) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<char const*>(floats.data()), std::streamsize(floats.size_bytes()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace bench
