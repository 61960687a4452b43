// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slice that ends after the last channel.
// misfit: slice_exceeds_extent slice 1 24 25
// expect: ago: a slice reaches \(gets\) beyond the extent of the value \(expects\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int begin = 12;
#else
constexpr int begin = 13;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 24} | slice{.begin = begin, .count = 12};  // here
static_assert(lowering::check<net>::ok);
