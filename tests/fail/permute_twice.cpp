// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A permutation that names an axis twice.
// misfit: not_a_permutation permute 1 3 1
// expect: ago: permute's order must name each of the axes 0, 1, 2, 3 once; at this place \(expects\) it does not
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int last = 2;
#else
constexpr int last = 1;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | permute{0, 3, 1, last};  // here
static_assert(lowering::check<net>::ok);
