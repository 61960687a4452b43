// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder for the files of one run of a tool.
#pragma once

#include <filesystem>
#include <string>

namespace ago::tools {

/// A new folder in the system's one for temporary files, removed with all that it contains unless it is kept.
class temporary_folder {
 public:
  /// `prefix`: of its name. Throws std::runtime_error.
  explicit temporary_folder(std::string const& prefix);
  ~temporary_folder();
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  std::filesystem::path const& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

}  // namespace ago::tools
