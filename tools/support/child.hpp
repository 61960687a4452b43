// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes, started from lists of words: no shell reads them.
#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ago::tools {

/// The program does not exist or cannot be run.
struct not_started : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// File descriptors that a child gets as its own; -1: those of its parent.
struct standard_files {
  int in = -1, out = -1, err = -1;
};

/// Starts a program with its arguments. It is looked up as by a shell, and the keyboard can interrupt it even if this
/// program ignores that. Throws not_started.
pid_t spawn(std::vector<std::string> const& words, standard_files const& files = {});

/// Waits for its end: the exit status, or 128 + signal if a signal ended it.
int wait_for(pid_t child);

/// Runs a program to its end, with its output in files, or in one if both have the same name; returns what wait_for()
/// does. What interrupts it from the keyboard does not end this program, which can tidy up. Throws not_started, or
/// std::runtime_error if a file cannot be written.
int run_program(std::vector<std::string> const& words, std::string const& out, std::string const& err = {});

}  // namespace ago::tools
