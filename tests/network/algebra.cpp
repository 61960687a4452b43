// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algebra: sequences, sums, products, branches, repetitions, names.
#include "run_time_trace.hpp"

#include <ago/network/check.hpp>
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string_view>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;

namespace {

/// The operators of a graph in order.
template <int V, int E, int O>
bool reads(graph<V, E, O> const& g, std::initializer_list<op> kinds) {
  int v = 0;
  for (op kind : kinds)
    if (v == g.node_count || g.nodes[v++].kind != kind) return false;
  return v == g.node_count;
}

constexpr tensor widen(tensor x) { return x | pointwise{2 * x.channels()}; }
inline constexpr auto image = input{.h = 6, .w = 5, .c = 4};

}  // namespace

static constexpr auto chain = image | (relu{} | (sigmoid{} | silu{})) | widen | [](tensor x) { return x | gelu{}; };
TEST_CASE("layers, sequences of layers, functions and lambdas chain by |") {
  auto const& g = lowering::lowered<chain>::value;
  CHECK(reads(g, {op::input, op::relu, op::sigmoid, op::silu, op::pointwise, op::gelu}));
  for (int v = 1; v < g.node_count; ++v) CHECK(g.operand(v) == v - 1);
  CHECK(g.nodes[5].out == shape{1, 6, 5, 8});
  CHECK(g.outputs[0] == 5);
  CHECK(g.node_capacity == g.node_count);
  CHECK(g.edge_capacity == g.edge_count);
}

static constexpr auto sums = trace(
    [](tensor x, tensor gate) {
      tensor const a = x + (x | relu{});
      return gate * a + (a * gate + gate);
    },
    image, input{.c = 4});
TEST_CASE("+ and * put the whole image first and broadcast a single pixel") {
  auto const& g = lowering::lowered<sums>::value;
  REQUIRE(reads(g, {op::input, op::input, op::relu, op::add, op::mul, op::mul, op::add, op::add}));
  CHECK(g.operand(3, 0) == 0);
  CHECK(g.operand(3, 1) == 2);
  for (int mul : {4, 5}) {
    CHECK(g.operand(mul, 0) == 3);
    CHECK(g.operand(mul, 1) == 1);
    CHECK(g.nodes[mul].out == shape{1, 6, 5, 4});
  }
  CHECK(g.operand(6, 0) == 5);
  CHECK(g.operand(6, 1) == 1);
  CHECK(lowering::check<sums>::ok);
}

static constexpr auto pixels = trace([](tensor a, tensor b) { return a * b; }, input{.c = 4}, input{.c = 4});
TEST_CASE("two single pixels keep their order") {
  auto const& g = lowering::lowered<pixels>::value;
  CHECK(g.operand(2, 0) == 0);
  CHECK(g.operand(2, 1) == 1);
}

static constexpr auto batch =
    trace([](tensor x, tensor gate) { return gate * x; }, input{.n = 3, .h = 2, .w = 2, .c = 4}, input{.n = 3, .c = 4});
TEST_CASE("a gate has one pixel per image of a batch") {
  auto const& g = lowering::lowered<batch>::value;
  CHECK(g.operand(2, 0) == 0);
  CHECK(g.nodes[2].out == shape{3, 2, 2, 4});
  CHECK(lowering::check<batch>::ok);
}

static constexpr auto with_residual = image | residual{pointwise{4} | relu{}};
TEST_CASE("a residual adds its input") {
  auto const& g = lowering::lowered<with_residual>::value;
  REQUIRE(reads(g, {op::input, op::pointwise, op::relu, op::add}));
  CHECK(g.operand(3, 0) == 0);
  CHECK(g.operand(3, 1) == 2);
  CHECK(g.nodes[3].layer == 3);
}

static constexpr auto combined = image | identity{} * (global_avg_pool{} | sigmoid{}) | (relu{} + sigmoid{});
TEST_CASE("layers add and multiply like the values they produce") {
  auto const& g = lowering::lowered<combined>::value;
  REQUIRE(
      reads(g, {op::input, op::identity, op::global_avg_pool, op::sigmoid, op::mul, op::relu, op::sigmoid, op::add}));
  CHECK(g.operand(4, 0) == 1);
  CHECK(g.operand(4, 1) == 3);
  CHECK(g.operand(7, 0) == 5);
  CHECK(g.operand(7, 1) == 6);
}

static constexpr auto repeated = image | repeat{3, pointwise{7}} | repeat{0, relu{}};
TEST_CASE("every repetition records the layer again, with parameters of its own") {
  auto const& g = lowering::lowered<repeated>::value;
  REQUIRE(reads(g, {op::input, op::pointwise, op::pointwise, op::pointwise}));
  CHECK(g.nodes[1].weight == 0);
  CHECK(g.nodes[2].weight == 28);
  CHECK(g.nodes[3].weight == 77);
  CHECK(g.parameters == 126);
}

static constexpr auto joined = image | concat(pointwise{3}, identity{} | relu{}, widen) |
                               [](tensor x) { return concat(x, x | relu{}, x, concat(x)); } | concat(relu{});
