// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers and instruction sets for networks that are drawn when the tests are compiled.
#pragma once

#include <support/instruction_sets.hpp>

namespace model_test {

/// The k-th number drawn from `seed`, in from ... to.
constexpr int draw(unsigned seed, unsigned k, int from, int to) {
  unsigned x = seed * 2654435761u + (k + 1) * 2246822519u;
  for (int i = 0; i < 3; ++i) x = (x ^ x >> 15) * 2654435761u;
  return from + int((x ^ x >> 16) % unsigned(to - from + 1));
}

/// Cycles through the tested instruction sets.
constexpr ago::isa target_of(unsigned number) {
  using ago::isa;
  constexpr isa all[] = {ago::native_isa, isa::avx2, isa::scalar, isa::emulated128, isa::sse42, ago::native_isa};
  isa const wish = all[number % 6];
  return test::is_tested(wish) ? wish : ago::native_isa;
}

}  // namespace model_test
