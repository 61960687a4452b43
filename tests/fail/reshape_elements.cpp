// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New extents with fewer elements than the value.
// misfit: elements_differ reshape 1 512 448
// expect: ago: the new extents \(gets\) hold a different number of elements than the value \(expects\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int width = 64;
#else
constexpr int width = 56;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 8} | reshape{.h = 1, .w = width};  // here
static_assert(lowering::check<net>::ok);
