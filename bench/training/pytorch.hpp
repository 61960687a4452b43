// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch as a child process that trains the same networks.
#pragma once

#include "../child_process.hpp"
#include "subject.hpp"

#include <memory>
#include <span>
#include <string>

namespace bench {

class pytorch {
 public:
  /// Throws std::runtime_error with the reason if PyTorch or OpenBLAS is not installed.
  pytorch();
  std::string const& version() const { return version_; }

  /// Makes the network ready, in place of the one before.
  void load(training_subject const& subject, training_run const& run);
  /// The largest differences between gradients in double precision and those of ago, and of PyTorch in float, as parts
  /// of the largest gradient.
  struct gradient_errors {
    double ours, theirs;
  };
  gradient_errors gradients(std::span<float const> ours);
  /// The losses of the first training steps.
  std::vector<double> losses(int count);
  /// Seconds of a training step, of its forward and backward parts alone, and of an inference, the means of so many.
  double step(int count) { return seconds("step", count); }
  double backward(int count) { return seconds("backward", count); }
  double infer(int count) { return seconds("infer", count); }

 private:
  double seconds(char const* command, int count);

  child_process child_;
  std::string version_;
};

}  // namespace bench
