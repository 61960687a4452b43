// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caller's side of a run: guarded buffers for weights, inputs and outputs.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "experiment.hpp"
#include "guarded.hpp"

namespace differential {

/// A vector for each output.
using results = std::vector<std::vector<float>>;

/// Every buffer is at the given edge of accessible memory.
class caller {
 public:
  caller(experiment const& e, edge where) : experiment_(e), weights_(e.weights.size(), where) {
    std::copy(e.weights.begin(), e.weights.end(), weights_.data());
    for (auto const& in : e.inputs) {
      inputs_.emplace_back(in.size(), where);
      std::copy(in.begin(), in.end(), inputs_.back().data());
      in_.push_back(inputs_.back().data());
    }
    for (auto const& out : e.expected) {
      outputs_.emplace_back(out.exact.size(), where);
      out_.push_back(outputs_.back().data());
    }
  }

  float const* weights() const { return weights_.data(); }
  float const* const* inputs() const { return in_.data(); }
  float* const* outputs() const { return out_.data(); }

  /// Returns the results and resets the outputs for the next run.
  results take() {
    results all;
    for (auto const& out : outputs_) {
      all.emplace_back(out.values().begin(), out.values().end());
      std::fill(out.values().begin(), out.values().end(), std::bit_cast<float>(guarded_floats::pattern));
    }
    return all;
  }
  /// Whether nothing but the outputs was written.
  bool intact() const {
    auto const same = [](guarded_floats const& a, std::vector<float> const& b) {
      return a.intact() && std::equal(b.begin(), b.end(), a.data());
    };
    bool good = same(weights_, experiment_.weights);
    for (std::size_t i = 0; i < inputs_.size(); ++i) good = good && same(inputs_[i], experiment_.inputs[i]);
    for (auto const& out : outputs_) good = good && out.intact();
    return good;
  }

 private:
  experiment const& experiment_;
  guarded_floats weights_;
  std::vector<guarded_floats> inputs_, outputs_;
  std::vector<float const*> in_;
  std::vector<float*> out_;
};

}  // namespace differential
