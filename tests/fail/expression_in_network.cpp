// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator by an index expression does not fit the value of a network that it is applied to.
// expect: fault::extents_differ, .*name_is<'o', 'u', 't', 'e', 'r'>, .*operand_number<1>, .*dimension<2>
// expect: source_line<17>, .*expects<5>, .*gets<4>
#include <ago/ago.hpp>
#include <ago/expressions.hpp>

using namespace ago::expression;

#ifdef AGO_POSITIVE
constexpr int columns = 5;
#else
constexpr int columns = 4;
#endif
inline constexpr auto outer = compute("outer", [](operand a, operand b) {
  var n, h, w, c, d;
  return result(n, h, w, c, d) = a(n, h, w, c) * b(n, h, w, d);  // here
});
inline constexpr auto net = ago::trace([](ago::tensor x, ago::tensor y) { return outer(x, y); },
                                       ago::input{1, 4, 5, 3}, ago::input{1, 4, columns, 2});
static_assert(ago::lowering::check<net>::ok);
