// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction sets for which the tests compile kernels.
#pragma once

#include <ago/kernel/simd.hpp>

namespace test {

/// With AGO_TEST_FULL, as in CI, all that this file is compiled for. Otherwise the native one, scalar, and an emulated
/// one, because most of the time of the tests is spent on compiling their kernels again for each. Under
/// AddressSanitizer never scalar, whose accesses to memory are those of the emulated one with a single lane.
constexpr bool is_tested(ago::isa target) {
#if defined(__SANITIZE_ADDRESS__)
  if (target == ago::isa::scalar) return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  if (target == ago::isa::scalar) return false;
#endif
#endif
#ifndef AGO_TEST_FULL
  if (target != ago::native_isa && target != ago::isa::scalar && target != ago::isa::emulated128) return false;
#endif
  return ago::available(target);
}

}  // namespace test
