// A program planned at run time: the kernels of a menu, packed weights and an arena on the heap.
#pragma once

#include <ago/tune/live_plan.hpp>
#include <ago/tune/menu.hpp>
#include <ago/tune/program_memory.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace ago::tuner {

/// What ago::model is at compile time.
template <auto const& Net, options Options = options()>
class live_program {
 public:
  using plan_type = live_plan<Net, Options>;
  using place_type = program_place<plan_type>;

  /// Floats that it takes of its memory.
  static std::size_t floats_of(plan_type const& plan) { return arena_start(plan) + plan.arena_floats(); }

  /// Null if the menu lacks a kernel. Candidates differ in few steps, so what is packed in `where` already stays there,
  /// and what has the same layout in `like`, another program of the same weights, is copied. `where`: large enough; a
  /// program that was there ends. Null: a place of its own.
  static std::unique_ptr<live_program> make(std::shared_ptr<plan_type const> plan, menu_view const& menu,
                                            std::span<float const> weights, live_program const* like = nullptr,
                                            std::shared_ptr<place_type> where = nullptr) {
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

  void run(float const* const* inputs, float* const* outputs) const {
    run_memory const m = memory(inputs, outputs);
    for (std::size_t k = 0; k < kernels_.size(); ++k) kernels_[k](data_[first_[k]], m);
  }
  /// Runs one step, for profiles: all of them in order are one run.
  void run_step(int step, float const* const* inputs, float* const* outputs) const {
    auto const k = std::size_t(step);
    kernels_[k](data_[first_[k]], memory(inputs, outputs));
  }

 private:
  live_program(std::shared_ptr<plan_type const> plan, std::vector<kernel_function> kernels,
               std::shared_ptr<place_type> where, std::span<float const> weights, live_program const* like)
      : plan_(std::move(plan)), kernels_(std::move(kernels)), place_(std::move(where)) {
    for (int i = 0; i < plan_type::part_count; ++i) data_.push_back(plan_->part(i).data);
    for (int k = 0; k < plan_->steps(); ++k) first_.push_back(std::size_t(plan_->first_part(k)));
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
      std::memset(to, 0, bytes);  // what aligns parameters lies between them
      pack_part<Options.target>(i, p, p.data, plan_type::formed::merged, weights.data(), floats());
    }
  }

  std::shared_ptr<plan_type const> plan_;
  std::vector<kernel_function> kernels_;
  std::shared_ptr<place_type> place_;
  std::vector<step_data> data_;
  std::vector<std::size_t> first_;  ///< first part of each step
};

}  // namespace ago::tuner
