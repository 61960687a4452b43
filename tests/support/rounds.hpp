// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many random inputs a test takes.
#pragma once

namespace test {

/// `full` with AGO_TEST_FULL, half of them otherwise.
constexpr int rounds(int full) {
#ifdef AGO_TEST_FULL
  return full;
#else
  return full / 2;
#endif
}

}  // namespace test
