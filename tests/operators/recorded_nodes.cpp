// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes that operators record.
#include "network/recorded.hpp"

#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::simd;
using graph_test::run_time_trace;

namespace {

/// The only node that a layer adds to an image of shape {2, 9, 11, 6}.
node recorded(layer auto const& l) { return graph_test::recorded_after({.n = 2, .h = 9, .w = 11, .c = 6}, l); }

}  // namespace

TEST_CASE("a plain number is the output channels of a convolution, and a 1x1 convolution is a pointwise one") {
  node const n = recorded(conv2d{64});
  CHECK(n.kind == op::pointwise);
  CHECK(n.out == shape{2, 9, 11, 64});
  CHECK(recorded(pointwise{64}).kind == op::pointwise);
  CHECK(recorded(pointwise{64}).out == n.out);
}

TEST_CASE("a convolution is recorded as its most specific kind") {
  CHECK(recorded(conv2d{.out = 8, .kernel = {1, 1}}).kind == op::pointwise);
  CHECK(recorded(conv2d{.out = 8, .kernel = 1, .dilation = 5}).kind == op::pointwise);
  CHECK(recorded(conv2d{.out = 8, .stride = 2}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 8, .stride = {1, 2}}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 8, .pad = 1}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 8, .pad = pads{.right = 1}}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 6, .groups = 2}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 6, .kernel = 3, .groups = 6}).kind == op::depthwise);
  CHECK(recorded(conv2d{.out = 12, .kernel = 3, .groups = 6}).kind == op::conv2d);
  CHECK(recorded(conv2d{.out = 6, .groups = 6}).kind == op::depthwise);
  CHECK(recorded(depthwise{}).kind == op::depthwise);
  CHECK(recorded(depthwise{.multiplier = 2}).kind == op::conv2d);
  CHECK(recorded(depthwise{.multiplier = 2}).out == shape{2, 7, 9, 12});
  CHECK(recorded(depthwise{.multiplier = 2}).groups == 6);

  run_time_trace t;
  tensor const gray = t.add({.h = 8, .w = 8, .c = 1});
  (void)(gray | conv2d{.out = 1, .kernel = 3});
  CHECK(t.last().kind == op::depthwise);
  (void)(gray | depthwise{.kernel = 1});
  CHECK(t.last().kind == op::pointwise);
}

TEST_CASE("every argument of a window may differ between rows and columns") {
  node const n =
      recorded(conv2d{.out = 4, .kernel = {3, 1}, .stride = {2, 3}, .pad = {2, 1}, .dilation = {2, 7}, .groups = 2});
  CHECK(n.win == window{.kernel_h = 3,
                        .kernel_w = 1,
                        .stride_h = 2,
                        .stride_w = 3,
                        .dilation_h = 2,
                        .dilation_w = 1,
                        .pad_top = 2,
                        .pad_left = 1,
                        .pad_bottom = 2,
                        .pad_right = 1});
  CHECK(n.out == shape{2, 5, 5, 4});
  CHECK(n.groups == 2);
  node const m = recorded(max_pool{.kernel = {2, 3}, .pad = pads{.bottom = 1}});
  CHECK(m.win == window{.kernel_h = 2, .kernel_w = 3, .stride_h = 2, .stride_w = 3, .pad_bottom = 1});
  CHECK(m.out == shape{2, 5, 3, 6});
  node const p = recorded(avg_pool{3});
  CHECK(p.win == window{.kernel_h = 3, .kernel_w = 3, .stride_h = 3, .stride_w = 3});
}

TEST_CASE("padding counts in an average by default") {
  CHECK(recorded(avg_pool{.kernel = 3, .pad = 1}).count_pads);
  CHECK_FALSE(recorded(avg_pool{.kernel = 3, .pad = 1, .count_pads = false}).count_pads);
}

TEST_CASE("global pools leave one pixel per image") {
  CHECK(recorded(global_avg_pool{}).kind == op::global_avg_pool);
  CHECK(recorded(global_avg_pool{}).out == shape{2, 1, 1, 6});
  CHECK(recorded(global_max_pool{}).kind == op::global_max_pool);
  CHECK(recorded(global_max_pool{}).out == shape{2, 1, 1, 6});
}

