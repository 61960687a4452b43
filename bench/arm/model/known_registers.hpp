// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of general registers as far as they follow from what is loaded, and from the addresses of loads and
// stores. QEMU tells a plugin the address of an access, but nothing of a prefetch, because it does not execute
// prefetches.
#pragma once

#include "instruction.hpp"

#include <optional>
#include <span>

namespace ruler {

class known_registers {
 public:
  /// The address of a prefetch, if it is known.
  std::optional<std::uint64_t> address(instruction const& i) const {
    if (i.base >= count || !is_known_[i.base]) return std::nullopt;
    std::uint64_t result = value_[i.base] + std::uint64_t(i.offset);
    if (i.index != no_register) {
      if (!is_known_[i.index]) return std::nullopt;
      result += value_[i.index] << i.shift;
    }
    return result;
  }

  /// Follows an instruction. `accessed`: the address of a load or store; `loaded`: what a load of general registers
  /// brings, for each of them.
  void execute(instruction const& i, std::optional<std::uint64_t> accessed, std::span<std::uint64_t const> loaded) {
    if (accessed && i.base < count) learn(i, *accessed);
    std::optional<std::uint64_t> const result = result_of(i);
    std::optional<comparison> const compared = i.compares ? compare(i) : std::nullopt;
    for (unsigned k = 0; k < i.result_count; ++k) {
      if (i.results[k] < count) is_known_[i.results[k]] = false;
      if (i.results[k] == flags) flags_ = compared;
    }
    if (result && i.result_count > 0 && i.results[0] < count) set(i.results[0], *result);
    if (i.kind == kind::general_load && loaded.size() == i.result_count)
      for (unsigned k = 0; k < i.result_count; ++k)
        if (i.results[k] < count) set(i.results[k], loaded[k]);
    if (i.writes_base && i.base < count) {
      value_[i.base] += std::uint64_t(i.step);
      if (!i.knows_step) is_known_[i.base] = false;
    }
  }
  void forget() {
    for (bool& known : is_known_) known = false;
    flags_.reset();
  }

 private:
  static constexpr int count = 32;

  /// The flags after base - operand.
  struct comparison {
    bool negative, zero, carry, overflow;

    /// By the four bits of a condition. The lowest one negates, but in the last of all, which always holds.
    bool holds(unsigned condition) const {
      bool const truth[] = {
          zero, carry, negative, overflow, carry && !zero, negative == overflow, negative == overflow && !zero, true};
      return truth[condition >> 1] != ((condition & 1) != 0 && condition != 15);
    }
  };

  std::optional<comparison> compare(instruction const& i) const {
    bool const has_constant = i.arithmetic == arithmetic::add_constant;
    std::optional<std::uint64_t> const base = has_constant ? content(i.base) : operand(i.base),
                                       other = operand(i.index);
    if (!base || (!has_constant && !other)) return std::nullopt;
    unsigned const unused = i.is_wide ? 0 : 32;
    std::uint64_t const a = *base << unused;
    std::uint64_t const b = (has_constant ? -std::uint64_t(i.constant) : extended(*other, i.extends) << i.shift)
                            << unused;
    std::uint64_t const difference = a - b;
    return comparison{difference >> 63 != 0, difference == 0, a >= b, ((a ^ b) & (a ^ difference)) >> 63 != 0};
  }

  void set(unsigned r, std::uint64_t value) { is_known_[r] = true, value_[r] = value; }

  void learn(instruction const& i, std::uint64_t accessed) {
    std::uint64_t const rest = accessed - std::uint64_t(i.offset);
    if (i.index == no_register) {
      set(i.base, rest);
    } else if (is_known_[i.index]) {
      set(i.base, rest - (value_[i.index] << i.shift));
    } else if (is_known_[i.base] && i.shift == 0) {
      set(i.index, rest - value_[i.base]);
    }
  }

  std::optional<std::uint64_t> result_of(instruction const& i) const {
    std::optional<std::uint64_t> const result = wide_result_of(i);
    return result && !i.is_wide ? *result & 0xffff'ffff : result;
  }

