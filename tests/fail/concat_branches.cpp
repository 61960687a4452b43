// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One branch of a concat pads too little.
// misfit: extents_differ concat 4 28 26
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int margin = 2;
#else
constexpr int margin = 1;
#endif

inline constexpr auto net = input{.h = 28, .w = 28, .c = 192}
    | concat(pointwise{64},
             conv2d{.out = 128, .kernel = 3, .pad = 1},
             conv2d{.out = 32, .kernel = 5, .pad = margin});  // here
static_assert(lowering::check<net>::ok);
