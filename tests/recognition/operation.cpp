// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions in networks: nodes, parameters, extents, faults.
#include "network/recorded.hpp"

#include <ago/network/network.hpp>
#include <ago/network/parameters.hpp>
#include <ago/partition/weight.hpp>
#include <ago/passes/optimized.hpp>
#include <ago/recognition/operation.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::recognition;
using namespace ago::ir;
using namespace ago::partition;
using namespace ago::passes;
using namespace ago::plan;
using expression::operand, expression::result, expression::var, expression::weights;
using graph_test::run_time_trace;

namespace {

/// y[b, k, p, i] = sum over c, l of x[b, c, p, l] * w[k, c, l, i]; the extents of a capsule layer.
inline constexpr auto capsules = [](int count, int length) {
  return expression::compute("capsules", [=](operand x, weights w) {
    operand const weight = w("weight", count, x.extent(1), x.extent(3), length);
    var b, k, p, i, c, l;
    return result(b, k, p, i) = expression::sum(c, l)(x(b, c, p, l) * weight(k, c, l, i));
  });
};
/// Neither of these is an operator of the graph.
inline constexpr auto reversed = expression::compute("reversed", [](operand x) {
  var n, h, w, c;
  return result(n, h, w, c) = x(n, h, w, x.extent(3) - 1 - c) * x.position(w);
});
inline constexpr auto both = expression::compute("both", [](operand x, operand y) {
  var n, h, w, c, d;
  operand const outer = result(n, h, w, c, d) = expression::sin(x(n, h, w, c)) * y(n, h, w, d) + x.position(d);
  operand const first = result(h, c) = expression::maximum(n, w)(x(n, h, w, c) + x.position(w));
  return expression::results(outer, first);
});

inline constexpr auto net = trace(
    [](tensor x) {
      tensor const y = capsules(5, 4)(x | view(1, 6, 7, 8));  // twice, with parameters of their own
      tensor const z = capsules(3, 2)(capsules(5, 4)(x | view(1, 6, 7, 8)));
      return outputs(y, z | reversed, reversed(z) | relu{});
    },
    input{1, 6, 7, 8});

}  // namespace

TEST_CASE("sums of products of a value and a parameter are contractions, and equal expressions one object") {
  auto const& g = lowering::lowered<net>::value;
  REQUIRE(g.bad.what == fault::none);
  int contractions = 0;
  expression::index_expression const* first = nullptr;
  for (int v = 0; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    if (n.kind != op::contraction) continue;
    REQUIRE(n.described != nullptr);
    CHECK(n.input_count == 1);
    CHECK(n.described->result.count() == n.out.count());
    if (contractions == 0) first = n.described;
    if (contractions == 1) CHECK(n.described == first);
    if (contractions == 2) CHECK(n.described != first);
    CHECK(weight_bytes(g, v) == (contractions < 2 ? 4 * 5 * 6 * 8 * 4 : 4 * 3 * 5 * 4 * 2));
    ++contractions;
  }
  CHECK(contractions == 3);
}

TEST_CASE("parameters come in the order in which operators name them, with their extents") {
  auto const& p = parameters<net>;
  REQUIRE(p.size() == 3);
  CHECK(p[0].rank == 4);
  CHECK(p[0].dims[1] == 6);
  CHECK(p[0].offset == 0);
  CHECK(p[1].offset == 5 * 6 * 8 * 4);
  CHECK(p[2].offset == 2 * p[1].offset);
  CHECK(parameter_count<net> == 2 * 5 * 6 * 8 * 4 + 3 * 5 * 4 * 2);
}

TEST_CASE("equal operators on equal values are computed once, operators with other parameters twice") {
  auto const& before = lowering::lowered<net>::value;
  auto const& after = optimized<net>::value;
  int nests[2]{}, contractions[2]{};
  for (int v = 0; v < before.node_count; ++v) {
    nests[0] += before.nodes[v].kind == op::nest;
    contractions[0] += before.nodes[v].kind == op::contraction;
  }
  for (int v = 0; v < after.node_count; ++v) {
    nests[1] += after.nodes[v].kind == op::nest;
    contractions[1] += after.nodes[v].kind == op::contraction;
  }
  CHECK(contractions[0] == 3);
  CHECK(contractions[1] == 3);
  CHECK(nests[1] < nests[0]);
}

TEST_CASE("results have the extents of the expression, up to six, and layers see four") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 6, .w = 7, .c = 8}), y = t.add({.n = 1, .h = 6, .w = 7, .c = 3});
  auto const [outer, first] = both(x, y);
  CHECK(outer.extents() == expression::extents(1, 6, 7, 8, 3));
  CHECK(outer.dims() == shape{6, 7, 8, 3});
  CHECK(first.extents() == expression::extents(6, 8));
  CHECK(first.dims() == shape{1, 1, 6, 8});
  CHECK((outer | relu{}).extents() == outer.extents());
  CHECK((outer | view(6, 7, 24)).extents() == expression::extents(6, 7, 24));
  CHECK(t.recorder.bad.what == fault::none);
}

