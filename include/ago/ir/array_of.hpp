// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays whose length is a capacity of a graph.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <type_traits>

namespace ago::ir {

/// An array on the heap, which is copied with what contains it. It is empty when it has been moved from.
template <class T, int N>
class heap_array {
  struct elements {
    T of[N]{};
  };
  elements* all_ = new elements{};

 public:
  constexpr heap_array() = default;
  constexpr heap_array(heap_array const& x) : all_(new elements(*x.all_)) {}
  constexpr heap_array(heap_array&& x) noexcept : all_(x.all_) { x.all_ = nullptr; }
  constexpr heap_array& operator=(heap_array x) noexcept {
    elements* const other = x.all_;
    x.all_ = all_;
    all_ = other;
    return *this;
  }
  constexpr ~heap_array() { delete all_; }

  constexpr operator T*() { return all_->of; }
  constexpr operator T const*() const { return all_->of; }
  constexpr T& operator[](std::ptrdiff_t i) { return all_->of[i]; }
  constexpr T const& operator[](std::ptrdiff_t i) const { return all_->of[i]; }
  constexpr T* operator+(std::ptrdiff_t i) { return all_->of + i; }
  constexpr T const* operator+(std::ptrdiff_t i) const { return all_->of + i; }
  constexpr T* begin() { return all_->of; }
  constexpr T const* begin() const { return all_->of; }
  constexpr T* end() { return all_->of + N; }
  constexpr T const* end() const { return all_->of + N; }
};

/// Longer arrays are on the heap. Those of graphs that are known at compile time, which must not be, are shorter.
inline constexpr int longest_in_place = 8192;

/// T[N], or T[1] for N = 0; of large capacities, as graphs at run time have, on the heap, so that algorithms for them
/// need no more stack than others.
template <class T, int N>
using array_of = std::conditional_t<(N > longest_in_place), ir::heap_array<T, N>, T[(N > 0 ? N : 1)]>;

}  // namespace ago::ir
