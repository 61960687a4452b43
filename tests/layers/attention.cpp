// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes recorded for products of two values, softmax and attention.
#include "network/run_time_trace.hpp"

#include <ago/layers/layers.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using graph_test::run_time_trace;

namespace {

node const& made(run_time_trace const& t, tensor x) { return t.recorder.nodes[x.index]; }
int operand(run_time_trace const& t, tensor x, int k) { return t.recorder.edges[made(t, x).input_first + k]; }

}  // namespace

TEST_CASE("there is a matrix product for every image and row") {
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 3, .w = 5, .c = 7}), y = t.add({.n = 2, .h = 3, .w = 7, .c = 4});
  tensor const z = matmul(x, y);
  CHECK(made(t, z).kind == op::matmul);
  CHECK(z.dims() == shape{2, 3, 5, 4});
  CHECK_FALSE(made(t, z).transposed);
  CHECK(made(t, z).alpha == 1);
  CHECK(operand(t, z, 0) == x.index);
  CHECK(operand(t, z, 1) == y.index);
  tensor const square = matmul(x, x, true);
  CHECK(made(t, square).transposed);
  CHECK(square.dims() == shape{2, 3, 5, 5});
  CHECK(t.fault() == fault::none);
}

TEST_CASE("one matrix is used for all images, all rows, or both") {
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 3, .w = 5, .c = 7});
  for (int n : {1, 2})
    for (int h : {1, 3}) {
      CHECK(matmul(x, t.add({.n = n, .h = h, .w = 7, .c = 4})).dims() == shape{2, 3, 5, 4});
      CHECK(matmul(x, t.add({.n = n, .h = h, .w = 4, .c = 7}), true).dims() == shape{2, 3, 5, 4});
    }
  CHECK(t.fault() == fault::none);
}

TEST_CASE("softmax keeps the shape") {
  run_time_trace t;
  tensor const y = t.add({.n = 2, .h = 3, .w = 5, .c = 7}) | softmax{};
  CHECK(made(t, y).kind == op::softmax);
  CHECK(y.dims() == shape{2, 3, 5, 7});
}

TEST_CASE("attention is two products with a softmax between them, one row of scores for each query") {
  run_time_trace t;
  tensor const q = t.add({.n = 2, .h = 3, .w = 5, .c = 12}), k = t.add({.n = 2, .h = 4, .w = 2, .c = 12});
  tensor const v = t.add({.n = 2, .h = 4, .w = 2, .c = 12});
  tensor const y = attention{.heads = 3}(q, k, v);
  REQUIRE(t.fault() == fault::none);
  REQUIRE(t.recorder.nodes.size == 6);
  node const &scores = t.recorder.nodes[3], &weights = t.recorder.nodes[4], &result = made(t, y);
  CHECK(scores.kind == op::attention_scores);
  CHECK(scores.out == shape{2, 3, 15, 8});
  CHECK(scores.groups == 3);
  CHECK(scores.alpha == .5f);  // one over the root of 4 channels
  CHECK(weights.kind == op::softmax);
  CHECK(weights.out == scores.out);
  CHECK(result.kind == op::attention_values);
  CHECK(result.out == q.dims());
  CHECK(result.groups == 3);
  CHECK(t.recorder.edges[scores.input_first] == q.index);
  CHECK(t.recorder.edges[scores.input_first + 1] == k.index);
  CHECK(operand(t, y, 0) == 4);
  CHECK(operand(t, y, 1) == v.index);
  for (int i = 3; i < 6; ++i) CHECK(t.recorder.nodes[i].layer == 3);  // one layer
}

TEST_CASE("with patches, each place within a patch has an attention of its own") {
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 6, .w = 8, .c = 12});
  tensor const y = attention{.heads = 2, .patch = {3, 2}, .scale = .25f}(x, x, x);
  REQUIRE(t.fault() == fault::none);
  node const& scores = t.recorder.nodes[1];
  CHECK(scores.out == shape{2 * 6, 2, 2 * 4, 2 * 4});
  CHECK(scores.alpha == .25f);
  for (int v : {1, y.index}) {
    CHECK(t.recorder.nodes[v].patch.h == 3);
    CHECK(t.recorder.nodes[v].patch.w == 2);
  }
  CHECK(y.dims() == x.dims());
}

TEST_CASE("attention to one value takes queries, keys and values from its channels") {
  run_time_trace t;
  tensor const y = t.add({.w = 5, .c = 24}) | attention{.heads = 2};
  REQUIRE(t.fault() == fault::none);
  REQUIRE(t.recorder.nodes.size == 7);
  for (int i = 0; i < 3; ++i) {
    CHECK(t.recorder.nodes[1 + i].kind == op::slice);
    CHECK(t.recorder.nodes[1 + i].begin == 8 * i);
  }
  CHECK(t.recorder.edges[t.recorder.nodes[4].input_first] == 1);
  CHECK(t.recorder.edges[t.recorder.nodes[4].input_first + 1] == 2);
  CHECK(operand(t, y, 1) == 3);
  CHECK(y.dims() == shape{1, 1, 5, 8});
}

TEST_CASE("the default scale is one over the root of a head's channels") {
  for (int c : {1, 2, 3, 32, 36, 1000, 1 << 20}) {
    run_time_trace t;
    tensor const x = t.add({.w = 2, .c = c});
    (void)attention{}(x, x, x);
    CAPTURE(c);
    CHECK(double(t.recorder.nodes[1].alpha) * t.recorder.nodes[1].alpha * c == doctest::Approx(1).epsilon(3e-7));
  }
}

TEST_CASE("products of two values record their line") {
  run_time_trace t;
  tensor const x = t.add({.w = 4, .c = 4});
  tensor const y = matmul(x, x);
  CHECK(made(t, y).line == __LINE__ - 1);
  tensor const z = attention{}(x, x, x);
  CHECK(made(t, z).line == __LINE__ - 1);
}
