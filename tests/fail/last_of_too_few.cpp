// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More layers are taken off a network than it has.
// expect: ago: without_last<N>\(net\) and last<N>\(net\) need a network with more than N layers between \|
#include <ago/network/check.hpp>
#include <ago/network/parts.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int head = 1;
#else
constexpr int head = 2;
#endif
inline constexpr auto net = input{.c = 8} | relu{} | linear{4};
inline constexpr auto trunk = without_last<head>(net);
static_assert(lowering::check<trunk>::ok);
