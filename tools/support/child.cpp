// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace ago::tools {
namespace {

/// The signals of a keyboard that end a program.
constexpr int interruptions[]{SIGINT, SIGQUIT};

/// Ignores them for as long as it lives.
class uninterrupted {
 public:
  uninterrupted() {
    for (int k = 0; k < 2; ++k) before_[k] = std::signal(interruptions[k], SIG_IGN);
  }
  ~uninterrupted() {
    for (int k = 0; k < 2; ++k) std::signal(interruptions[k], before_[k]);
  }
  uninterrupted(uninterrupted const&) = delete;
  uninterrupted& operator=(uninterrupted const&) = delete;

 private:
  void (*before_[2])(int);
};

/// A new file, open for writing by this process; none if it has no name.
class writable_file {
 public:
  explicit writable_file(std::string const& name)
      : number(name.empty() ? -1 : open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (number < 0 && !name.empty()) throw std::runtime_error("cannot write " + name + ": " + std::strerror(errno));
  }
  ~writable_file() {
    if (number >= 0) close(number);
  }
  writable_file(writable_file const&) = delete;
  writable_file& operator=(writable_file const&) = delete;

  int const number;
};

}  // namespace

pid_t spawn(std::vector<std::string> const& words, standard_files const& files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int const theirs[]{files.in, files.out, files.err}, ours[]{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  for (int k = 0; k < 3; ++k)
    if (theirs[k] >= 0) posix_spawn_file_actions_adddup2(&actions, theirs[k], ours[k]);
  sigset_t usual;
  sigemptyset(&usual);
  for (int const s : interruptions) sigaddset(&usual, s);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t id = -1;
  int const error = posix_spawnp(&id, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw not_started(words.front() + " could not be started: " + std::strerror(error));
  return id;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_program(std::vector<std::string> const& words, std::string const& out, std::string const& err) {
  bool const same = out == err;
  writable_file const to(out), errors_to(same ? std::string() : err);
  uninterrupted const until_it_ends;
  return wait_for(spawn(words, {.out = to.number, .err = same ? to.number : errors_to.number}));
}

}  // namespace ago::tools
