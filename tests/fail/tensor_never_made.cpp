// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor that no layer has assigned.
// misfit: tensor_of_another_network add 2 0 0
// expect: ago: a tensor is used that no layer of this network produced
#include <ago/network/check.hpp>

using namespace ago;

#ifdef AGO_POSITIVE
constexpr bool with_shortcut = true;
#else
constexpr bool with_shortcut = false;
#endif

constexpr auto block = [](tensor x) {
  tensor shortcut;
  if (with_shortcut) shortcut = x;
  return (x | pointwise{8}) + shortcut;  // here
};
inline constexpr auto net = input{.h = 8, .w = 8, .c = 8} | block;
static_assert(lowering::check<net>::ok);
