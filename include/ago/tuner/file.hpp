// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are read and written as a whole, so that a reader never sees a partial file.
#pragma once

#include <ago/tuner/text.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ago::tuner {

/// An open file descriptor of the operating system.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] inline void fail_on(std::string const& path, char const* what) {
  std::string const why = std::strerror(errno);
  throw failure(path + " " + what + ": " + why);
}

/// `name`: the name used in error messages.
inline descriptor open_file(std::string const& path, int flags, std::string const& name) {
  descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (file.number() < 0) fail_on(name, (flags & O_ACCMODE) == O_RDONLY ? "cannot be read" : "cannot be written");
  return file;
}

/// Writes everything and waits until it is on disk.
inline void write_through(descriptor const& file, std::string const& path, std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on(path, "cannot be written");
    text.remove_prefix(std::size_t(written));
  }
  // A pipe or a terminal has no disk.
  if (::fsync(file.number()) != 0 && errno != EINVAL && errno != EROFS) fail_on(path, "cannot be written");
}

/// Is there something other than a regular file at `path`, such as a device or a folder?
inline bool is_special(std::string const& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none);
}

/// Do both paths name the same file, even if spelled differently, through links, or if it does not exist yet?
inline bool same_file(std::string const& a, std::string const& b) {
  std::error_code none;
  if (std::filesystem::equivalent(a, b, none)) return true;
  auto const place = [](std::filesystem::path path) {
    std::error_code error;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links)
      path = path.parent_path() / std::filesystem::read_symlink(path, error);  // even if the target does not exist yet
    path = std::filesystem::absolute(path, error);
    std::filesystem::path const resolved = std::filesystem::weakly_canonical(path, error);
    return error ? path.lexically_normal() : resolved;
  };
  return place(a) == place(b);
}

/// The whole content of a file; none if there is no such file.
inline std::optional<std::string> read_file(std::string const& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  if (is_special(path)) throw failure(path + " is not a regular file");
  descriptor const file = open_file(path, O_RDONLY, path);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    ssize_t const read = ::read(file.number(), buffer, sizeof buffer);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) fail_on(path, "cannot be read");
    if (read == 0) return text;
    text.append(buffer, std::size_t(read));
  }
}

/// Makes the names of new and renamed files in the folder of `path` durable.
inline void sync_folder(std::string const& path) {
  std::string const folder = std::filesystem::path(path).parent_path().string();
  descriptor const opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (opened.number() >= 0) ::fsync(opened.number());
}

/// Replaces a file: readers see the old one or the new one. After any error, the old one remains.
class replacement {
 public:
  /// Throws at once if `path` cannot be written.
  explicit replacement(std::string path) : path_(std::move(path)) {
    if (is_special(path_)) throw failure(path_ + " is not a regular file");
    if (::access(path_.c_str(), F_OK) == 0) {
      path_ = std::filesystem::canonical(path_).string();  // the target of a link
      open_file(path_, O_WRONLY, path_);
    }
    temporary_ = path_ + print(".%ld.part", long(::getpid()));
    file_ = open_file(temporary_, O_WRONLY | O_CREAT | O_TRUNC, path_);
  }
  replacement(replacement const&) = delete;
  replacement& operator=(replacement const&) = delete;
  ~replacement() {
    if (!done_) ::unlink(temporary_.c_str());
  }
  void commit(std::string_view text) {
    write_through(file_, path_, text);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_on(path_, "cannot be written");
    done_ = true;
    sync_folder(path_);
  }

 private:
  std::string path_, temporary_;
  descriptor file_;
  bool done_ = false;
};

/// Throws a failure if `path` cannot be written, and leaves no trace.
inline void check_writable(std::string const& path) { replacement const trial(path); }

}  // namespace ago::tuner
