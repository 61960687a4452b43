// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays whose length is a capacity of a graph.
#include <ago/ir/array_of.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>

namespace {

using ago::ir::array_of;

constexpr int longest = ago::ir::longest_in_place, large = longest + 1;
static_assert(std::is_same_v<array_of<int, 0>, int[1]>);
static_assert(std::is_same_v<array_of<int, longest>, int[longest]>);
static_assert(std::is_same_v<array_of<int[2], 3>, int[3][2]>);

struct element {
  int a = 7, b = -1;
};
struct table {
  array_of<element, large> one{};
  array_of<int[2], large> two{};
};
static_assert(sizeof(table) == 2 * sizeof(void*), "large arrays take no room where they are declared");

int sum(int const (*rows)[2], int count) {
  int r = 0;
  for (int i = 0; i < count; ++i) r += rows[i][0] + rows[i][1];
  return r;
}

}  // namespace

TEST_CASE("large arrays begin with the values of their elements") {
  table const t;
  for (element const& e : t.one) REQUIRE((e.a == 7 && e.b == -1));
  CHECK(sum(t.two, large) == 0);
}

TEST_CASE("large arrays are copied with what contains them") {
  table t;
  t.one[large - 1].a = 1;
  t.two[3][1] = 2;
  table const copy = t;
  t.one[large - 1].a = 3;
  t.two[3][1] = 4;
  CHECK(copy.one[large - 1].a == 1);
  CHECK(sum(copy.two, large) == 2);
  t = copy;
  CHECK((t.one + large - 1)->a == 1);
  CHECK(sum(t.two + 3, 1) == 2);
  table const moved = std::move(t);
  CHECK(moved.one[large - 1].a == 1);
  t = moved;  // what has been moved from can be assigned to
  CHECK(t.two[3][1] == 2);
}
