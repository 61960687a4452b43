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

  /// Floats that it takes of its memory.
  static std::size_t floats_of(plan_type const& plan) { return arena_start(plan) + plan.arena_floats(); }

  /// Null if the menu lacks a kernel. Packed `like` another program of the same weights, it copies what has the same
  /// layout there: candidates differ in few steps. `where`: memory that is large enough; null: its own.
  static std::unique_ptr<live_program> make(std::shared_ptr<plan_type const> plan, menu_view const& menu,
                                            std::span<float const> weights, live_program const* like = nullptr,
                                            std::shared_ptr<program_memory> where = nullptr) {
    std::vector<kernel_function> kernels;
    for (int k = 0; k < plan->steps(); ++k) {
      kernels.push_back(menu.find(plan->key(k)));
      if (!kernels.back()) return nullptr;
    }
    if (!where) where = std::make_shared<program_memory>(floats_of(*plan));
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
               std::shared_ptr<program_memory> where, std::span<float const> weights, live_program const* like)
      : plan_(std::move(plan)), kernels_(std::move(kernels)), memory_(std::move(where)) {
    for (int i = 0; i < plan_type::part_count; ++i) data_.push_back(plan_->part(i).data);
    for (int k = 0; k < plan_->steps(); ++k) first_.push_back(std::size_t(plan_->first_part(k)));
    pack_constants(plan_type::formed::graph, plan_->memory(), weights.data(), memory_->data());
    for (int i = 0; i < plan_type::part_count; ++i) pack(i, weights, like);
  }

  static std::size_t arena_start(plan_type const& plan) { return (plan.packed_floats() + 15) / 16 * 16; }
  run_memory memory(float const* const* inputs, float* const* outputs) const {
    return {memory_->data(), memory_->data() + arena_start(*plan_), inputs, outputs};
  }

  void pack(int i, std::span<float const> weights, live_program const* like) {
    planned_step const& p = plan_->part(i);
    long const floats = plan_->packed_floats_of(i);
    float* const to = memory_->data() + p.data.weights;
    if (like && plan_->packs_alike(*like->plan_, i) && like->plan_->packed_floats_of(i) == floats) {
      std::memcpy(to, like->memory_->data() + like->plan_->part(i).data.weights, std::size_t(floats) * sizeof(float));
    } else {
      std::memset(to, 0, std::size_t(floats) * sizeof(float));  // what aligns parameters lies between them
      pack_part<Options.target>(i, p, p.data, plan_type::formed::merged, weights.data(), memory_->data());
    }
  }

  std::shared_ptr<plan_type const> plan_;
  std::vector<kernel_function> kernels_;
  std::shared_ptr<program_memory> memory_;
  std::vector<step_data> data_;
  std::vector<std::size_t> first_;  ///< first part of each step
};

}  // namespace ago::tuner
