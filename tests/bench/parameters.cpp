// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Benchmarks give every parameter of a network a value.
#include <bench/parameters.hpp>

#include <ago/network/network.hpp>
#include <ago/network/parameters.hpp>
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace ago;
using namespace ago::passes;

namespace {

constexpr auto all_kinds = input{.h = 2, .w = 6} | embedding{.entries = 40, .width = 8} | positions{} | layer_norm{} |
                           conv2d{.out = 6, .kernel = 3, .pad = 1, .groups = 2, .bias = true} | batch_norm{} |
                           depthwise{.kernel = {1, 3}} | linear{12} | attention{.heads = 2} | layer_norm{} | bias{};

}  // namespace

TEST_CASE("no parameter is left out, for any layer, before and after the passes") {
  for (bench::graph_view const graph :
       {bench::graph_view(lowering::lowered<all_kinds>::value), bench::graph_view(optimized<all_kinds>::value)}) {
    auto const all = bench::make_parameters(graph, 1);
    CHECK(int(all.size()) == parameter_count<all_kinds>);
    CHECK(std::count(all.begin(), all.end(), 0.f) == 0);
  }
}
