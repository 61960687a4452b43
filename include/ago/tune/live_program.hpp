// A program planned at run time: the kernels of a menu, packed weights and an arena on the heap.
#pragma once

#include <ago/model/large_pages.hpp>
#include <ago/tune/live_plan.hpp>
#include <ago/tune/menu.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>

namespace ago::tuner {

/// What ago::model is at compile time. `packed` by another one of the same network with the same weights, it copies
/// what has the same layout there: candidates differ in few steps.
template <auto const& Net, options Options = options()>
class live_program {
 public:
  using plan_type = live_plan<Net, Options>;
  static constexpr std::size_t parameter_count = std::size_t(plan_type::formed::graph.parameters);

  /// Null if the menu lacks a kernel.
  static std::unique_ptr<live_program> make(std::shared_ptr<plan_type const> plan, menu_view menu,
                                            std::span<float const> weights, live_program const* packed = nullptr) {
    std::vector<kernel_function> kernels;
    for (int k = 0; k < plan->steps(); ++k) {
      kernels.push_back(menu.find(plan->key(k)));
      if (!kernels.back()) return nullptr;
    }
    return std::unique_ptr<live_program>(new live_program(std::move(plan), std::move(kernels), weights, packed));
  }

  plan_type const& plan() const { return *plan_; }
  std::size_t bytes() const { return (plan_->packed_floats() + plan_->arena_floats()) * sizeof(float); }

  void run(float const* const* inputs, float* const* outputs) const {
    run_memory const m{memory_.get(), arena_, inputs, outputs};
    for (std::size_t k = 0; k < kernels_.size(); ++k) kernels_[k](data_[first_[k]], m);
  }
  /// Runs one step, for profiles: all of them in order are one run.
  void run_step(int step, float const* const* inputs, float* const* outputs) const {
    auto const k = std::size_t(step);
    kernels_[k](data_[first_[k]], {memory_.get(), arena_, inputs, outputs});
  }

 private:
  struct release {
    void operator()(float* p) const { ::operator delete[](p, alignment); }
  };
  static constexpr std::align_val_t alignment{1 << 21};  // of a large page, so that each program has its own

  live_program(std::shared_ptr<plan_type const> plan, std::vector<kernel_function> kernels,
               std::span<float const> weights, live_program const* packed)
      : plan_(std::move(plan)), kernels_(std::move(kernels)) {
    for (int i = 0; i < plan_type::part_count; ++i) data_.push_back(plan_->part(i).data);
    for (int k = 0; k < plan_->steps(); ++k) first_.push_back(std::size_t(plan_->first_part(k)));
    std::size_t const before_arena = (plan_->packed_floats() + 15) / 16 * 16;
    std::size_t const bytes = (before_arena + plan_->arena_floats() + 16) * sizeof(float);
    memory_.reset(static_cast<float*>(::operator new[](bytes, alignment)));
    prefer_large_pages(memory_.get(), bytes);
    arena_ = memory_.get() + before_arena;
    pack_constants(plan_type::formed::graph, plan_->memory(), weights.data(), memory_.get());
    for (int i = 0; i < plan_type::part_count; ++i) pack(i, weights, packed);
  }

  void pack(int i, std::span<float const> weights, live_program const* packed) {
    planned_step const& p = plan_->part(i);
    long const floats = plan_->packed_floats_of(i);
    if (packed && plan_->packs_alike(*packed->plan_, i) && packed->plan_->packed_floats_of(i) == floats) {
      std::memcpy(memory_.get() + p.data.weights, packed->memory_.get() + packed->plan_->part(i).data.weights,
                  std::size_t(floats) * sizeof(float));
    } else {
      std::memset(memory_.get() + p.data.weights, 0, std::size_t(floats) * sizeof(float));
      pack_part<Options.target>(i, p, p.data, plan_type::formed::merged, weights.data(), memory_.get());
    }
  }

  std::shared_ptr<plan_type const> plan_;
  std::vector<kernel_function> kernels_;
  std::vector<step_data> data_;
  std::vector<std::size_t> first_;  ///< first part of each step
  std::unique_ptr<float[], release> memory_;
  float* arena_ = nullptr;
};

}  // namespace ago::tuner
