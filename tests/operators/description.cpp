// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators of ago's graphs, written as index expressions, have the values, extents, loops and multiply-adds that
// the graph's tables and the tests' own executor give them: every node of random graphs.
#include <ago/expression/counts.hpp>
#include <ago/expression/evaluate.hpp>
#include <ago/layers/layers.hpp>
#include <ago/partition/weight.hpp>
#include <ago/passes/siblings.hpp>
#include <ago/plan/account.hpp>
#include <ago/recognition/operation.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "described_values.hpp"
#include "network/run_time_trace.hpp"
#include "reference/functions.hpp"
#include "reference/random_graph.hpp"

using namespace expression_test;
using namespace ago::expression;
using ago::op;

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
      ago::ir::node const& n = g.nodes[v];
      auto const d = ago::described::description_of(g, v);
      ++(d.exists ? seen : unseen)[name_of(n.kind)];
      CAPTURE(seed);
      if (!d.exists) continue;
      check_description(g, v, d, parameters, all);
      CHECK(multiply_adds(d.as) == ago::partition::multiply_adds(g, v));
      // The table has the pixels of a linear layer as one loop, and images divided into tokens.
      bool const other_loops = n.kind == op::linear || n.kind == op::attention_values;
      if (other_loops) CHECK(loops_of(d.as).points() == ago::partition::loops_of(g, v).points());
      else CHECK(sorted(loops_of(d.as)) == sorted(ago::partition::loops_of(g, v)));
      if (has_weights(n.kind)) CHECK(4 * elements_read(d.as.expressions[0], 1) == ago::partition::weight_bytes(g, v));
      CHECK(bytes_written(d.as.expressions[d.as.expression_count - 1]) == 4 * n.out.count());
    }
  }
  std::map<std::string, int> none;
  for (auto const& [name, count] : unseen)
    if (!seen.contains(name)) none[name] = 1;
  CHECK(none == std::map<std::string, int>{{"map", 1}});  // a user's code
  CHECK(seen.size() >= 40);
}

namespace {

/// All operators of `g` must have descriptions with their values; `b`: what it was before passes.
void check_all(auto const& g, reference::builder const& b) {
  std::mt19937 numbers(1);
  auto const parameters = reference::random_parameters(b, numbers);
  auto const all = reference::run_all(g, parameters, reference::random_inputs(b.graph, numbers));
  for (int v = g.input_count; v < g.node_count; ++v) {
    auto const d = ago::described::description_of(g, v);
    CAPTURE(v);
    REQUIRE(d.exists);
    check_description(g, v, d, parameters, all);
  }
}
void check_all(reference::builder const& b) { check_all(b.graph, b); }

/// Of the operators that a layer records on an input.
void check_layer(ago::shape const& in, auto const& layer) {
  graph_test::run_time_trace trace;
  layer(trace.add({.n = in.n, .h = in.h, .w = in.w, .c = in.c}));
  REQUIRE(trace.fault() == ago::ir::fault::none);
  auto const& r = trace.recorder;
  reference::builder b;
  for (int v = 0; v < r.nodes.size; ++v) {
    std::vector<int> operands;
    for (int k = 0; k < r.nodes[v].input_count; ++k) operands.push_back(r.edges[r.nodes[v].input_first + k]);
    b.append(r.nodes[v], operands);
  }
  b.graph.input_count = 1;
  b.graph.parameters = int(r.floats);
  check_all(b);
}

/// A map of a function of the library, and that function as the tests have it.
template <class F>
void check_function(F const&) {
  reference::builder b;
  int const x = b.unary(op::map, b.input({1, 4, 4, 4}), .75f, .25f);
  b.graph.nodes[x].function = &ago::ir::user_map<F>;
  check_all(b);
}
template <auto const&... F>
void check_functions(ago::ir::function_list<F...>) {
  (check_function(F), ...);
}

}  // namespace

