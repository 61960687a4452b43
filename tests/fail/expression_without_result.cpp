// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator returns its operand.
// expect: fault::no_result, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// expect: source_line<0>, .*expects<0>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto nothing = compute("op", [](operand x) {
  var i;
#ifdef AGO_POSITIVE
  return result(i) = x(i);
#else
  return x;
#endif
});
inline constexpr definition made = nothing(extents(3));
static_assert(check<made>::ok);
