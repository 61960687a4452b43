// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A selection among numbers, which belongs to no operand.
// expect: fault::reads_nothing, .*name_is<'o', 'p'>, .*operand_number<-1>, .*dimension<-1>
// flags: -DSELECT
// flags: -DFOLD
// flags: -DFUNCTION
// flags: -DVALUE
#include <ago/expression/check.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto masked = compute("op", [](operand x) {
  var i, k{3};
#if defined(SELECT)
  return result(i) = x(i) * (2 * select(i < 3, 1, 0));
#elif defined(FOLD)
  return result(i) = x(i) + sum(k)(1);
#elif defined(FUNCTION)
  return result(i) = x(i) + sqrt(scalar(2));
#elif defined(VALUE)
  operand const ones = result(k) = 1;
  return result(i) = x(i) + ones(0);
#else
  return result(i) = x(i) * select(i < 3, x.number(1), 0) + sum(k)(x.number(1)) + sqrt(x.number(2));
#endif
});
inline constexpr definition made = masked(extents(5));
static_assert(check<made>::ok);
