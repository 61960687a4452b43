// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of general registers as far as they follow from the addresses of loads and stores. QEMU tells a plugin
// the address of an access, but nothing of a prefetch, because it does not execute prefetches.
#pragma once

#include "instruction.hpp"

#include <optional>

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

  /// Follows an instruction; `accessed` is the address of a load or store.
  void execute(instruction const& i, std::optional<std::uint64_t> accessed) {
    if (accessed && i.base < count) learn(i, *accessed);
    std::optional<std::uint64_t> const result = result_of(i);
    for (int k = 0; k < i.result_count; ++k)
      if (i.results[k] < count) is_known_[i.results[k]] = false;
    if (result && i.results[0] < count) set(i.results[0], *result);
    if (i.writes_base && i.base < count) {
      value_[i.base] += std::uint64_t(i.step);
      if (!i.knows_step) is_known_[i.base] = false;
    }
  }
  void forget() {
    for (bool& known : is_known_) known = false;
  }

 private:
  static constexpr int count = 32;

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
    auto const known = [&](unsigned r) { return r < count && is_known_[r]; };
    switch (i.arithmetic) {
      case arithmetic::unknown: break;
      case arithmetic::constant: return std::uint64_t(i.constant);
      case arithmetic::add_constant:
        if (known(i.base)) return value_[i.base] + std::uint64_t(i.constant);
        break;
      case arithmetic::add_register:
        if (!known(i.index) || (i.base != no_register && !known(i.base))) break;
        return (i.base == no_register ? 0 : value_[i.base]) + (value_[i.index] << i.shift);
    }
    return std::nullopt;
  }

  bool is_known_[count]{};
  std::uint64_t value_[count]{};
};

}  // namespace ruler
