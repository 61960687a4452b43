#include "output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>

namespace ago::tools {

void write_file(std::string const& path, std::function<void(std::ostream&)> const& write) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error)) throw std::runtime_error("cannot write " + path + ": it is a directory");
  std::string const temporary = path + ".part" + std::to_string(std::random_device{}());
  try {
    errno = 0;
    std::ofstream file(temporary, std::ios::binary);
    if (file) write(file);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno ? errno : EIO));
    fs::rename(temporary, path, error);
    if (error) throw std::runtime_error("cannot write " + path + ": " + error.message());
  } catch (...) {
    fs::remove(temporary, error);
    throw;
  }
}

}  // namespace ago::tools
