// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program planned at run time with kernels from a menu, and its memory: packed weights and an arena on the heap.
#pragma once

#include <ago/runtime/run_time_program.hpp>
#include <ago/tuner/menu.hpp>
#include <ago/tuner/program_memory.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace ago::tuner {

/// The run-time counterpart of ago::model. `Plan`: a live_plan.
template <class Plan>
class live_program : public run_time_program<Plan> {
  using base = run_time_program<Plan>;

 public:
  using plan_type = Plan;
  using place_type = program_place<Plan>;

  /// Number of floats that it needs.
  static std::size_t floats_of(Plan const& plan) { return plan.arena_start() + plan.arena_floats(); }

  /// Null if the menu lacks a kernel, or if offsets cannot address its memory. Since candidates differ in few steps,
  /// weights that are already packed in `where` stay there, and weights with the same layout in `like`, another
  /// program of the same weights, are copied; parameters that are trained are not packed yet. `where` must be large
  /// enough; a program that used it before becomes invalid. Null: new memory.
  static std::unique_ptr<live_program> make(std::shared_ptr<Plan const> plan, menu_view const& menu,
                                            std::span<float const> weights, live_program const* like = nullptr,
                                            std::shared_ptr<place_type> where = nullptr) {
    if (!fits_offsets(long(plan->packed_floats())) || !fits_offsets(long(plan->arena_floats()))) return nullptr;
    base code(plan, [&](auto const& key) { return menu.find(key); });
    if (!code.is_complete()) return nullptr;
    if (!where) where = std::make_shared<place_type>(floats_of(*plan));
    std::unique_ptr<live_program> r(new live_program(std::move(code), std::move(where), weights, like));
    r->place_->packed = std::move(plan);
    return r;
  }

  using base::plan;
  /// The memory that no run expects to hold anything.
  std::span<float> scratch() const {
    std::size_t const first = Plan::trained ? 0 : plan().arena_start();
    return {floats() + first, floats_of(plan()) - first};
  }

  /// Runs all steps, with the work items of each one after another, or computed by `workers`.
  void run(float const* const* inputs, float* const* outputs, runs_pieces auto&... workers) const {
    if constexpr (Plan::trained)
      for (int k = 0; k < plan().steps(); ++k) run_step(k, inputs, outputs, workers...);
    else base::run(memory(inputs, outputs), workers...);
  }
  /// Runs one step, for which parameters that are trained are packed first.
  void run_step(int step, float const* const* inputs, float* const* outputs, runs_pieces auto&... workers) const {
    if constexpr (Plan::trained) base::template pack_step<Plan::target>(step, inputs[Plan::inputs], floats());
    base::run_step(step, memory(inputs, outputs), workers...);
  }

 private:
  live_program(base code, std::shared_ptr<place_type> where, std::span<float const> weights, live_program const* like)
      : base(std::move(code)), place_(std::move(where)) {
    if constexpr (Plan::trained) return;
    pack_constants(plan().graph, plan().memory, weights.data(), floats());
    for (int i = 0; i < plan().part_count; ++i) pack(i, weights, like);
  }

  float* floats() const { return place_->memory.data(); }
  run_memory memory(float const* const* inputs, float* const* outputs) const {
    return {floats(), floats() + plan().arena_start(), inputs, outputs};
  }

  void pack(int i, std::span<float const> weights, live_program const* like) {
    planned_step const& p = plan().part(i);
    std::size_t const bytes = std::size_t(plan().packed_floats_of(i)) * sizeof(float);
    Plan const* const before = place_->packed.get();
    if (before && plan().packs_alike(*before, i) && before->part(i).data.weights == p.data.weights) return;
    float* const to = floats() + p.data.weights;
    if (like && plan().packs_alike(like->plan(), i)) {
      std::memcpy(to, like->floats() + like->plan().part(i).data.weights, bytes);
    } else {
      std::memset(to, 0, bytes);  // the padding between parameters must be 0
      pack_part<Plan::target>(i, p, plan().merged(), weights.data(), floats());
    }
  }

  std::shared_ptr<place_type> place_;
};

}  // namespace ago::tuner
