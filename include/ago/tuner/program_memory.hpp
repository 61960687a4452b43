// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for packed weights and arena, laid out identically for every program that is timed.
#pragma once

#include <ago/runtime/large_pages.hpp>

#include <cstddef>
#include <memory>
#include <new>

namespace ago::tuner {

/// Starts at a large page of its own, so that programs differ only in their kernels.
class program_memory {
 public:
  explicit program_memory(std::size_t floats)
      : floats_(floats), data_(static_cast<float*>(::operator new[](floats * sizeof(float), alignment))) {
    prefer_large_pages(data_.get(), floats * sizeof(float));
  }
  std::size_t floats() const { return floats_; }
  float* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{1 << 21};
  struct release {
    void operator()(float* p) const { ::operator delete[](p, alignment); }
  };
  std::size_t floats_;
  std::unique_ptr<float[], release> data_;
};

/// Memory, and the plan whose weights are packed there: the next program of the same network and weights packs only
/// what differs.
template <class Plan>
struct program_place {
  explicit program_place(std::size_t floats) : memory(floats) {}
  program_memory memory;
  std::shared_ptr<Plan const> packed;  ///< null: nothing yet
};

}  // namespace ago::tuner
