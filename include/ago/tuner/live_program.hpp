// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program planned at run time: kernels from a menu, with packed weights and an arena on the heap.
#pragma once

#include <ago/tuner/live_plan.hpp>
#include <ago/tuner/menu.hpp>
#include <ago/tuner/program_memory.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace ago::tuner {

/// The run-time counterpart of ago::model.
template <auto const& Net, options_for Options = options{}>
class live_program {
 public:
  using plan_type = live_plan<Net, Options>;
  using place_type = program_place<plan_type>;

  /// Number of floats that it needs.
  static std::size_t floats_of(plan_type const& plan) { return arena_start(plan) + plan.arena_floats(); }

  /// Null if the menu lacks a kernel, or if offsets cannot address its memory. Since candidates differ in few steps,
  /// weights that are already packed in `where` stay there, and weights with the same layout in `like`, another
  /// program of the same weights, are copied. `where` must be large enough; a program that used it before becomes
  /// invalid. Null: new memory.
  static std::unique_ptr<live_program> make(std::shared_ptr<plan_type const> plan, menu_view const& menu,
                                            std::span<float const> weights, live_program const* like = nullptr,
                                            std::shared_ptr<place_type> where = nullptr) {
    if (!fits_offsets(long(plan->packed_floats())) || !fits_offsets(long(plan->arena_floats()))) return nullptr;
    std::vector<kernel_function> kernels;
    for (int k = 0; k < plan->steps(); ++k) {
      kernels.push_back(menu.find(plan->key(k)));
      if (!kernels.back()) return nullptr;
    }
    if (!where) where = std::make_shared<place_type>(floats_of(*plan));
    return std::unique_ptr<live_program>(
        new live_program(std::move(plan), std::move(kernels), std::move(where), weights, like));
  }

  plan_type const& plan() const { return *plan_; }

  /// Packs other weights: of all parts, in the same places.
  void repack(std::span<float const> weights) const {
    pack_constants(plan_type::formed::graph, plan_->memory(), weights.data(), floats());
    for (int i = 0; i < plan_type::part_count; ++i) pack_weights(i, weights);
  }
  /// The memory of values, which no run expects to hold anything.
  std::span<float> arena() const { return {floats() + arena_start(*plan_), plan_->arena_floats()}; }

  /// Runs all steps, with the work items of each one after another.
  void run(float const* const* inputs, float* const* outputs) const {
    kernel_memory const m{memory(inputs, outputs), table_.tables()};
    for (int k = 0; k < int(kernels_.size()); ++k)
      for (int i = 0; i < table_.pieces(k); ++i) kernels_[std::size_t(k)](table_.piece(k, i), m);
  }
  /// Runs all steps; `workers` compute their work items.
  void run(float const* const* inputs, float* const* outputs, runs_pieces auto& workers) const {
    kernel_memory const m{memory(inputs, outputs), table_.tables()};
    run_phases(
        plan_->steps(), [&](int k) { return plan_->waits_of(k); }, [&](int k) { return table_.pieces(k); },
        [&](int k, int i) { kernels_[std::size_t(k)](table_.piece(k, i), m); }, workers);
  }
  /// Runs one step, for profiling: all steps in order make one run.
  void run_step(int step, float const* const* inputs, float* const* outputs, runs_pieces auto& workers) const {
    auto const k = std::size_t(step);
    kernel_memory const m{memory(inputs, outputs), table_.tables()};
    auto const piece = [&](int i) { kernels_[k](table_.piece(step, i), m); };
    if (int const count = table_.pieces(step); count == 1) piece(0);
    else workers.run(count, piece);
  }

 private:
  template <class T, int>
  using growing_list = std::vector<T>;

  live_program(std::shared_ptr<plan_type const> plan, std::vector<kernel_function> kernels,
               std::shared_ptr<place_type> where, std::span<float const> weights, live_program const* like)
      : plan_(std::move(plan)), kernels_(std::move(kernels)), place_(std::move(where)),
        table_(plan_->template table<growing_list>()) {
    pack_constants(plan_type::formed::graph, plan_->memory(), weights.data(), floats());
    for (int i = 0; i < plan_type::part_count; ++i) pack(i, weights, like);
    place_->packed = plan_;
  }

  float* floats() const { return place_->memory.data(); }
  static std::size_t arena_start(plan_type const& plan) { return (plan.packed_floats() + 15) / 16 * 16; }
  run_memory memory(float const* const* inputs, float* const* outputs) const {
    return {floats(), floats() + arena_start(*plan_), inputs, outputs};
  }

  void pack(int i, std::span<float const> weights, live_program const* like) {
    planned_step const& p = plan_->part(i);
    std::size_t const bytes = std::size_t(plan_->packed_floats_of(i)) * sizeof(float);
    plan_type const* const before = place_->packed.get();
    if (before && plan_->packs_alike(*before, i) && before->part(i).data.weights == p.data.weights) return;
    float* const to = floats() + p.data.weights;
    if (like && plan_->packs_alike(*like->plan_, i)) {
      std::memcpy(to, like->floats() + like->plan_->part(i).data.weights, bytes);
    } else {
      std::memset(to, 0, bytes);  // the padding between parameters must be 0
      pack_weights(i, weights);
    }
  }
  void pack_weights(int i, std::span<float const> weights) const {
    planned_step const& p = plan_->part(i);
    pack_part<Options.target, true>(i, p, p.data, plan_type::formed::merged, weights.data(), floats());
  }

  std::shared_ptr<plan_type const> plan_;
  std::vector<kernel_function> kernels_;
  std::shared_ptr<place_type> place_;
  step_table<step_table_size{}, growing_list> table_;
};

}  // namespace ago::tuner