TEST_CASE("elementwise layers keep the shape and record their numbers") {
  struct {
    node recorded;
    op kind;
    float alpha = 0, beta = 0;
  } const all[] = {
      {recorded(relu{}), op::relu},
      {recorded(relu6{}), op::relu6},
      {recorded(leaky_relu{}), op::leaky_relu, .01f},
      {recorded(leaky_relu{.slope = .25f}), op::leaky_relu, .25f},
      {recorded(clip{}), op::clip, 0, 1},
      {recorded(clip{-2.5f, 7}), op::clip, -2.5f, 7},
      {recorded(hard_tanh{}), op::clip, -1, 1},
      {recorded(hard_sigmoid{}), op::hard_sigmoid},
      {recorded(hard_swish{}), op::hard_swish},
      {recorded(sigmoid{}), op::sigmoid},
      {recorded(silu{}), op::silu},
      {recorded(gelu{}), op::gelu},
      {recorded(gelu{.approximate = true}), op::gelu_tanh},
      {recorded(hyperbolic_tangent{}), op::tanh},
      {recorded(identity{}), op::identity},
      {recorded(to_nchw{}), op::to_nchw},
      {recorded(bias{}), op::bias},
      {recorded(batch_norm{}), op::batch_norm, 1e-5f},
      {recorded(batch_norm{.epsilon = 1e-3f}), op::batch_norm, 1e-3f},
  };
  for (auto const& l : all) {
    CAPTURE(name_of(l.kind));
    CHECK(l.recorded.kind == l.kind);
    CHECK(l.recorded.out == shape{2, 9, 11, 6});
    CHECK(l.recorded.alpha == l.alpha);
    CHECK(l.recorded.beta == l.beta);
  }
}

TEST_CASE("a user's lambda is recorded as the address of its own function") {
  auto const square = map{[](auto x) { return x * x; }};
  auto const negate = map{[](auto x) { return -x; }};
  node const a = recorded(square), b = recorded(negate);
  REQUIRE(a.function);
  REQUIRE(b.function);
  CHECK(a.kind == op::map);
  CHECK(a.function != b.function);
  CHECK(recorded(square).function == a.function);

  vec<isa::scalar> x = 3.f;
  a.function->apply(isa::scalar, &x, 0, 0);
  CHECK(x.v == 9);
  b.function->apply(isa::scalar, &x, 0, 0);
  CHECK(x.v == -9);
}

TEST_CASE("a map has the name it is given, for drawings only") {
  constexpr auto leak = [](auto x, auto slope) { return max(x, x * slope); };
  node const plain = recorded(map{leak, .2f}), named = recorded(map{leak, "leak", .2f, .5f});
  CHECK(std::string_view(label_of(plain)) == "map");
  CHECK(std::string_view(label_of(named)) == "leak");
  CHECK((named.kind == op::map && named.function == plain.function));
  CHECK((plain.alpha == .2f && plain.beta == 0 && named.alpha == .2f && named.beta == .5f));
  CHECK((plain.line == __LINE__ - 5 && named.line == plain.line));
  CHECK(std::string_view(label_of(recorded(mish{}))) == "mish");
  CHECK(std::string_view(label_of(recorded(affine{2, 1}))) == "affine");
  CHECK(std::string_view(label_of(recorded(relu6{}))) == "relu6");
}

TEST_CASE("all operators of a layer have its number") {
  run_time_trace t;
  tensor x = t.add({.h = 4, .w = 4, .c = 3});
  x = x | conv2d{.out = 8, .kernel = 3, .bias = true} | linear{5} | linear{.out = 2, .bias = false};
  op const kinds[] = {op::input, op::conv2d, op::bias, op::linear, op::bias, op::linear};
  int const layers[] = {0, 1, 1, 2, 2, 3};
  REQUIRE(t.recorder.nodes.size == 6);
  for (int v = 0; v < 6; ++v) {
    CAPTURE(v);
    CHECK(t.recorder.nodes[v].kind == kinds[v]);
    CHECK(t.recorder.nodes[v].layer == layers[v]);
  }
  CHECK(t.last().out == shape{1, 2, 2, 2});
}

TEST_CASE("every layer records its line") {
  int const here = __LINE__;
  node const all[] = {
      recorded(conv2d{.out = 3}),  // here + 2
      recorded(pointwise{3}),      //
      recorded(depthwise{}),       //
      recorded(linear{.out = 3, .bias = false}),
      recorded(bias{}),             // here + 6
      recorded(batch_norm{}),       //
      recorded(max_pool{}),         //
      recorded(avg_pool{}),         //
      recorded(global_avg_pool{}),  // here + 10
      recorded(relu{}),             //
      recorded(leaky_relu{}),       //
      recorded(clip{}),             //
      recorded(hard_tanh{}),        // here + 14
      recorded(gelu{}),             //
      recorded(map{[](auto x) { return x; }}),
      recorded(to_nchw{}),          //
      recorded(global_max_pool{}),  // here + 18
  };
  for (int i = 0; i < int(sizeof all / sizeof *all); ++i) {
    CAPTURE(name_of(all[i].kind));
    CHECK(all[i].line == here + 2 + i);
  }

  int const first = __LINE__ + 1;
  node const spread = recorded(conv2d{
      .out = 3,
      .kernel = 3,
  });
  CHECK(spread.line >= first);
  CHECK(spread.line <= first + 3);
}
