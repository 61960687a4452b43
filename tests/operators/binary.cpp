// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes recorded for operators on two values of different shapes, and for layers that repeat values.
#include "network/recorded.hpp"

#include <ago/layers/layers.hpp>
#include <ago/network/parameters.hpp>
#include <ago/recognition/operation.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using graph_test::run_time_trace;

namespace {

/// The nodes after two inputs of these shapes that are combined by `f`.
struct combined {
  run_time_trace t;
  tensor result;

  template <class F>
  combined(shape a, shape b, F f) {
    tensor const x = t.add({.n = a.n, .h = a.h, .w = a.w, .c = a.c});
    result = f(x, t.add({.n = b.n, .h = b.h, .w = b.w, .c = b.c}));
    REQUIRE(t.fault() == fault::none);
  }
  node const& last() const { return t.last(); }
  node const& made(int i) const { return t.recorder.nodes[2 + i]; }
  int added() const { return t.recorder.nodes.size - 2; }
  int operand(int k) const { return t.recorder.edges[last().input_first + k]; }
};

constexpr auto difference = [](tensor x, tensor y) { return x - y; };

}  // namespace

TEST_CASE("the operand with the result's shape comes first, and a difference records if it was the second") {
  shape const image{2, 3, 4, 5}, pixel{2, 1, 1, 5};
  combined const a(image, pixel, difference), b(pixel, image, difference);
  for (combined const* c : {&a, &b}) {
    CHECK(c->added() == 1);
    CHECK(c->last().kind == op::sub);
    CHECK(c->last().out == image);
  }
  CHECK(a.operand(0) == 0);
  CHECK(a.operand(1) == 1);
  CHECK_FALSE(a.last().exchanged);
  CHECK(b.operand(0) == 1);
  CHECK(b.operand(1) == 0);
  CHECK(b.last().exchanged);
  CHECK_FALSE(combined(pixel, image, [](tensor x, tensor y) { return x * y; }).last().exchanged);
}

TEST_CASE("operators have their names") {
  shape const s{1, 2, 2, 3};
  auto const kind = [&](auto f) { return combined(s, s, f).last().kind; };
  CHECK(kind([](tensor x, tensor y) { return x + y; }) == op::add);
  CHECK(kind([](tensor x, tensor y) { return x * y; }) == op::mul);
  CHECK(kind(difference) == op::sub);
  CHECK(kind([](tensor x, tensor y) { return x / y; }) == op::div);
  CHECK(kind([](tensor x, tensor y) { return maximum(x, y); }) == op::maximum);
  CHECK(kind([](tensor x, tensor y) { return minimum(x, y); }) == op::minimum);
  CHECK(kind([](tensor x, tensor y) { return less(x, y); }) == op::less);
  CHECK(kind([](tensor x, tensor y) { return power(x, y); }) == op::power);
  CHECK(kind([](tensor x, tensor) { return x | (relu{} - sigmoid{}); }) == op::sub);
  CHECK(kind([](tensor x, tensor) { return x | (relu{} / sigmoid{}); }) == op::div);
}

TEST_CASE("one pixel, one channel, one number and one image are read in place") {
  shape const image{2, 3, 4, 5};
  for (shape const s :
       {shape{2, 1, 1, 5}, {1, 1, 1, 5}, {2, 3, 4, 1}, {1, 3, 4, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}, {1, 3, 4, 5}})
    CHECK(combined(image, s, difference).added() == 1);
}

TEST_CASE("only rows and columns are repeated first") {
  shape const image{2, 3, 4, 5};
  combined const rows(image, {1, 1, 4, 1}, difference);
  REQUIRE(rows.added() == 2);
  CHECK(rows.made(0).kind == op::expand);
  CHECK(rows.made(0).out == shape{1, 3, 4, 1});
  CHECK(rows.operand(1) == 2);
  combined const columns(image, {2, 3, 1, 5}, difference);
  CHECK(columns.made(0).out == shape{2, 3, 4, 5});
}

TEST_CASE("if neither operand has the result's shape, the larger one is expanded to it") {
  combined const c({1, 6, 1, 1}, {1, 1, 5, 1}, difference);
  REQUIRE(c.added() == 3);
  CHECK(c.last().out == shape{1, 6, 5, 1});
  CHECK(c.t.recorder.nodes[c.operand(0)].out == shape{1, 6, 5, 1});
  CHECK_FALSE(c.last().exchanged);
  combined const d({2, 1, 1, 3}, {1, 4, 4, 1}, difference);
  CHECK(d.last().out == shape{2, 4, 4, 3});
  CHECK(d.last().exchanged);  // 16 elements and 6
  CHECK(d.added() == 2);
}

TEST_CASE("expand repeats one element, tile repeats all") {
  run_time_trace t;
  tensor const x = t.add({.h = 3, .c = 5});
  CHECK((x | expand{.n = 2, .w = 4}).dims() == shape{2, 3, 4, 5});
  CHECK((x | expand{}).index == x.index);
  CHECK((x | tile{2, 3, 4, 5}).dims() == shape{2, 9, 4, 25});
  CHECK((x | tile{}).index == x.index);
  CHECK(t.fault() == fault::none);
}

TEST_CASE("there is one slope per channel or one for all; a scale has as many numbers as channels") {
  run_time_trace t;
  tensor const x = t.add({.h = 3, .c = 5});
  (void)(x | prelu{} | prelu{.shared = true} | scale{});
  auto const& parameters = t.recorder.parameters;
  REQUIRE(parameters.size == 3);
  CHECK(parameters[0].count() == 5);
  CHECK(parameters[1].count() == 1);
  CHECK(parameters[1].offset == 5);
  CHECK(parameters[2].count() == 5);
  CHECK(t.recorder.nodes[1].entries == 5);
  CHECK(t.recorder.nodes[2].entries == 1);
}

TEST_CASE("a sum has the axes of its operands if they are the same") {
  auto const sum = [](auto left, auto right) { return [=](tensor x, tensor y) { return (x | left) + (y | right); }; };
  shape const both{1, 2, 3, 20};
  CHECK(combined(both, both, sum(view{6, 4, 5}, view{1, 6, 4, 5})).result.axes.rank == 0);
  CHECK(combined(both, both, sum(view{2, 1, 3, 4, 5}, view{2, 1, 3, 4, 5})).result.extents() ==
        expression::extents(2, 1, 3, 4, 5));
}
