// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A number of parts that does not divide the channels.
// misfit: parts_must_divide_extent slice 1 4 30
// expect: ago: the number of parts \(expects\) must divide the extent \(gets\)
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr int parts = 3;
#else
constexpr int parts = 4;
#endif

inline constexpr auto net = input{.h = 8, .w = 8, .c = 30} | [](tensor x) {
  auto const all = chunk<parts>(x);  // here
  return concat(all[0], all[1] | relu{});
};
static_assert(lowering::check<net>::ok);
