// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash of numbers and shapes.
#pragma once

#include <ago/ir/shape.hpp>

#include <cstdint>

namespace ago::ir {

/// 64-bit FNV-1a with a shift mix.
struct value_hash {
  std::uint64_t value = 0xcbf29ce484222325ull;
  constexpr void mix(std::uint64_t x) {
    value = (value ^ x) * 0x100000001b3ull;
    value ^= value >> 29;
  }
  constexpr void mix(shape const& s) {
    mix(std::uint64_t(s.n) << 48 ^ std::uint64_t(s.h) << 32 ^ std::uint64_t(s.w) << 16 ^ std::uint64_t(s.c));
  }
};

}  // namespace ago::ir
