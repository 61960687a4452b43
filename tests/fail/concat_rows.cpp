// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A concatenation along the rows of values of different widths.
// misfit: extents_differ concat 2 8 6
// expect: ago: the values differ in height, width, or number of images
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr axis along = axis::columns;
#else
constexpr axis along = axis::rows;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 3} | [](tensor x) {
  tensor const y = x | slice{0, 6, axis::columns};
  return concat(along, x, y);  // here
};
static_assert(lowering::check<net>::ok);
