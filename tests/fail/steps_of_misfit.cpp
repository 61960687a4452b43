// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a network with a misfit, without a program.
// misfit: channels_differ identity 2 16 24
#include <ago/runtime/program.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int channels = 16;
#else
constexpr int channels = 24;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | pointwise{channels}
                          | expect{.c = 16}  // here
                          | relu{};
static_assert(runtime::formed<net, options{}>::parts.count > 0);
