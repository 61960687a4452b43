// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output_file.hpp"

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace ago::tools {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string const& path, std::string const& why) {
  throw std::runtime_error("cannot write " + path + ": " + why);
}

/// A temporary file, removed unless it has been renamed to its final name.
class draft {
 public:
  explicit draft(std::string const& path)
      : path_(path), name_(path + ".part" + std::to_string(std::random_device{}())) {
    std::error_code ignored;
    if (fs::is_directory(path_, ignored)) fail(path_, "it is a directory");
  }
  draft(draft const&) = delete;
  draft& operator=(draft const&) = delete;
  ~draft() {
    std::error_code ignored;
    fs::remove(name_, ignored);
  }

  void write(std::function<void(std::ostream&)> const& write) const {
    errno = 0;
    std::ofstream file(name_, std::ios::binary);
    if (file) write(file);
    file.close();
    if (!file) fail(path_, std::strerror(errno ? errno : EIO));
  }
  void take_name() const {
    std::error_code error;
    fs::rename(name_, path_, error);
    if (error) fail(path_, error.message());
  }

 private:
  std::string const path_, name_;
};

}  // namespace

void write_files(std::vector<output_file> const& files) {
  std::deque<draft> drafts;
  for (output_file const& f : files) drafts.emplace_back(f.path).write(f.write);
  for (draft const& d : drafts) d.take_name();
}

void write_file(std::string const& path, std::function<void(std::ostream&)> const& write) {
  write_files({{path, write}});
}

}  // namespace ago::tools
