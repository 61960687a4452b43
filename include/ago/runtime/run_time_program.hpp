// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program planned at run time: packing, and the steps with their kernels. Its users own the memory.
#pragma once

#include <ago/plan/run_time_plan.hpp>
#include <ago/runtime/pack.hpp>
#include <ago/runtime/phased_run.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace ago::runtime {

/// The run-time counterpart of ago::program. `Plan`: a run_time_plan with its `graph` and `merged()` packings.
/// `Kernel`: a kernel_function, or another callable that computes a work item; it is false if there is none.
template <class Plan, class Kernel = kernel_function>
class run_time_program {
 public:
  /// `kernel_of`(key): the kernel of a step, or (a kernel::one_pass_key) of one that computes the next one with it.
  run_time_program(std::shared_ptr<Plan const> plan, auto const& kernel_of)
      : plan_(std::move(plan)), table_(plan_->table()) {
    for (int k = 0; k < plan_->steps(); ++k) {
      kernels_.push_back(plan_->leads(k) ? kernel_of(plan_->pass_key(k)) : kernel_of(plan_->key(k)));
      bool packs = false;
      auto const found = [&](auto const&) { packs = true; };
      for (int i = plan_->first_part(k); i < plan_->first_part(k + 1); ++i)
        for_each_packing(i, plan_->part(i), nullptr, plan_->merged(), found, found);
      packs_.push_back(packs);
    }
  }

  Plan const& plan() const { return *plan_; }
  std::vector<Kernel> const& kernels() const { return kernels_; }
  /// Does every step have a kernel? Otherwise it cannot run.
  bool is_complete() const {
    return std::all_of(kernels_.begin(), kernels_.end(), [](Kernel const& f) { return bool(f); });
  }
  /// Number of work items of a step.
  int pieces(int step) const { return table_.pieces(step); }

  /// Packs the weights for instruction set `I`. Writes all packed_floats().
  template <isa I>
  void pack(float const* weights, float* packed) const {
    std::memset(packed, 0, plan_->packed_floats() * sizeof(float));  // the padding between parameters must be 0
    pack_constants(plan_->graph, plan_->memory, weights, packed);
    for (int k = 0; k < plan_->steps(); ++k) pack_step<I>(k, weights, packed);
  }
  /// Packs those of one step (storage::trained), where those of other steps have been.
  template <isa I>
  void pack_step(int step, float const* weights, float* packed) const {
    if (!packs_[std::size_t(step)]) return;
    for (int i = plan_->first_part(step); i < plan_->first_part(step + 1); ++i)
      pack_part<I>(i, plan_->part(i), plan_->merged(), weights, packed);
  }

  /// Runs all steps, with the work items of each one after another.
  void run(run_memory const& memory) const {
    for (int k = 0; k < plan_->steps(); ++k) run_step(k, memory);
  }
  /// Runs all steps; `workers` compute their work items.
  void run(run_memory const& memory, runs_pieces auto& workers) const {
    kernel_memory const m{memory, table_.tables()};
    run_phases(
        plan_->steps(), [&](int k) { return plan_->waits_of(k); }, [&](int k) { return pieces(k); },
        [&](int k, int i) { compute(k, i, m); }, workers);
  }
  /// Runs one step; all steps in order make one run. Of two that one pass computes, the first runs both.
  void run_step(int step, run_memory const& memory) const {
    kernel_memory const m{memory, table_.tables()};
    for (int i = 0; i < pieces(step); ++i) compute(step, i, m);
  }
  void run_step(int step, run_memory const& memory, runs_pieces auto& workers) const {
    kernel_memory const m{memory, table_.tables()};
    auto const piece = [&](int i) { compute(step, i, m); };
    if (int const count = pieces(step); count == 1) piece(0);
    else workers.run(count, piece);
  }

 private:
  void compute(int step, int i, kernel_memory const& m) const {
    if (!plan_->leads(step - 1)) kernels_[std::size_t(step)](table_.piece(step, i), m);
  }

  std::shared_ptr<Plan const> plan_;
  std::vector<Kernel> kernels_;
  std::vector<bool> packs_;  ///< has the step any weights to pack?
  step_table<step_table_size{}, growing_list> table_;
};

}  // namespace ago::runtime
