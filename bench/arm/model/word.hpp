// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of an A64 instruction word.
#pragma once

#include <cstdint>

namespace ruler {

class word {
 public:
  explicit constexpr word(std::uint32_t value) : w_{value} {}

 protected:
  constexpr bool matches(std::uint32_t mask, std::uint32_t value) const { return (w_ & mask) == value; }
  constexpr bool bit(int n) const { return (w_ >> n & 1) != 0; }
  constexpr unsigned bits(int first, int count) const { return w_ >> first & ((1u << count) - 1); }
  /// Sign-extended.
  constexpr std::int64_t number(int first, int count) const {
    std::int64_t const value = bits(first, count);
    return value >= 1ll << (count - 1) ? value - (1ll << count) : value;
  }
  /// The operand of a logical instruction: `imms` + 1 ones in an element of 2 to 64 bits, rotated to the right by
  /// `immr`, in every element. The leading bits of N and the inverted `imms` tell the size of an element.
  constexpr std::uint64_t logical_constant() const {
    unsigned const code = bits(22, 1) << 6 | (~bits(10, 6) & 63);
    unsigned size = 64;
    while (size > 1 && (code & size) == 0) size /= 2;
    unsigned const ones = (bits(10, 6) & (size - 1)) + 1, right = bits(16, 6) & (size - 1);
    std::uint64_t const all = ~std::uint64_t(0) >> (64 - size);
    std::uint64_t element = ~std::uint64_t(0) >> (64 - ones);
    if (right > 0) element = (element >> right | element << (size - right)) & all;
    for (; size < 64; size *= 2) element |= element << size;
    return element;
  }

  constexpr unsigned rd() const { return bits(0, 5); }
  constexpr unsigned rn() const { return bits(5, 5); }
  constexpr unsigned rm() const { return bits(16, 5); }
  constexpr unsigned ra() const { return bits(10, 5); }

 private:
  std::uint32_t w_;
};

}  // namespace ruler
