// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An array of weights with one surplus float.
// expect: weights_fit<false, ago::runtime::parameter_count_is<48>, ago::runtime::gets_sizes<49>
// expect: ago: the weights are not parameter_count floats of fixed extent
#include <ago/ago.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{16};

#ifdef AGO_POSITIVE
static float weights[48];
#else
static float weights[49];
#endif
static model<net> m{weights};
