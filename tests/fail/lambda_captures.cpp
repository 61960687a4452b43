// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's operator with captures.
// expect: ago: map takes a lambda without captures; write the constants it needs into it
#include <ago/network/check.hpp>
#include <ago/simd/map.hpp>

using namespace ago;

constexpr auto scaled(float factor) {
#ifdef AGO_POSITIVE
  (void)factor;
  return map{[](auto x) { return x * 2.f; }};
#else
  return map{[=](auto x) { return x * factor; }};
#endif
}
inline constexpr auto net = input{.c = 3} | scaled(2);
static_assert(lowering::check<net>::ok);
