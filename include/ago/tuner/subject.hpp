// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subject of a tuning: a problem that has a name, whose solutions are table entries, and whose steps can be timed.
#pragma once

#include <ago/plan/schedule.hpp>
#include <ago/tuner/problem.hpp>

#include <string>
#include <vector>

namespace ago::tuner {

/// A line of the generated table.
struct entry {
  tuned_schedule found;
  std::string comment;  ///< describes the step, in one line
};

/// A line of the report: one step before and after, in seconds.
struct step_report {
  std::string name;
  std::string structure;  ///< describes what was chosen
  double usual = 0, tuned = 0;
};

class subject : public problem {
 public:
  virtual std::string network() const = 0;          ///< with its size: "mobilenet_v2 224"
  virtual std::string instruction_set() const = 0;  ///< name_of(isa)
  /// Does a step of this network have this signature, with these options?
  virtual bool has_signature(std::uint64_t signature) const = 0;
  /// The steps that `tuned` computes differently from the default.
  virtual std::vector<entry> table(candidate const& tuned) = 0;
  /// Times every step of the default and of `tuned`, `runs` times each.
  virtual std::vector<step_report> steps(candidate const& tuned, int runs) = 0;
};

}  // namespace ago::tuner
