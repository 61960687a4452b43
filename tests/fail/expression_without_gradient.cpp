// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient with respect to an operand that is only compared.
// expect: fault::no_gradient, .*name_is<'g', 'r', 'a', 'd', 'i', 'e', 'n', 't'>, .*operand_number<0>, .*dimension<-1>
// expect: source_line<0>, .*expects<0>, .*gets<0>
#include <ago/expression/check.hpp>
#include <ago/expression/gradient.hpp>
#include <ago/expression/notation.hpp>

using namespace ago::expression;

inline constexpr auto lookup = compute("op", [](operand row, operand table) {
  var n, c;
#ifdef AGO_POSITIVE
  return result(n, c) = row(n) * table(n, c);
#else
  return result(n, c) = row(n) < table(n, c);
#endif
});
inline constexpr definition made = lookup(extents(3), extents(3, 4));
inline constexpr definition gradient = gradient_of(made.expressions[0], 0);
static_assert(check<gradient>::ok);
