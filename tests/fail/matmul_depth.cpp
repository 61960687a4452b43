// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product whose inner extents differ: the second operand should be transposed.
// misfit: channels_differ matmul 1 32 20
// expect: ago: the value has a different number of channels than expected here
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr bool transposed = true;
#else
constexpr bool transposed = false;
#endif

inline constexpr auto net = input{.w = 20, .c = 32} | [](tensor x) {
  return matmul(x, x, transposed);  // here
};
static_assert(lowering::check<net>::ok);
