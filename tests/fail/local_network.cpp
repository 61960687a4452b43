// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network on the stack, which has no address at compile time.
// expect: static storage duration|add .static. to give it a constant address
#include <ago/network/check.hpp>

using namespace ago;

bool fits() {
#ifdef AGO_POSITIVE
  static constexpr auto net = input{.c = 3} | linear{3};
#else
  constexpr auto net = input{.c = 3} | linear{3};
#endif
  return lowering::check<net>::ok;
}
