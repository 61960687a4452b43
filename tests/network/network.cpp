// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs, outputs, and extended networks.
#include <ago/network/parts.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;

static constexpr auto channel_first =
    trace([](tensor a, tensor b) { return (a + (b | relu{})) | to_nchw{}; },
          input{.h = 3, .w = 4, .c = 5, .layout = layout::nchw}, input{.h = 3, .w = 4, .c = 5});
TEST_CASE("inputs come first, and a channel-first one is transposed in its own layer") {
  auto const& g = lowering::lowered<channel_first>::value;
  REQUIRE(g.input_count == 2);
  REQUIRE(g.node_count == 6);
  CHECK(g.nodes[0].kind == op::input);
  CHECK(g.nodes[1].kind == op::input);
  CHECK(g.nodes[0].out == shape{1, 3, 4, 5});
  CHECK(g.nodes[2].kind == op::from_nchw);
  CHECK(g.nodes[2].out == shape{1, 3, 4, 5});
  CHECK(g.nodes[2].layer == 0);
  CHECK(g.nodes[2].line == g.nodes[0].line);
  CHECK(g.operand(2) == 0);
  CHECK(g.nodes[3].layer == 2);  // the first after two inputs
  CHECK(g.operand(3) == 1);
  CHECK(g.operand(4, 0) == 2);
  CHECK(g.nodes[g.outputs[0]].kind == op::to_nchw);
}

static constexpr auto several = trace(
    [](tensor a, tensor b) {
      tensor const sum = a + b;
      return outputs(sum, b | relu{}, a, sum, a);
    },
    input{.c = 3}, input{.c = 3});
TEST_CASE("outputs keep their order, are distinct, and are never inputs") {
  auto const& g = lowering::lowered<several>::value;
  REQUIRE(g.output_count == 5);
  REQUIRE(g.output_capacity == 5);
  int const sum = g.outputs[0];
  CHECK(g.nodes[sum].kind == op::add);
  CHECK(g.nodes[g.outputs[1]].kind == op::relu);
  int const copies[] = {g.outputs[2], g.outputs[3], g.outputs[4]}, sources[] = {0, sum, 0};
  for (int i = 0; i < 3; ++i) {
    CHECK(g.nodes[copies[i]].kind == op::identity);
    CHECK(g.operand(copies[i]) == sources[i]);
  }
  CHECK(copies[0] != copies[2]);
}

static constexpr auto backbone = input{.h = 8, .w = 8, .c = 3} | conv2d{.out = 4, .kernel = 3};
static constexpr auto classifier = backbone | global_avg_pool{} | linear{10};
static constexpr auto heads = backbone | [](tensor x) { return outputs(x, x | relu{}); };
static constexpr auto joint = trace([](tensor a, tensor b) { return a + b; }, input{.c = 2}, input{.c = 2}) | relu{};
TEST_CASE("a network with one input or several can be extended, by a layer or by several outputs") {
  CHECK(lowering::lowered<backbone>::value.node_count == 2);
  auto const& g = lowering::lowered<classifier>::value;
  CHECK(g.node_count == 5);
  CHECK(g.nodes[g.outputs[0]].out == shape{1, 1, 1, 10});
  CHECK(lowering::lowered<heads>::value.output_count == 2);
  CHECK(lowering::lowered<heads>::value.outputs[0] == 1);
  CHECK(lowering::lowered<joint>::value.input_count == 2);
  CHECK(lowering::lowered<joint>::value.nodes[3].kind == op::relu);
}

static constexpr auto bare = input{.h = 2, .w = 2, .c = 2} | [](tensor x) { return x; };
TEST_CASE("a network may do nothing") {
  auto const& g = lowering::lowered<bare>::value;
  REQUIRE(g.node_count == 2);
  CHECK(g.nodes[1].kind == op::identity);
  CHECK(g.outputs[0] == 1);
}

template <int Channels>
inline constexpr auto sized = input{.c = Channels} | relu{};
TEST_CASE("a network may be a variable template, and a local static") {
  CHECK(lowering::lowered<sized<3>>::value.nodes[1].out.c == 3);
  CHECK(lowering::lowered<sized<4>>::value.nodes[1].out.c == 4);
  static constexpr auto local = input{.c = 3} | sigmoid{};
  CHECK(lowering::lowered<local>::value.nodes[1].kind == op::sigmoid);
}

static constexpr auto trunk = without_last<2>(classifier);
static constexpr auto tail = input_after<trunk> | last<2>(classifier);
static constexpr auto shorter = without_last<1>(joint | sigmoid{});
TEST_CASE("a network can be taken apart where layers are joined, and its parts are what they were") {
  CHECK(lowering::lowered<trunk>::value.node_count == lowering::lowered<backbone>::value.node_count);
  CHECK(lowering::lowered<trunk>::value.nodes[1].kind == op::conv2d);
  CHECK(input_after<trunk>.h == 6);
  CHECK(input_after<trunk>.w == 6);
  CHECK(input_after<trunk>.c == 4);
  auto const& g = lowering::lowered<tail>::value;
  CHECK(g.nodes[1].kind == op::global_avg_pool);
  CHECK(g.nodes[2].kind == op::linear);
  CHECK(g.nodes[g.outputs[0]].out == shape{1, 1, 1, 10});
  CHECK(lowering::lowered<trunk>::value.parameters + g.parameters == lowering::lowered<classifier>::value.parameters);
  CHECK(lowering::lowered<shorter>::value.input_count == 2);
  CHECK(lowering::lowered<shorter>::value.node_count == lowering::lowered<joint>::value.node_count);
}

static constexpr auto of_block = input{.h = 8, .w = 8, .c = 3} | (relu{} | conv2d{.out = 3, .kernel = 1}) | relu6{};
TEST_CASE("a block is one layer of the network that it is in") {
  static constexpr auto first = without_last<1>(of_block);
  CHECK(lowering::lowered<first>::value.node_count == 3);
}
