// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of parameters.
#include <ago/network/parameters.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace ago;
using namespace ago::ir;

static constexpr auto net = input{.h = 9, .w = 9, .c = 6} |
                            named("stem", conv2d{.out = 8, .kernel = {3, 5}, .groups = 2, .bias = true}) |
                            batch_norm{} | depthwise{.multiplier = 2} | relu{} | pointwise{5} | bias{} | linear{3} |
                            linear{.out = 2, .bias = false};

TEST_CASE("parameters are in declaration order, with PyTorch's shapes") {
  struct {
    op kind;
    role what;
    int rank, dims[4], layer;
  } const expected[] = {
      {op::conv2d, role::weight, 4, {8, 3, 3, 5}, 1},
      {op::bias, role::bias, 1, {8}, 1},
      {op::batch_norm, role::gamma, 1, {8}, 2},
      {op::batch_norm, role::beta, 1, {8}, 2},
      {op::batch_norm, role::mean, 1, {8}, 2},
      {op::batch_norm, role::variance, 1, {8}, 2},
      {op::conv2d, role::weight, 4, {16, 1, 3, 3}, 3},
      {op::pointwise, role::weight, 4, {5, 16, 1, 1}, 5},
      {op::bias, role::bias, 1, {5}, 6},
      {op::linear, role::weight, 2, {3, 5}, 7},
      {op::bias, role::bias, 1, {3}, 7},
      {op::linear, role::weight, 2, {2, 3}, 8},
  };
  auto const& table = parameters<net>;
  REQUIRE(table.size() == 12);
  int offset = 0, i = 0;
  for (parameter const& p : table) {
    CAPTURE(i);
    CHECK(&p == &table[i]);
    CHECK(p.kind == expected[i].kind);
    CHECK(p.role == expected[i].what);
    CHECK(p.layer == expected[i].layer);
    REQUIRE(p.rank == expected[i].rank);
    int count = 1;
    for (int d = 0; d < p.rank; ++d) {
      CHECK(p.dims[d] == expected[i].dims[d]);
      count *= expected[i].dims[d];
    }
    CHECK(p.count() == count);
    CHECK(p.offset == offset);
    CHECK(p.line > 0);
    if (i < 2) CHECK(std::strcmp(p.name, "stem") == 0);
    else CHECK(p.name == nullptr);
    offset += count;
    ++i;
  }
  CHECK(parameter_count<net> == offset);
}

TEST_CASE("nodes point to their parameters") {
  auto const& g = lowering::lowered<net>::value;
  for (int v = 0; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    int found = 0;
    for (parameter const& p : parameters<net>) {
      if (p.layer != n.layer || p.kind != n.kind) continue;
      if (p.role == role::weight) found += p.offset == n.weight;
      if (p.role == role::bias) found += p.offset == n.shift;
      if (p.role == role::gamma) found += p.offset == n.norm;
    }
    CAPTURE(v);
    CHECK(found == (n.weight >= 0) + (n.shift >= 0) + (n.norm >= 0));
    CHECK((n.weight >= 0) == has_weights(n.kind));
    CHECK((n.shift >= 0) == (n.kind == op::bias));
    CHECK((n.norm >= 0) == (n.kind == op::batch_norm));
  }
}

static constexpr auto names = input{.c = 4} | named("norms", repeat{11, named("of", layer_norm{})}) | bias{};
TEST_CASE("the table has full names") {
  auto const& table = parameters<names>;
  REQUIRE(table.size() == 23);
  for (int i = 0; i < 22; ++i) CHECK(table[i].name == "norms." + std::to_string(i / 2) + ".of");
  CHECK(table[22].name == nullptr);
}

static constexpr auto free_of_parameters = input{.c = 3} | relu{};
TEST_CASE("a network without parameters has an empty table") {
  CHECK(parameters<free_of_parameters>.size() == 0);
  CHECK(parameters<free_of_parameters>.begin() == parameters<free_of_parameters>.end());
  CHECK(parameter_count<free_of_parameters> == 0);
}
