// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fewer values than keys.
// misfit: extents_differ attention_scores 2 16 12
// expect: ago: the values differ in height, width, or number of images
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int values = 16;
#else
constexpr int values = 12;
#endif

inline constexpr auto net = input{.w = 16, .c = 64} | [](tensor x) {
  tensor const v = x | slice{0, values, axis::columns};
  return attention{.heads = 4}(x, x, v);  // here
};
static_assert(lowering::check<net>::ok);
