// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header that a tuner generated during the build compiles and contains the right table.
#include <ago/plan/schedule.hpp>
#include <ago/tuner/header_reader.hpp>
#include <doctest/doctest.h>

#include <generated/nothing_found.hpp>
#include <generated/some_board.hpp>

static_assert(tuned::some_board.sorted());
static_assert(tuned::nothing_found.sorted() && !tuned::nothing_found.find(0));

TEST_CASE("a generated header contains the table that was found") {
  auto const read = ago::tuner::read_header(AGO_GENERATED_HEADER);
  REQUIRE(read);
  REQUIRE(read->entries.size() > 0);
  REQUIRE(read->entries.size() == std::size(tuned::some_board.entries));
  for (std::size_t i = 0; i < read->entries.size(); ++i) {
    auto const found = tuned::some_board.find(read->entries[i].found.signature);
    REQUIRE(found);
    CHECK(*found == read->entries[i].found.best);
  }
}
