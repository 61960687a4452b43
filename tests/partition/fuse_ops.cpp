// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "oracle.hpp"
#include "random_network.hpp"

#include <ago/partition/fuse_ops.hpp>

#include <doctest/doctest.h>

namespace {

using ago::op;
using groups = std::vector<int>;
using builder = test::builder<32, 48, 4>;
constexpr ago::shape image{1, 14, 14, 8}, pixel{1, 1, 1, 8};

/// The group of each operator, named by the group's first operator.
groups fused(builder const& b, ago::partition::fuse_ops_options const& o = {}) {
  auto const p = ago::partition::fuse_ops_partition(b.g, o);
  CHECK((p.subgraphs.acyclic && p.minis.acyclic));
  auto const of = ago::partition::fuse_ops(ago::partition::patterns_of(b.g, ago::partition::dag_of(b.g)), o);
  return oracle::view(of, b.g.node_count - b.g.input_count);
}

TEST_CASE("FuseOps: chains") {
  builder b;
  int const x = b.input(image);
  SUBCASE("a convolution takes bias and activation") {
    b.bias_relu(b.pointwise(x, 8));
    CHECK(fused(b) == groups{0, 0, 0});
  }
  SUBCASE("a group has one convolution, whose activation does not go to the next one") {
    b.bias_relu(b.depthwise(b.bias_relu(b.pointwise(x, 8))));
    CHECK(fused(b) == groups{0, 0, 0, 3, 3, 3});
  }
  SUBCASE("elementwise operators alone") {
    b.unary(op::tanh, b.unary(op::relu, b.unary(op::bias, x)));
    CHECK(fused(b) == groups{0, 0, 0});
  }
  SUBCASE("none is fused into a convolution after it") {
    b.pointwise(b.unary(op::relu, x), 8);
    CHECK(fused(b) == groups{0, 1});
  }
  SUBCASE("pooling takes the operators after it, and is not taken") {
    int const y = b.pointwise(x, 8);
    b.unary(op::relu, b.add({.kind = op::max_pool, .out = image}, {y}));
    CHECK(fused(b) == groups{0, 1, 1});
  }
  SUBCASE("softmax is opaque") {
    b.unary(op::relu, b.unary(op::softmax, b.unary(op::bias, b.pointwise(x, 8))));
    CHECK(fused(b) == groups{0, 0, 2, 3});
  }
  SUBCASE("layer norm is opaque") {
    b.unary(op::relu, b.unary(op::layer_norm, b.unary(op::relu, x)));
    CHECK(fused(b) == groups{0, 1, 2});
  }
  SUBCASE("data movements fuse with one another, and with elementwise operators before them") {
    b.unary(op::permute, b.unary(op::reshape, b.unary(op::relu, x)));
    CHECK(fused(b) == groups{0, 0, 0});
  }
  SUBCASE("data movements fuse with elementwise operators after them") {
    b.unary(op::relu, b.unary(op::reshape, x));
    CHECK(fused(b) == groups{0, 0});
  }
  SUBCASE("a convolution takes no data movements, not even after its epilogue") {
    b.unary(op::reshape, b.unary(op::bias, b.pointwise(x, 8)));
    CHECK(fused(b) == groups{0, 0, 2});
  }
  SUBCASE("a data movement between convolution and bias keeps the bias") {
    b.unary(op::relu, b.unary(op::bias, b.unary(op::reshape, b.pointwise(x, 8))));
    CHECK(fused(b) == groups{0, 1, 1, 1});
  }
  SUBCASE("the second operand of a product of values") {
    int const q = b.unary(op::bias, b.pointwise(x, 8)), k = b.unary(op::bias, b.pointwise(x, 8));
    b.add({.kind = op::attention_scores, .out = image}, {q, k});
    CHECK(fused(b) == groups{0, 0, 2, 2, 4});
  }
}

TEST_CASE("FuseOps: branches") {
  builder b;
  int const x = b.input(image);
  SUBCASE("a convolution, branches of elementwise operators, their sum") {
    int const y = b.pointwise(x, 8), l = b.unary(op::relu, b.unary(op::bias, y)), r = b.unary(op::tanh, y);
    b.binary(op::add, l, r);
    CHECK(fused(b) == groups{0, 0, 0, 0, 0});
  }
  SUBCASE("a branch with a convolution keeps the sum from the operators before it") {
    int const y = b.unary(op::relu, x), z = b.bias_relu(b.pointwise(y, 8));
    b.binary(op::add, y, z);
    CHECK(fused(b) == groups{0, 1, 1, 1, 1});
  }
  SUBCASE("a residual goes to the branch that comes from one source") {
    b.inverted_residual(b.unary(op::relu, x), 1);
    CHECK(fused(b) == groups{0, 1, 1, 1, 4, 4, 4, 7, 7, 7});
  }
  SUBCASE("of two convolutions, the first one visited takes their sum") {
    int const l = b.pointwise(x, 8), r = b.depthwise(x);
    b.unary(op::relu, b.binary(op::add, l, r));
    CHECK(fused(b) == groups{0, 1, 0, 0});
  }
  SUBCASE("a value is stored if its two readers never meet") {
    int const y = b.pointwise(x, 8);
    b.output(b.unary(op::relu, y));
    b.output(b.unary(op::tanh, y));
    CHECK(fused(b) == groups{0, 1, 2});
  }
  SUBCASE("a network output is stored, although it is also read") {
    int const y = b.unary(op::bias, b.pointwise(x, 8));
    b.output(y);
    b.output(b.unary(op::relu, y));
    CHECK(fused(b) == groups{0, 0, 2});
  }
  SUBCASE("a value read twice by one operator") {
    int const y = b.pointwise(x, 8);
    b.binary(op::mul, y, y);
    CHECK(fused(b) == groups{0, 0});
  }
  SUBCASE("three branches that meet in two places") {
    int const y = b.unary(op::relu, x), l = b.unary(op::tanh, y), m = b.unary(op::sigmoid, y);
    int const r = b.unary(op::silu, y), s = b.binary(op::add, l, m);
    b.binary(op::mul, s, r);
    CHECK(fused(b) == groups{0, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("FuseOps: broadcasts") {
  builder b;
  int const x = b.input(image);
  SUBCASE("a convolution goes to the operand that is read element by element") {
    int const gate = b.input(pixel);
    b.g.input_count = 2;
    b.binary(op::mul, b.pointwise(x, 8), gate);
    CHECK(fused(b) == groups{0, 0});
  }
  SUBCASE("the convolution of a gate does not take the product with the image") {
    int const y = b.unary(op::relu, x), mean = b.add({.kind = op::global_avg_pool, .out = pixel}, {y});
    b.binary(op::mul, y, b.unary(op::sigmoid, b.pointwise(mean, 8)));
    CHECK(fused(b) == groups{0, 1, 2, 2, 4});
  }
}

TEST_CASE("FuseOps: concatenations") {
  builder b;
  int const x = b.input(image);
  SUBCASE("the result of a convolution is not taken") {
    int const l = b.bias_relu(b.pointwise(x, 8)), r = b.bias_relu(b.depthwise(x));
    b.concat(l, r);
    CHECK(fused(b) == groups{0, 0, 0, 3, 3, 3, 6});
  }
  SUBCASE("elementwise operators are taken") {
    b.concat(b.unary(op::relu, x), b.unary(op::tanh, x));
    CHECK(fused(b) == groups{0, 0, 0});
  }
  SUBCASE("and so are data movements, and the operators that follow") {
    int const y = b.concat(b.unary(op::slice, x), b.unary(op::tanh, x));
    b.unary(op::relu, b.unary(op::channel_shuffle, y));
    CHECK(fused(b) == groups{0, 0, 0, 0, 0});
  }
  SUBCASE("nothing passes a tuple that is not fused yet") {
    int const y = b.unary(op::relu, x), t = b.unary(op::tanh, y), c = b.concat(t, t);
    b.binary(op::add, b.add({.kind = op::slice, .out = image}, {c}), y);
    CHECK(fused(b) == groups{0, 1, 1, 1, 1});
  }
  SUBCASE("a concatenation between a value and the sum of branches") {
    int const y = b.unary(op::relu, x);
    b.concat(y, b.concat(b.unary(op::tanh, y), y));
    CHECK(fused(b) == groups{0, 0, 0, 0});
  }
}

TEST_CASE("FuseOps: levels and limits") {
  builder b;
  b.bias_relu(b.pointwise(b.input(image), 8));
  CHECK(fused(b, {.level = 0}) == groups{0, 1, 2});
  for (int level = 1; level <= 4; ++level) CHECK(fused(b, {.level = level}) == groups{0, 0, 0});
  CHECK(fused(b, {.max_operators = 1}) == groups{0, 1, 2});
  CHECK(fused(b, {.max_operators = 2}) == groups{0, 0, 2});
  CHECK(fused(b, {.max_operators = 3}) == groups{0, 0, 0});
  CHECK(fused(b, {.max_arguments = 1}) == groups{0, 1, 2});
  CHECK(fused(b, {.max_arguments = 2}) == groups{0, 1, 1});  // the convolution's result and the shift
  CHECK(fused(b, {.max_arguments = 3}) == groups{0, 0, 0});  // input, weights, shift
  builder diamond;
  int const x = diamond.unary(op::relu, diamond.input(image));
  diamond.binary(op::add, diamond.unary(op::tanh, x), diamond.unary(op::sigmoid, x));
  CHECK(fused(diamond, {.max_operators = 3}) == groups{0, 1, 1, 1});
}

// The graphs and expected groups of TVM's own tests of the pass: tests/python/relay/test_pass_fuse_ops.py of
// github.com/apache/tvm (Apache License 2.0). Additions of constants are biases here; squeeze is a reshape, transpose
// a permutation, split a slice for each part. Control flow, references and annotations are left out.
TEST_CASE("FuseOps: TVM's own cases") {
  builder b;
  int const x = b.input(image);
  auto const plus_1 = [&](int y) { return b.unary(op::bias, y); };
  auto const squeeze = [&](int y) { return b.unary(op::reshape, y); };
  auto const concat = [&](int p, int q, int r) {
    return b.add({.kind = op::concat, .out = b.with_channels(p, 3 * b.shape_of(p).c)}, {p, q, r});
  };
  auto const conv = [&](int y, int size) {
    return b.add({.kind = op::conv2d, .out = b.shape_of(y), .win = {.kernel_h = size, .kernel_w = size}}, {y});
  };
  auto const pool = [&](int y) {
    ago::shape s = b.shape_of(y);
    s.h /= 2, s.w /= 2;
    return b.add({.kind = op::max_pool, .out = s, .win = {2, 2, 2, 2}}, {y});
  };
  SUBCASE("fuse_simple") {
    squeeze(b.unary(op::tanh, plus_1(x)));
    CHECK(fused(b) == groups{0, 0, 0});
  }
  SUBCASE("conv2d_fuse") {
    int const y = conv(plus_1(x), 3), sum = b.binary(op::add, y, plus_1(y)), z2 = conv(sum, 1), z3 = conv(sum, 3);
    b.binary(op::add, z2, z3);
    CHECK(fused(b) == groups{0, 1, 1, 1, 4, 5, 4});
  }
  SUBCASE("concatenate") {
    int const up = b.add({.kind = op::resize_nearest, .out = image}, {pool(x)});
    plus_1(b.concat(up, x));
    CHECK(fused(b) == groups{0, 1, 1, 1});
  }
  SUBCASE("tuple_root") {
    b.output(b.add({.kind = op::resize_nearest, .out = image}, {pool(x)}));
    b.output(x);
    CHECK(fused(b) == groups{0, 1});
  }
  SUBCASE("fuse_tuple_get_elemwise") {
    int const y = b.add({.kind = op::linear, .out = b.with_channels(x, 24)}, {x});
    int part[3];
    for (int& s : part) s = b.add({.kind = op::slice, .out = image}, {y});
    int const gate = b.unary(op::sigmoid, part[0]), l = b.unary(op::tanh, part[1]), r = b.unary(op::silu, part[2]);
    b.binary(op::add, gate, b.binary(op::mul, l, r));
    CHECK(fused(b) == groups{0, 1, 1, 1, 1, 1, 1, 1, 1});
  }
  SUBCASE("tuple_get_root") {
    b.add({.kind = op::linear, .out = b.with_channels(x, 4)}, {b.unary(op::slice, x)});
    CHECK(fused(b) == groups{0, 1});
  }
  SUBCASE("tuple_intermediate") {
    int const y = squeeze(x), y1 = plus_1(y), y2 = plus_1(plus_1(squeeze(y))), y3 = plus_1(y);
    plus_1(squeeze(concat(y1, y2, y3)));
    CHECK(fused(b) == groups(9, 0));
  }
  SUBCASE("tuple_consecutive") {
    auto const intermediate = [&] {
      int const y1 = plus_1(x), y2 = plus_1(x), y3 = plus_1(x);
      return plus_1(concat(y1, y2, y3));
    };
    int const t1 = intermediate(), t2 = intermediate(), t3 = intermediate();
    int const out = plus_1(pool(concat(t1, t2, t3)));
    b.output(out);
    b.output(plus_1(out));
    groups expected(19, 0);
    expected[16] = expected[17] = 16;
    expected[18] = 18;
    CHECK(fused(b) == expected);
  }
  SUBCASE("inception_like") {
    int y = x;
    for (int i = 0; i < 2; ++i) {
      int const l = b.unary(op::relu, conv(y, 3)), r = b.unary(op::relu, conv(y, 3));
      y = b.concat(l, r);
    }
    CHECK(fused(b) == groups{0, 0, 2, 2, 4, 5, 5, 7, 7, 9});
  }
  SUBCASE("fuse_parallel_injective") {
    int const y = plus_1(x), z = squeeze(y), u = b.unary(op::permute, y);
    b.binary(op::add, z, u);
    CHECK(fused(b) == groups{0, 0, 0, 0});
  }
}

TEST_CASE("FuseOps: TVM's fuse_max, 300 operators with at most 256 in a group") {
  auto const chain =
      test::grown<test::builder<304, 304>>(image, 301, [](auto& b, int x) { return b.unary(op::tanh, x); });
  auto const of = ago::partition::fuse_ops(ago::partition::patterns_of(chain, ago::partition::dag_of(chain)));
  groups expected(300, 0);
  std::fill(expected.begin() + 256, expected.end(), 256);
  CHECK(oracle::view(of, 300) == expected);
}

TEST_CASE("FuseOps of random networks: complete, acyclic, one anchor and one result in a group") {
  test::random r(31);
  for (int round = 0; round < 5'000; ++round) {
    auto const g = test::make_random_network(r, round % 40 == 0 ? test::pick(r, 80, 150) : test::pick(r, 1, 30));
    ago::partition::fuse_ops_options const o{.max_operators = round % 3 ? 256 : test::pick(r, 1, 5)};
    auto const p = ago::partition::fuse_ops_partition(g, o);
    auto const view = ago::partition::patterns_of(g, ago::partition::dag_of(g));
    auto const of = ago::partition::fuse_ops(view, o);
    int const count = view.operators.count;
    CAPTURE(round);
    REQUIRE(p.subgraphs.acyclic);
    REQUIRE(oracle::acyclic(oracle::view(view.operators), groups(of.of, of.of + count)));
    std::vector<int> anchors(of.count), members(of.count), last(of.count);
    for (int v = 0; v < count; ++v) {
      anchors[of.of[v]] += view.kind[v] == ago::partition::pattern::fusable_out;
      ++members[of.of[v]];
      last[of.of[v]] = v;
    }
    for (int k = 0; k < of.count; ++k) {
      REQUIRE(anchors[k] <= 1);
      REQUIRE(members[k] <= o.max_operators);
    }
    for (int v = 0; v < count; ++v) {
      if (v != last[of.of[v]]) REQUIRE_FALSE(view.kept[v]);
      for (int e = view.operators.first[v]; e < view.operators.first[v + 1]; ++e) {
        int const u = view.operators.source[e];
        if (of.of[u] != of.of[v]) REQUIRE(u == last[of.of[u]]);
      }
    }
  }
}

}  // namespace
