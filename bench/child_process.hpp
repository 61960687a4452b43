// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that is started from here and asked by lines of text.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// There is no such program, or it may not be run.
struct not_started : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a program ended, and the last line that it printed to either output.
struct ending {
  int status = 0;  ///< 128 + signal where one ended it
  std::string said;
};

/// Runs a program to its end. Throws not_started, or std::runtime_error if it takes longer than `limit`.
ending run_program_to_end(std::vector<std::string> const& words, std::chrono::seconds limit);

/// A program that answers every line on its standard input by one on its standard output: "ok ..." or "error ...". It
/// inherits core and scheduling class, and is told to end (by the end of its input) when this is destroyed.
class child_process {
 public:
  /// `words`: the program, found as a shell finds it, and its arguments. Throws not_started.
  explicit child_process(std::vector<std::string> words);
  ~child_process();
  child_process(child_process const&) = delete;
  child_process& operator=(child_process const&) = delete;

  /// Sends a line and gives what follows "ok ". Throws std::runtime_error that says what it answered instead, or how it
  /// ended, or that it was silent for `limit`, and was therefore ended.
  std::string ask(std::string const& line, std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  friend ending run_program_to_end(std::vector<std::string> const&, std::chrono::seconds);
  child_process(std::vector<std::string> words, bool errors_too);
  /// Appends what arrives next to `unread_`; false at the end. Ends the program and throws when time is over.
  bool receive(std::chrono::steady_clock::time_point until);
  int wait();  ///< for its end; the status as in `ending`
  void kill();
  [[noreturn]] void fail(std::string const& why) const;

  std::string name_, unread_;
  int socket_ = -1, id_ = -1;
};

}  // namespace bench
