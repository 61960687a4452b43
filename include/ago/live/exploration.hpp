// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a second thread looks for faster schedules.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>
#include <string>

namespace ago {

struct exploration {
  std::string log = {};            ///< file for the log of all measurements, continued if it exists; empty: none
  std::string device = "unnamed";  ///< describes the machine to readers of the log and header
  int trials = 300;                ///< budget, as the tuner's --budget
  std::uint64_t seed = 1;          ///< of the search
  /// By how much the results of a schedule may differ from the default's, on samples: relative to the largest element
  /// of the same output, or to a sixteenth of the largest of all outputs if that is more. 0: the same values.
  float tolerance = 1e-5f;
  int processor = -1;          ///< the logical processor that the thread is bound to (Linux); -1: any
  bool only_idle_time = true;  ///< no other thread gives up processor time for it (Linux)
};

/// What has happened so far.
struct exploration_progress {
  bool running = false;  ///< is the second thread at work?
  int trials = 0;        ///< measured, or found in the log
  int wrong = 0;         ///< schedules whose results were wrong, which are never used
  int entered = 0;       ///< times that a faster program took the place of the one before
  int sent_back = 0;     ///< times that one was slower in the first thread, and was sent back
};

}  // namespace ago
