// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A child process that answers lines of text.
#pragma once

#include "../tools/support/child.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

using ago::tools::not_started;

/// How a program ended, and the last line that it printed to standard output or standard error.
struct ending {
  int status = 0;  ///< 128 + signal if a signal ended it
  std::string said;
};

/// Runs a program to its end. Throws not_started, or std::runtime_error if it takes longer than `limit`.
ending run_program_to_end(std::vector<std::string> const& words, std::chrono::seconds limit);

/// A program that answers every line on its standard input with one on its standard output: "ok ..." or "error ...". It
/// inherits core and scheduling class. The destructor closes its input, which tells it to end.
class child_process {
 public:
  /// `words`: the program, looked up as by a shell, and its arguments. Throws not_started.
  explicit child_process(std::vector<std::string> words);
  ~child_process();
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  /// Sends a line and returns what follows "ok ". Throws std::runtime_error if the answer is another one, if the
  /// program has ended, or if it did not answer within `limit` and was therefore killed.
  std::string ask(std::string const& line, std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  friend ending run_program_to_end(std::vector<std::string> const&, std::chrono::seconds);
  child_process(std::vector<std::string> words, bool errors_too);
  /// Appends what arrives next to `unread_`; false at the end. On timeout, kills the program and throws.
  bool receive(std::chrono::steady_clock::time_point until);
  int wait();  ///< until it ends; the status as in `ending`
  void kill();
  [[noreturn]] void fail(std::string const& why) const;

  std::string name_, unread_;
  int socket_ = -1, id_ = -1;
};

}  // namespace bench
