// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets for which the tests compile kernels.
#pragma once

#include <ago/simd/simd.hpp>

namespace test {

/// With AddressSanitizer, code takes several times as long to compile.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

/// With AGO_TEST_FULL, as in CI, those that this file is compiled for; sse4.2, which differs from sse2 in single
/// instructions only, and scalar on Arm, where no default chooses it, where AGO_TEST_ALL is defined; emulated ones on
/// x86 without AVX-512, and that for neon's registers on any x86. Otherwise the native one, scalar, and an emulated
/// one. Most of the time of the tests is spent on compiling their kernels again for each. Under AddressSanitizer never
/// scalar, whose accesses to memory are those of the emulated one with a single lane. Each file has its own function,
/// as it depends on macros.
[[maybe_unused]] static constexpr bool is_tested(ago::isa target) {
  if (is_sanitized && target == ago::isa::scalar) return false;
#ifndef AGO_TEST_FULL
  if (target != ago::native_isa && target != ago::isa::scalar && target != ago::isa::emulated128) return false;
#endif
#ifndef AGO_TEST_ALL
  if (target == ago::isa::sse42 && target != ago::native_isa) return false;
  if (target == ago::isa::scalar && ago::native_isa == ago::isa::neon) return false;
#endif
  bool const has_wide = ago::available(ago::isa::avx512), has_neon = ago::available(ago::isa::neon);
  if (target == ago::isa::emulated512 && (has_wide || has_neon)) return false;
  if (target == ago::isa::emulated128 && has_neon) return false;
  return ago::available(target);
}

/// Of many kernels that exist for every instruction set, each is compiled for this machine's and, by turns, for one of
/// the other tested ones; with less than four others, some turns have none. Registers themselves are the subject of
/// tests/simd, which has all functions for all instruction sets.
[[maybe_unused]] static constexpr bool has_share(ago::isa target, long turn) {
  if (target == ago::native_isa) return true;
  int place = 0, count = 0;
  for (ago::ir::isa_facts const& other : ago::ir::isa_table) {
    if (other.which == ago::native_isa || !is_tested(other.which)) continue;
    if (other.which < target) ++place;
    ++count;
  }
  return turn % (count > 4 ? count : 4) == place;
}

/// Likewise; but sanitized tests compile each for one of the two instruction sets that they have, those with an even
/// `turn` for this machine's, the others for the emulated one.
[[maybe_unused]] static constexpr bool has_turn(ago::isa target, long turn) {
  if (!is_sanitized || !is_tested(ago::isa::emulated128)) return has_share(target, turn);
  return (target == ago::native_isa) == (turn % 2 == 0);
}

}  // namespace test
