// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution without `.out`.
// misfit: argument_must_be_positive conv2d 1 1 0
#include <ago/network/check.hpp>

using namespace ago;

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} |
#ifdef AGO_POSITIVE
                            conv2d{.out = 8, .kernel = 3};
#else
                            conv2d{.kernel = 3};  // here
#endif
static_assert(lowering::check<net>::ok);
