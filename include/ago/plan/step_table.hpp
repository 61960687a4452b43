// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of steps: the data of all work items as kernels read it, without anything that only planning reads.
#pragma once

#include <ago/plan/pieces.hpp>

#include <cstddef>

namespace ago::plan {

/// The numbers of entries of a table of steps.
struct step_table_size {
  int steps = 0, pieces = 0, parts = 0, stages = 0, runs = 0, details = 0;
};
template <int S, int N, int Runs>
constexpr step_table_size size_of_step_table(fusion_list<S> const& groups, split_list<S> const& splits,
                                             execution_plan<N> const& p, input_run_table<Runs, N> const& runs) {
  step_table_size r{.steps = groups.count, .details = 1};
  for (int k = 0; k < groups.count; ++k) {
    int const pieces = splits.of[k].pieces;
    r.pieces += pieces;
    r.parts += pieces * groups.parts[k];
    r.runs += pieces * runs.count[groups.first[k]];
    for (int i = groups.first[k]; i < groups.first[k] + groups.parts[k]; ++i) {
      r.stages += pieces * p.steps[i].key.after.count();
      r.details += pieces * p.steps[i].data.has_details();
    }
  }
  return r;
}

/// A list of up to N elements in a constant, with the names of std::vector.
template <class T, int N>
class constant_list {
 public:
  constexpr void push_back(T const& x) { items_[count_++] = x; }
  constexpr std::size_t size() const { return std::size_t(count_); }
  constexpr T const* data() const { return items_; }
  constexpr T const& operator[](std::size_t i) const { return items_[i]; }

 private:
  T items_[N > 0 ? N : 1]{};
  int count_ = 0;
};

/// The table of steps. `List<T, N>`: a list of T; a constant_list of exactly the `Size` that is needed, or one that
/// grows at run time.
template <step_table_size Size, template <class T, int N> class List = constant_list>
class step_table {
 public:
  template <int S, int V, int N, int Runs>
  constexpr step_table(fusion_list<S> const& groups, split_list<S> const& splits, memory_plan<V> const& m,
                       execution_plan<N> const& p, input_run_table<Runs, N> const& runs) {
    details_.push_back(step_details{});
    for_each_piece(groups, splits, m, p, [&](int step, int first, int count, step_piece const& piece) {
      if (first_piece_.size() == std::size_t(step)) first_piece_.push_back(int(first_part_.size()));
      first_part_.push_back(int(parts_.size()));
      for (int i = 0; i < count; ++i) add(piece.part[i], p.steps[first + i].key.after.count());
      for (int i = 0; i < runs.count[first]; ++i) runs_.push_back(run_of_piece(runs.run[runs.first[first] + i], piece));
    });
    first_piece_.push_back(int(first_part_.size()));
  }

  /// The number of work items of a step.
  constexpr int pieces(int step) const { return first_piece_[std::size_t(step) + 1] - first_piece_[std::size_t(step)]; }
  /// The data of the parts of a work item, one after another.
  constexpr step_data const& piece(int step, int i) const {
    int const piece = first_piece_[std::size_t(step)] + i;
    return parts_[std::size_t(first_part_[std::size_t(piece)])];
  }
  constexpr step_tables tables() const { return {stages_.data(), runs_.data(), details_.data()}; }

 private:
  constexpr void add(planned_data const& from, int stages) {
    step_data part = from;
    part.first_run = int(runs_.size());
    part.first_stage = int(stages_.size());
    for (int i = 0; i < stages; ++i) stages_.push_back(from.after[i]);
    if (from.has_details()) {
      part.details = int(details_.size());
      details_.push_back(from);
    }
    parts_.push_back(part);
  }

  List<int, Size.steps + 1> first_piece_;  ///< of each step, and the end
  List<int, Size.pieces> first_part_;      ///< of each work item
  List<step_data, Size.parts> parts_;
  List<stage_data, Size.stages> stages_;
  List<input_run, Size.runs> runs_;
  List<step_details, Size.details> details_;
};

}  // namespace ago::plan
