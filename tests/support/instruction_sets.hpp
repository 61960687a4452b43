// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instruction sets the tests compile kernels for.
#pragma once

#include <ago/kernel/simd.hpp>

namespace test {

/// Every one that this file is compiled for with AGO_TEST_FULL, as in CI. Otherwise the native one, scalar, and one
/// that is emulated: most of the time that tests take goes into compiling their kernels once more for each.
constexpr bool is_tested(ago::isa target) {
#ifndef AGO_TEST_FULL
  if (target != ago::native_isa && target != ago::isa::scalar && target != ago::isa::emulated128) return false;
#endif
  return ago::available(target);
}

}  // namespace test
