// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that tests start, watch and kill.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace testing {

/// A new empty folder, removed on destruction.
class scratch_folder {
 public:
  scratch_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ago_tune_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  std::string operator/(std::string const& name) const { return (path_ / name).string(); }
  std::size_t count() const {
    std::filesystem::directory_iterator const files(path_);
    return std::size_t(std::distance(begin(files), end(files)));
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
inline void put(std::string const& path, std::string const& text) { std::ofstream(path, std::ios::binary) << text; }

/// The destination of a program's output.
enum class output { pipe, terminal };

/// A running program.
class process {
 public:
  using environment = std::vector<std::pair<std::string, std::string>>;

  process(std::vector<std::string> words, environment const& more = {}, output to = output::pipe,
          rlim_t largest_file = RLIM_INFINITY) {
    int ends[2];
    if (to == output::pipe) {
      REQUIRE(::pipe(ends) == 0);
    } else {
      ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY);
      REQUIRE((ends[0] >= 0 && ::grantpt(ends[0]) == 0 && ::unlockpt(ends[0]) == 0));
      ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY);
      REQUIRE(ends[1] >= 0);
    }
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) start(words, more, ends, largest_file);
    ::close(ends[1]);
    out_ = ends[0];
  }
  process(process const&) = delete;
  process& operator=(process const&) = delete;
  ~process() {
    if (id_ > 0) signal(SIGKILL), wait();
    ::close(out_);
  }

  void signal(int number) { ::kill(id_, number); }
  /// Waits for its end. Returns the exit code, or 128 + signal if a signal ended it; text() has its output.
  int wait() {
    char buffer[4096];
    for (ssize_t n; (n = ::read(out_, buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
      if (n > 0) text_.append(buffer, std::size_t(n));
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {}
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string const& text() const { return text_; }

 private:
  [[noreturn]] static void start(std::vector<std::string>& words, environment const& more, int const* ends,
                                 rlim_t largest_file) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    for (auto const& [name, value] : more) ::setenv(name.c_str(), value.c_str(), 1);
    if (largest_file != RLIM_INFINITY) {
      ::signal(SIGXFSZ, SIG_IGN);
      rlimit const limit{largest_file, largest_file};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  pid_t id_ = -1;
  int out_ = -1;
  std::string text_;
};

}  // namespace testing