TEST_CASE("what passes have folded and merged has its values") {
  for (ago::op const kind : {op::conv2d, op::depthwise, op::pointwise, op::linear})
    for (bool const has_bias : {false, true})
      for (int branches : {1, 3}) {
        if (kind == op::depthwise && branches > 1) continue;
        CAPTURE(std::string(name_of(kind)));
        CAPTURE(has_bias);
        CAPTURE(branches);
        reference::builder b;
        int const x = b.input({2, 4, 5, 3});
        ago::ir::window win{};
        if (kind == op::conv2d || kind == op::depthwise) win = {.kernel_h = 2, .kernel_w = 3, .pad_left = 1};
        std::vector<int> parts;
        for (int k = 0; k < branches; ++k) {
          int y = b.convolution(kind, x, kind == op::depthwise ? 3 : 2 + k, win);
          if (has_bias) y = b.bias(y);
          parts.push_back(b.prelu(b.batch_norm(y, .01f), false));
        }
        b.output(b.concat(parts));
        auto const g =
            ago::passes::merge_siblings(ago::passes::optimize(b.graph), {.siblings = ago::horizontal_fusion::always});
        REQUIRE(g.nodes[1].norm >= 0);
        REQUIRE(g.nodes[1].is_merged() == (branches > 1));
        check_all(g, b);
      }
}

TEST_CASE("the convolution that computes a transposed one") {
  for (int groups : {1, 2})
    for (int stride : {1, 2, 3})
      for (int kernel : {1, 2, 3, 5})
        for (int pad : {0, 1}) {
          CAPTURE(groups);
          CAPTURE(stride);
          CAPTURE(kernel);
          CAPTURE(pad);
          check_layer({2, 4, 5, 4},
                      ago::conv_transpose{
                          .out = 4, .kernel = kernel, .stride = stride, .pad = kernel > 1 ? pad : 0, .groups = groups});
        }
  check_layer({2, 4, 5, 4}, ago::conv_transpose{.out = 4, .kernel = 3, .dilation = 2, .groups = 4});
}

TEST_CASE("concatenations of many values") {
  for (int count : {1, 2, 6, 7, 16}) {
    reference::builder b;
    int const x = b.input({2, 2, 3, 2}), y = b.slice(x, 3, 1, 1);
    std::vector<int> parts;
    for (int k = 0; k < count; ++k) parts.push_back(k % 3 ? x : y);
    b.concat(parts);
    check_all(b);
  }
}

TEST_CASE("every sampling of a resized image") {
  for (op const kind : {op::resize_nearest, op::resize_bilinear})
    for (int how = 0; how <= int(ago::sampling::half_pixel_or_first); ++how)
      for (int rounding = 0; rounding < (kind == op::resize_nearest ? 4 : 1); ++rounding)
        for (int h : {1, 3, 5, 10, 13}) {
          ago::shape const out{2, h, h % 7 + 1, 2};
          CAPTURE(how);
          CAPTURE(rounding);
          CAPTURE(out.h);
          reference::builder b;
          b.append({.kind = kind, .out = out, .positions = ago::sampling(how), .rounds = ago::rounding(rounding)},
                   {b.input({2, 5, 6, 2})});
          check_all(b);
        }
}

TEST_CASE("operators by index expressions are described by them") {
  auto const by_rows = compute("by_rows", [](operand x, weights parameter) {
    operand const matrix = parameter("matrix", x.extent(2), x.extent(3), 5), table = parameter("table", 5);
    var n, h, w, c, k;
    operand const product = result(n, h, w, k) = sum(c)(x(n, h, w, c) * matrix(w, c, k));
    return result(n, h, w, k) = product(n, h, w, (k + 1) % 5) * table(k) - product(n, h, w, k);
  });
  check_layer({2, 3, 4, 2}, by_rows);
}

TEST_CASE("the library's own functions of maps are described by the functions themselves") {
  reference::define_functions();
  check_functions(ago::ir::library_functions{});
}
