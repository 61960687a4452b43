// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program in guarded memory.
#pragma once

#include <ago/runtime/any_program.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include "guarded.hpp"

namespace differential {

/// The memory of a run: packed weights, arena, copies of the inputs, and outputs.
class guarded_run {
 public:
  guarded_run(ago::runtime::any_program const& p, std::vector<float> const& weights,
              std::vector<std::vector<float>> const& inputs, edge where)
      : packed_(p.packed_floats, where), arena_(p.arena_floats, where) {
    p.pack(weights.data(), packed_.data());
    for (auto const& in : inputs) {
      from_.emplace_back(in.size(), where);
      std::copy(in.begin(), in.end(), from_.back().data());
    }
    for (std::size_t const floats : p.outputs) out_.emplace_back(floats, where);
    for (auto& x : from_) inputs_.push_back(x.data());
    for (auto& x : out_) outputs_.push_back(x.data());
  }
  ago::plan::run_memory memory() const { return {packed_.data(), arena_.data(), inputs_.data(), outputs_.data()}; }
  bool intact() const {
    auto const all = [](auto const& list) {
      return std::all_of(list.begin(), list.end(), [](auto const& x) { return x.intact(); });
    };
    return packed_.intact() && arena_.intact() && all(from_) && all(out_);
  }
  /// All outputs, concatenated.
  std::vector<float> results() const {
    std::vector<float> r;
    for (auto const& x : out_) r.insert(r.end(), x.values().begin(), x.values().end());
    return r;
  }
  /// The arena, then the outputs.
  std::vector<std::span<float>> areas() const {
    std::vector<std::span<float>> r{arena_.values()};
    for (auto const& x : out_) r.push_back(x.values());
    return r;
  }

 private:
  guarded_floats packed_, arena_;
  std::vector<guarded_floats> from_, out_;
  std::vector<float const*> inputs_;
  std::vector<float*> outputs_;
};

}  // namespace differential
