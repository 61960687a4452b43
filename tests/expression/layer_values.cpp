// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of ago's graphs, written as index expressions, have the values, extents, loops and multiply-adds that
// the graph's tables and the tests' own executor give them: every node of random graphs.
#include <ago/expression/counts.hpp>
#include <ago/expression/evaluate.hpp>
#include <ago/partition/weight.hpp>
#include <ago/plan/account.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "movements.hpp"
#include "reference/executor.hpp"
#include "reference/random_graph.hpp"
#include "run.hpp"

using namespace expression_test;
using namespace ago::expression;

namespace {

/// Loop extents without those of 1, in any order.
template <class Loops>
std::vector<int> sorted(Loops const& l) {
  std::vector<int> r;
  for (int i = 0; i < l.count; ++i)
    if (l.extent[i] > 1) r.push_back(l.extent[i]);
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace

TEST_CASE("every operator of random graphs that has an expression has its values, extents, loops and multiply-adds") {
  std::map<std::string, int> seen, unseen;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    reference::random_graph const random(seed);
    auto const& g = random.graph;
    std::mt19937 numbers(seed);
    auto const parameters = reference::random_parameters(random, numbers);
    auto const all = reference::run_all(g, parameters, reference::random_inputs(g, numbers));
    for (int v = g.input_count; v < g.node_count; ++v) {
      ago::node const& n = g.nodes[v];
      std::vector<extents> in;
      std::vector<values> given;
      for (int k = 0; k < n.input_count; ++k) {
        in.push_back(extents_of(g.source(v, k).out));
        given.push_back(all[std::size_t(g.operand(v, k))].exact);
      }
      auto const d = description_of(n, in);
      ++(d ? seen : unseen)[name_of(n.kind)];
      if (!d) continue;
      CAPTURE(seed);
      CAPTURE(v);
      CAPTURE(std::string(name_of(n.kind)));
      CAPTURE(int(d->as.bad.what));
      CAPTURE(d->as.bad.operand);
      CAPTURE(d->as.bad.dimension);
      REQUIRE(d->as.bad.what == fault::none);
      std::size_t next = 0;
      for (int k = 0; k < d->as.value_count; ++k)
        if (value const& p = d->as.values[k]; p.role == value_role::parameter) {
          auto const first = parameters.begin() + d->parameters.at(next++);
          given.emplace_back(first, first + p.extents.count());
        }
      REQUIRE(d->as.result().count() == n.out.count());
      values const got = run(d->as, given)[0], &expected = all[std::size_t(v)].exact;
      for (std::size_t i = 0; i < got.size(); ++i)
        REQUIRE(got[i] == doctest::Approx(expected[i]).epsilon(1e-6));
      CHECK(multiply_adds(d->as) == multiply_adds(g, v));
      if (n.kind != ago::op::attention_values) CHECK(sorted(loops_of(d->as)) == sorted(loops_of(g, v)));
      if (has_weights(n.kind)) CHECK(4 * elements_read(d->as.expressions[0], 1) == weight_bytes(g, v));
      CHECK(bytes_written(d->as.expressions[d->as.expression_count - 1]) == 4 * n.out.count());
    }
  }
  std::map<std::string, int> none;
  for (auto const& [name, count] : unseen)
    if (!seen.contains(name)) none[name] = 1;
  // Without an expression: an index as the result, no operands, a user's code, positions in floating point.
  CHECK(none == std::map<std::string, int>{{"arg_max", 1}, {"constant", 1}, {"map", 1}, {"resize_bilinear", 1}});
  CHECK(seen.size() >= 40);
}
