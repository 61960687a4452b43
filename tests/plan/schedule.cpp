// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/plan/schedule.hpp>
#include <doctest/doctest.h>

#include <random>

using namespace ago;
using namespace ago::plan;

TEST_CASE("a table finds exactly its entries") {
  constexpr schedule_table table{{{2, {.pixels = 7}}, {5, {.vectors = 3}}, {9, {.block = 112}}}};
  static_assert(table.sorted());
  static_assert(table.find(2)->pixels == 7 && table.find(5)->vectors == 3 && table.find(9)->block == 112);
  for (std::uint64_t missing : {0, 1, 3, 4, 6, 8, 10}) CHECK(!table.find(missing));
  CHECK(!untuned.find(2));
}

TEST_CASE("an unsorted table and duplicate entries are noticed") {
  constexpr schedule_table unsorted{{{5, {}}, {2, {}}}}, doubled{{{2, {}}, {2, {}}}};
  static_assert(!unsorted.sorted() && !doubled.sorted());
}