TEST_CASE("concat joins any number of layers and tensors") {
  auto const& g = lowering::lowered<joined>::value;
  REQUIRE(reads(g, {op::input, op::pointwise, op::identity, op::relu, op::pointwise, op::concat, op::relu, op::concat,
                    op::relu}));
  CHECK(g.nodes[5].input_count == 3);
  CHECK(g.operand(5, 0) == 1);
  CHECK(g.operand(5, 1) == 3);
  CHECK(g.operand(5, 2) == 4);
  CHECK(g.nodes[5].out == shape{1, 6, 5, 15});
  CHECK(g.nodes[7].input_count == 4);
  CHECK(g.operand(7, 3) == 5);
  CHECK(g.nodes[7].out.c == 60);
}

static constexpr auto ordered = image | [](tensor x) {
  tensor const sum = (x | pointwise{5}) + (x | conv2d{.out = 5, .kernel = 3, .pad = 1});
  return concat(sum | bias{}, sum | linear{.out = 1, .bias = false},
                (sum | depthwise{.pad = 1}) * (sum | batch_norm{}));
};
TEST_CASE("operands are recorded from left to right, so that parameters have one order on every compiler") {
  CHECK(reads(lowering::lowered<ordered>::value, {op::input, op::pointwise, op::conv2d, op::add, op::bias, op::linear,
                                                  op::depthwise, op::batch_norm, op::mul, op::concat}));
}

/// Checks the names of a network's operators, beginning with its inputs; null: no name.
template <int N>
void check_names(auto const& g, char const* const (&expected)[N]) {
  REQUIRE(g.node_count == N);
  for (int v = 0; v < N; ++v) {
    CAPTURE(v);
    char const* const name = g.nodes[v].name;
    if (expected[v] && name) CHECK(std::string_view(name) == expected[v]);
    else CHECK(name == expected[v]);
  }
}

static constexpr auto names = image | named("stem", pointwise{2} | relu{}) | relu{} |
                              named("block", bias{} | named("gate", linear{3}) | relu{}) | named("", relu{});
TEST_CASE("a name applies to all that its layer records; nested names are joined") {
  auto const& g = lowering::lowered<names>::value;
  REQUIRE(reads(g, {op::input, op::pointwise, op::relu, op::relu, op::bias, op::linear, op::bias, op::relu, op::relu}));
  check_names(g, {nullptr, "stem", "stem", nullptr, "block", "block.gate", "block.gate", "block", nullptr});
  auto const& optimised = optimized<names>::value;
  CHECK(std::string_view(optimised.nodes[optimised.outputs[0]].name) == "block");  // of two relus, the first
}

static constexpr auto numbers = image | named("a", repeat{2, relu{} | named("b", 10, sigmoid{})}) |
                                named("c", repeat{2, named("d", repeat{2, relu{}})}) |
                                named("e", 0, repeat{1, named("", relu{})}) | named("f", relu{} | repeat{2, relu{}}) |
                                repeat{2, named("g", relu{})};
TEST_CASE("a name numbers the repetitions directly below it") {
  check_names(lowering::lowered<numbers>::value, {nullptr, "a.0", "a.0.b.10", "a.1", "a.1.b.10", "c.0.d.0", "c.0.d.1",
                                                  "c.1.d.0", "c.1.d.1", "e.0.0", "f", "f", "f", "g", "g"});
}

TEST_CASE("names are accepted outside a network, where nothing records them") {
  CHECK((tensor{} | named("a", repeat{2, named("b", relu{})})).recorder == nullptr);
}

static constexpr int lines_begin = __LINE__;
static constexpr auto lines = image | [](tensor x) {
  tensor y = x + x;  // + 2
  y = y * y;         // + 3
  y = concat(y, x);  // + 4
  y = y | residual{
              relu{}  // + 6
          };  // residual: + 5 ... + 7
  return concat(y, y);  // + 8
};
TEST_CASE("operators record their lines too") {
  auto const& g = lowering::lowered<lines>::value;
  REQUIRE(reads(g, {op::input, op::add, op::mul, op::concat, op::relu, op::add, op::concat}));
  CHECK(g.nodes[1].line == lines_begin + 2);
  CHECK(g.nodes[2].line == lines_begin + 3);
  CHECK(g.nodes[3].line == lines_begin + 4);
  CHECK(g.nodes[4].line == lines_begin + 6);
  CHECK(g.nodes[5].line >= lines_begin + 5);
  CHECK(g.nodes[5].line <= lines_begin + 7);
  CHECK(g.nodes[6].line == lines_begin + 8);
}

static constexpr auto decided = image | [](tensor x) {
  for (int i = 0; i < 3; ++i) x = x.channels() < 10 ? x | pointwise{x.channels() * 2} : x | relu{};
  return x.height() == 6 && x.width() == 5 && x.images() == 1 ? x : x | sigmoid{};
};
TEST_CASE("extents decide what is recorded") {
  CHECK(reads(lowering::lowered<decided>::value, {op::input, op::pointwise, op::pointwise, op::relu}));
}
