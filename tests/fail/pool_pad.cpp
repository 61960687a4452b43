// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pooling padded by more than half its window.
// misfit: pad_exceeds_half_of_window max_pool 1 1 2
// expect: ago: a pooling's pad \(gets\) must be at most half of its window \(expects\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int margin = 1;
#else
constexpr int margin = 2;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | max_pool{.kernel = 3, .stride = 1, .pad = margin};  // here
static_assert(lowering::check<net>::ok);