TEST_CASE("a view that layers see in the same way records nothing, another one a reshape") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 6, .w = 7, .c = 8});
  int const nodes = t.recorder.nodes.size;
  CHECK((x | view(1, 6, 7, 8)).index == x.index);
  CHECK((x | view(1, 1, 6, 7, 8)).index == x.index);
  CHECK(t.recorder.nodes.size == nodes);
  tensor const flat = x | view(6 * 7, 8);
  CHECK(t.recorder.nodes.size == nodes + 1);
  CHECK(t.recorder.nodes[flat.index].kind == op::reshape);
  CHECK(flat.dims() == shape{1, 1, 42, 8});
  CHECK((x | view(2, 3, 7, 4, 2)).dims() == shape{6, 7, 4, 2});
}

TEST_CASE("views keep the number of elements, and their extents are positive") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 6, .w = 7, .c = 8});
  x | view(6, 7, 9);
  CHECK(t.recorder.bad.what == fault::elements_differ);
  CHECK(t.recorder.bad.expected == 6 * 7 * 8);
  CHECK(t.recorder.bad.actual == 6 * 7 * 9);
  CHECK(t.recorder.bad.line == __LINE__ - 4);
  run_time_trace u;
  u.add({.n = 1, .h = 6, .w = 7, .c = 8}) | view(6, 0, 8);
  CHECK(u.recorder.bad.what == fault::argument_must_be_positive);
}

TEST_CASE("layers that know rows and columns refuse values of more than four axes") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 6, .w = 7, .c = 8}) | view(1, 6, 7, 4, 2);
  x | max_pool{.kernel = 2};
  CHECK(t.recorder.bad.what == fault::takes_four_axes);
  CHECK(t.recorder.bad.actual == 5);
}

TEST_CASE("a misfit of an expression is reported with its operator, operand, dimension and line") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 6, .w = 7, .c = 8});
  tensor const y = capsules(5, 4)(x | view(6, 7, 8));
  CHECK(y.recorder == &t.recorder);
  diagnostic const& d = t.recorder.bad;
  CHECK(d.what == fault::expression_does_not_fit);
  CHECK(d.described.what == expression::fault::rank_differs);
  CHECK(d.operation == expression::name("capsules"));
  CHECK(d.described.operand == 0);
  CHECK(d.described.line > 0);
}

namespace {

/// What the layers of the library record is what the same operators record as expressions.
inline constexpr auto by_layers = input{1, 9, 8, 6} | conv2d{.out = 10, .kernel = 3, .stride = 2, .pad = 1} | bias{} |
                                  relu{} | linear{.out = 12, .bias = false} | sigmoid{};
inline constexpr auto convolve = [](int out, int kernel, int stride, int pad) {
  return expression::compute("convolve", [=](operand x, weights w) {
    operand const weight = w("weight"), shift = w("bias"), image = padded(x, 0);
    var n, k{out}, c, r{kernel}, s{kernel};
    var h{expression::windows(x.extent(1), kernel, stride, 1, 2 * pad)};
    var v{expression::windows(x.extent(2), kernel, stride, 1, 2 * pad)};
    return result(n, h, v, k) = maximum(
               expression::sum(c, r, s)(image(n, stride * h + r - pad, stride * v + s - pad, c) * weight(k, c, r, s)) +
                   shift(k),
               0);
  });
};
inline constexpr auto project = [](int out) {
  return expression::compute("project", [=](operand x, weights w) {
    var n, h, v, k{out}, c;
    return result(n, h, v, k) = expression::sigmoid(expression::sum(c)(w("weight")(k, c) * x(n, h, v, c)));
  });
};
inline constexpr auto by_expressions =
    trace([](tensor x) { return project(12)(convolve(10, 3, 2, 1)(x)); }, input{1, 9, 8, 6});

}  // namespace

TEST_CASE("expressions that operators of the graph compute become these, with the same parameters") {
  auto const &a = optimized<by_layers>::value, &b = optimized<by_expressions>::value;
  REQUIRE(a.node_count == b.node_count);
  CHECK(a.parameters == b.parameters);
  for (int v = 0; v < a.node_count; ++v) {
    node const &x = a.nodes[v], &y = b.nodes[v];
    CHECK(x.kind == y.kind);
    CHECK(x.out == y.out);
    CHECK(x.win == y.win);
    CHECK(x.weight == y.weight);
    CHECK(x.shift == y.shift);
    CHECK(x.groups == y.groups);
    for (int k = 0; k < x.input_count; ++k) CHECK(a.operand(v, k) == b.operand(v, k));
  }
}
