// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that differ in any attribute must not be computed once for both.
#include <ago/ir/graph.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <type_traits>

using namespace ago::ir;

namespace {

/// Does another value of an attribute of `changed`, which is equal to a default node, make it another operator?
template <class T>
bool matters(node const& changed, T& attribute, std::type_identity_t<T> const& other) {
  T const before = attribute;
  attribute = other;
  bool const same = same_operator(node{}, changed);
  attribute = before;
  return !same && same_operator(node{}, changed);
}

constexpr user_function some_function{};
constexpr ago::expression::index_expression some_expression{};

}  // namespace

TEST_CASE("operators that differ in an attribute are different, but for where they are and what they are called") {
  node n{};
  // All members: a new one does not compile before it is here, and below.
  auto& [kind, out, input_first, input_count, win, scatter, groups, count_pads, patch, transposed, exchanged, axis,
         begin, step, pad_channels, last_of_equals, positions, rounds, order, entries, is_detached, alpha, beta,
         function, function_name, described, weight_operand, weight, shift, norm, siblings, layer, line, name] = n;
  CHECK(matters(n, kind, op::relu));
  CHECK(matters(n, out, ago::shape{1, 2, 3, 4}));
  CHECK(matters(n, input_count, 2));
  CHECK(matters(n, win, window{.pad_right = 1}));
  CHECK(matters(n, scatter, scattering{.dilation_w = 2}));
  CHECK(matters(n, groups, 2));
  CHECK(matters(n, count_pads, true));
  CHECK(matters(n, patch, ago::ir::patch{1, 2}));
  CHECK(matters(n, transposed, true));
  CHECK(matters(n, exchanged, true));
  CHECK(matters(n, axis, 1));
  CHECK(matters(n, begin, 1));
  CHECK(matters(n, step, 2));
  CHECK(matters(n, pad_channels, 1));
  CHECK(matters(n, last_of_equals, true));
  CHECK(matters(n, positions, sampling::align_corners));
  CHECK(matters(n, rounds, rounding::up));
  for (int& axis_of_operand : order) CHECK(matters(n, axis_of_operand, 7));
  CHECK(matters(n, entries, 5));
  CHECK(matters(n, is_detached, true));
  CHECK(matters(n, alpha, .5f));
  CHECK(matters(n, beta, .5f));
  CHECK(matters(n, function, &some_function));
  CHECK(matters(n, described, &some_expression));
  CHECK(matters(n, weight_operand, 1));
  CHECK(matters(n, siblings[0], sibling{.channels = 3}));

  for (int* const place : {&input_first, &weight, &shift, &norm, &layer, &line}) CHECK_FALSE(matters(n, *place, 9));
  CHECK_FALSE(matters(n, function_name, "square"));
  CHECK_FALSE(matters(n, name, "encoder"));
}
