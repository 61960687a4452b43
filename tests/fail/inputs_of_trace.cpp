// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A body with more parameters than there are inputs.
// expect: ago: trace\(body, inputs...\) takes a body that is callable with one tensor for each input
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
inline constexpr auto net = trace([](tensor a, tensor b) { return a + b; }, input{.c = 3}, input{.c = 3});
#else
inline constexpr auto net = trace([](tensor a, tensor b) { return a + b; }, input{.c = 3});
#endif
static_assert(lowering::check<net>::ok);
