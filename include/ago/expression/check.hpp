// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first fault of an operator as a compile error that names operator, operand, dimension and source line.
#pragma once

#include <ago/expression/index_expression.hpp>

#include <type_traits>
#include <utility>

namespace ago::expression {

// Compilers print these together with the name of the template.
template <char...> struct name_is;
template <int> struct operand_number;
template <int> struct dimension;
template <int> struct source_line;
template <long> struct expects;
template <long> struct gets;

namespace detail {
/// A function instead of a comparison, because compilers print less below it.
template <fault What>
constexpr bool is_not(fault other) {
  return What != other;
}
}  // namespace detail

/// Asserts that there is no fault; its own type shows what is wrong. Operands and dimensions are numbered from 0: the
/// inputs, then parameters and results as they are made.
template <fault What, class... Details>
struct expression_fits {
  static_assert(detail::is_not<What>(fault::extents_differ), "ago: a variable indexes dimensions of different extents");
  static_assert(detail::is_not<What>(fault::extent_unknown),
                "ago: the extent of a variable or parameter does not follow from the indices; give it, as in var r{3}");
  static_assert(detail::is_not<What>(fault::reads_outside),
                "ago: an index reaches (gets) outside of the operand, whose extent is smaller (expects); see padded()");
  static_assert(detail::is_not<What>(fault::rank_differs),
                "ago: the operand has another number of dimensions (expects) than indices (gets)");
  static_assert(detail::is_not<What>(fault::variable_is_free),
                "ago: variables are neither indices of the result nor folded");
  static_assert(detail::is_not<What>(fault::variable_listed_twice),
                "ago: a variable is listed twice as an index of the result");
  static_assert(detail::is_not<What>(fault::variable_reduced_twice),
                "ago: a variable is folded that is an index of the result or already folded");
  static_assert(detail::is_not<What>(fault::index_too_complex),
                "ago: an index has too many terms, or a quotient of quotients that is none of one sum");
  static_assert(detail::is_not<What>(fault::divisor_must_be_positive), "ago: the divisor of an index must be positive");
  static_assert(detail::is_not<What>(fault::extent_must_be_positive),
                "ago: the extent of a variable or parameter must be positive");
  static_assert(detail::is_not<What>(fault::operand_of_another_operator),
                "ago: an expression reads what belongs to another operator");
  static_assert(detail::is_not<What>(fault::too_large), "ago: an index expression exceeds a limit (expects)");
  static_assert(detail::is_not<What>(fault::reads_nothing),
                "ago: a fold, select or function of numbers alone belongs to no operand; see x.number()");
  static_assert(detail::is_not<What>(fault::no_result),
                "ago: an operator must return what result(...) = ... defines, and that must read an operand");
  static_assert(detail::is_not<What>(fault::no_gradient),
                "ago: the result does not depend on the operand in a way that has a gradient");
  static_assert(detail::is_not<What>(fault::gradient_too_large),
                "ago: the gradient of this operator exceeds a limit (expects); divide it into several");
  using asserted = std::true_type;
};

namespace detail {

constexpr int length_of(name const& n) {
  int i = 0;
  while (n.text[i]) ++i;
  return i;
}
template <name N, class I = std::make_integer_sequence<int, length_of(N)>>
struct spelled;
template <name N, int... I>
struct spelled<N, std::integer_sequence<int, I...>> {
  using type = name_is<N.text[I]...>;
};

}  // namespace detail

/// `expression_fits` for what was found in operator N.
template <name N, diagnostic D>
using fits = expression_fits<D.what, typename detail::spelled<N>::type, operand_number<D.operand>,
                             dimension<D.dimension>, source_line<D.line>, expects<D.expected>, gets<D.actual>>;

/// Its instantiation asserts that an operator has no fault: `static_assert(check<op>::ok)`.
template <definition const& D>
struct check {
 private:
  using asserted = typename fits<D.name, D.bad>::asserted;

 public:
  static constexpr bool ok = asserted::value;
};

}  // namespace ago::expression
