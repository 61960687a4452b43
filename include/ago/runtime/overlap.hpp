// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks whether the buffers of a checked call share memory that a run writes.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ago::runtime {

/// A range of bytes, with addresses as numbers, because pointers into different objects have no defined order.
struct memory_range {
  std::uintptr_t begin, end;

  memory_range(void const* first, std::size_t bytes)
      : begin(reinterpret_cast<std::uintptr_t>(first)), end(begin + bytes) {}
  template <class T>
  explicit memory_range(std::span<T> s) : memory_range(s.data(), s.size_bytes()) {}
};

inline bool overlap(memory_range a, memory_range b) { return a.begin < b.end && b.begin < a.end; }

/// Would a run overwrite what it reads, or write to the same memory twice? It reads `inputs` and `model` (which
/// contains the packed weights), and writes `outputs` and `arena`. Inputs may share memory with each other.
inline bool in_conflict(std::span<memory_range const> inputs, std::span<memory_range const> outputs, memory_range arena,
                        memory_range model) {
  for (memory_range const& in : inputs)
    if (overlap(in, arena)) return true;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (overlap(outputs[k], arena) || overlap(outputs[k], model)) return true;
    for (memory_range const& in : inputs)
      if (overlap(outputs[k], in)) return true;
    for (memory_range const& before : outputs.first(k))
      if (overlap(outputs[k], before)) return true;
  }
  return false;
}

}  // namespace ago::runtime
