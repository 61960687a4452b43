// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An embedding of an image: a table is indexed by one number per pixel.
// misfit: channels_differ embedding 1 1 3
// expect: ago: the value has a different number of channels than expected here
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int channels = 1;
#else
constexpr int channels = 3;
#endif

inline constexpr auto net = input{.w = 16, .c = channels} | embedding{.entries = 1000, .width = 64};  // here
static_assert(lowering::check<net>::ok);
