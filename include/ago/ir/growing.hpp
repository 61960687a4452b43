// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array whose size is not known before, for algorithms in constant expressions.
#pragma once

#include <ago/requirements.hpp>

namespace ago::ir {

/// An array that grows in a constant expression with every compiler (std::vector does not, and needs its header).
template <class T>
struct growing {
  T* data{};
  int size{}, capacity{};

  constexpr growing() = default;
  growing(growing const&) = delete;
  growing& operator=(growing const&) = delete;
  constexpr ~growing() { delete[] data; }

  constexpr T& operator[](int i) { return data[i]; }
  constexpr T const& operator[](int i) const { return data[i]; }
  constexpr void push(T const& value) {
    if (size == capacity) reserve(capacity ? 2 * capacity : 64);
    data[size++] = value;
  }
  constexpr void reserve(int elements) {
    T* const larger = new T[elements];
    for (int i = 0; i < size; ++i) larger[i] = data[i];
    delete[] data;
    data = larger;
    capacity = elements;
  }
};

}  // namespace ago::ir
