// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables are as narrow as their cells allow.
#include <bench/report.hpp>

#include <doctest/doctest.h>

using namespace bench;

TEST_CASE("the words of a long name are stacked above the cells") {
  record const ago{{"variant", "ago"}, {"percent_of_peak", 98.5, "%.1f"}, {"ratio"}};
  record const other{{"variant", "fuse-ops"}, {"percent_of_peak", 7., "%.1f"}, {"ratio", 1.25, "%.2f"}};
  CHECK(to_table({ago, other}) ==
        "          percent\n"
        "               of\n"
        "variant      peak  ratio\n"
        "ago          98.5\n"
        "fuse-ops      7.0   1.25\n");
  CHECK(to_table({}).empty());
}