  std::optional<std::uint64_t> wide_result_of(instruction const& i) const {
    bool const adds_constant = i.arithmetic == arithmetic::add_constant;
    std::optional<std::uint64_t> const base = adds_constant ? content(i.base) : operand(i.base);
    std::optional<std::uint64_t> const other = operand(i.index), addend = operand(i.addend);
    switch (i.arithmetic) {
      case arithmetic::unknown: break;
      case arithmetic::constant: return std::uint64_t(i.constant);
      case arithmetic::add_constant:
        if (base) return *base + std::uint64_t(i.constant);
        break;
      case arithmetic::add:
        if (base && other) return *base + (extended(*other, i.extends) << i.shift);
        break;
      case arithmetic::subtract:
        if (base && other) return *base - (extended(*other, i.extends) << i.shift);
        break;
      case arithmetic::multiply_add:
      case arithmetic::multiply_subtract:
        if (base && other && addend) {
          std::uint64_t const product = extended(*base, i.extends) * extended(*other, i.extends);
          return i.arithmetic == arithmetic::multiply_add ? *addend + product : *addend - product;
        }
        break;
      case arithmetic::extract:
        if (base) return extract(i, *base);
        break;
      case arithmetic::logical_and:
      case arithmetic::logical_or:
      case arithmetic::exclusive_or:
        if (base && (other || i.index == no_register)) {
          std::uint64_t const x = other ? *other << i.shift : std::uint64_t(i.constant), y = i.inverts ? ~x : x;
          return i.arithmetic == arithmetic::logical_and  ? *base & y
                 : i.arithmetic == arithmetic::logical_or ? *base | y
                                                          : *base ^ y;
        }
        break;
      case arithmetic::divide:
      case arithmetic::divide_signed:
      case arithmetic::shift_left:
      case arithmetic::shift_right:
      case arithmetic::shift_right_signed:
        if (base && other) return of_two(i, *base, *other);
        break;
      case arithmetic::select:
        if (!flags_) break;
        if (flags_->holds(i.condition)) return base;
        if (other) return (i.inverts ? ~*other : *other) + std::uint64_t(i.constant);
        break;
    }
    return std::nullopt;
  }

  /// Divisions and shifts.
  static std::uint64_t of_two(instruction const& i, std::uint64_t a, std::uint64_t b) {
    bool const is_signed = i.arithmetic == arithmetic::divide_signed || i.arithmetic == arithmetic::shift_right_signed;
    extension const how = i.is_wide ? extension::none : is_signed ? extension::sign_32 : extension::zero_32;
    std::uint64_t const x = extended(a, how), y = extended(b, how), shift = b & (i.is_wide ? 63 : 31);
    switch (i.arithmetic) {
      case arithmetic::divide: return y == 0 ? 0 : x / y;
      case arithmetic::divide_signed:
        return y == 0 ? 0 : y == ~std::uint64_t(0) ? -x : std::uint64_t(std::int64_t(x) / std::int64_t(y));
      case arithmetic::shift_left: return x << shift;
      case arithmetic::shift_right: return x >> shift;
      default: return std::uint64_t(std::int64_t(x) >> shift);
    }
  }

  /// Register 31 is the stack pointer in some instructions, and zero in others.
  std::optional<std::uint64_t> content(unsigned r) const {
    return r < count && is_known_[r] ? std::optional(value_[r]) : std::nullopt;
  }
  std::optional<std::uint64_t> operand(unsigned r) const {
    return r == 31 ? std::optional<std::uint64_t>(0) : content(r);
  }

  static std::uint64_t extended(std::uint64_t x, extension how) {
    switch (how) {
      case extension::none: break;
      case extension::zero_32: return std::uint32_t(x);
      case extension::sign_32: return std::uint64_t(std::int64_t(std::int32_t(x)));
    }
    return x;
  }
  /// The field of bits first ... last, moved to bit 0; or, if last < first, bits 0 ... last moved to the left.
  static std::uint64_t extract(instruction const& i, std::uint64_t x) {
    unsigned const size = i.is_wide ? 64 : 32;
    bool const right = i.last >= i.first;
    unsigned const bits = right ? i.last - i.first + 1u : i.last + 1u;
    std::uint64_t field = (right ? x >> i.first : x) << (64 - bits);
    field = i.is_signed ? std::uint64_t(std::int64_t(field) >> (64 - bits)) : field >> (64 - bits);
    return right ? field : field << (size - i.first);
  }

  bool is_known_[count]{};
  std::uint64_t value_[count]{};
  std::optional<comparison> flags_;
};

}  // namespace ruler
