// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A head that expects other features than the backbone has.
// misfit: channels_differ identity 2 1280 960
// expect: ago: the value has a different number of channels than expected here
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int features = 1280;
#else
constexpr int features = 960;
#endif

constexpr auto head() {
  return expect{.c = 1280} | linear{1000};  // here
}
inline constexpr auto net = input{.h = 7, .w = 7, .c = 320} | pointwise{features} | head();
static_assert(lowering::check<net>::ok);
