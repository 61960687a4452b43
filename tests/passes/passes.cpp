// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The effect of each pass, and what it must leave alone.
#include <ago/passes/optimized.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <initializer_list>

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;
using namespace ago::passes;

namespace {

template <int V, int E, int O>
bool reads(graph<V, E, O> const& g, std::initializer_list<op> kinds) {
  int v = 0;
  for (op kind : kinds)
    if (v == g.node_count || g.nodes[v++].kind != kind) return false;
  return v == g.node_count;
}

inline constexpr auto image = input{.h = 6, .w = 5, .c = 4};

}  // namespace

static constexpr auto conv_norm = image | conv2d{.out = 8, .kernel = 3} | batch_norm{.epsilon = .25f} | relu{};
TEST_CASE("a batch norm after a convolution becomes its bias") {
  constexpr auto g = fold_batch_norm(lowering::lowered<conv_norm>::value);
  REQUIRE(reads(g, {op::input, op::conv2d, op::bias, op::relu}));
  CHECK(g.nodes[1].norm == 4 * 8 * 9);
  CHECK(g.nodes[1].alpha == .25f);
  CHECK(g.nodes[1].weight == 0);
  CHECK(g.nodes[2].norm == g.nodes[1].norm);
  CHECK(g.nodes[2].alpha == .25f);
  CHECK(g.nodes[2].shift == -1);
  CHECK(g.operand(2) == 1);
  CHECK(g.parameters == lowering::lowered<conv_norm>::value.parameters);
}

static constexpr auto conv_bias_norm = image | linear{8} | batch_norm{} | relu{};
TEST_CASE("a batch norm after a convolution's bias is folded into both") {
  constexpr auto g = fold_batch_norm(lowering::lowered<conv_bias_norm>::value);
  REQUIRE(reads(g, {op::input, op::linear, op::bias, op::relu}));
  CHECK(g.nodes[1].norm == 4 * 8 + 8);
  CHECK(g.nodes[2].norm == 4 * 8 + 8);
  CHECK(g.nodes[2].shift == 4 * 8);
  CHECK(g.nodes[2].alpha == 1e-5f);
  CHECK(g.operand(3) == 2);
  CHECK(g.edge_count == 3);
}

static constexpr auto two_norms = image | pointwise{8} | batch_norm{} | batch_norm{};
TEST_CASE("of two batch norms, the second stays") {
  CHECK(reads(fold_batch_norm(lowering::lowered<two_norms>::value),
              {op::input, op::pointwise, op::bias, op::batch_norm}));
}

static constexpr auto read_twice = image | pointwise{4} | [](tensor x) { return x + (x | batch_norm{}); };
static constexpr auto bias_read_twice = image | linear{4} | [](tensor x) { return x + (x | batch_norm{}); };
static constexpr auto conv_below_bias_read_twice =
    image | pointwise{4} | [](tensor x) { return x + (x | bias{} | batch_norm{}); };
static constexpr auto conv_is_output = image | pointwise{4} | [](tensor x) { return outputs(x, x | batch_norm{}); };
static constexpr auto bias_is_output = image | linear{4} | [](tensor x) { return outputs(x, x | batch_norm{}); };
static constexpr auto norm_first = image | batch_norm{} | pointwise{4};
static constexpr auto norm_after_relu = image | pointwise{4} | relu{} | batch_norm{};
static constexpr auto norm_after_lone_bias = image | bias{} | batch_norm{};
static constexpr auto norm_after_two_biases = image | linear{4} | bias{} | batch_norm{};
TEST_CASE("a batch norm stays if the convolution has other readers, or if there is none") {
  auto const stays = [](auto const& g) {
    auto const after = fold_batch_norm(g);
    if (after.node_count != g.node_count || after.edge_count != g.edge_count) return false;
    for (int v = 0; v < g.node_count; ++v)
      if (after.nodes[v].kind != g.nodes[v].kind || after.nodes[v].norm != g.nodes[v].norm) return false;
    return true;
  };
  CHECK(stays(lowering::lowered<read_twice>::value));
  CHECK(stays(lowering::lowered<bias_read_twice>::value));
  CHECK(stays(lowering::lowered<conv_below_bias_read_twice>::value));
  CHECK(stays(lowering::lowered<conv_is_output>::value));
  CHECK(stays(lowering::lowered<bias_is_output>::value));
  CHECK(stays(lowering::lowered<norm_first>::value));
  CHECK(stays(lowering::lowered<norm_after_relu>::value));
  CHECK(stays(lowering::lowered<norm_after_lone_bias>::value));
  CHECK(stays(lowering::lowered<norm_after_two_biases>::value));
}

static constexpr auto norm_is_output = image | pointwise{4} | [](tensor x) {
  tensor const y = x | batch_norm{};
  return outputs(y, y | relu{}, y | sigmoid{});
};
static constexpr auto bias_norm_is_output = image | linear{4} | batch_norm{};
TEST_CASE("a batch norm that is an output or has many readers is folded") {
  constexpr auto g = fold_batch_norm(lowering::lowered<norm_is_output>::value);
  REQUIRE(reads(g, {op::input, op::pointwise, op::bias, op::relu, op::sigmoid}));
  CHECK(g.outputs[0] == 2);
  constexpr auto h = fold_batch_norm(lowering::lowered<bias_norm_is_output>::value);
  REQUIRE(reads(h, {op::input, op::linear, op::bias}));
  CHECK(h.outputs[0] == 2);
}

static constexpr auto full_of_identities = input{.h = 6, .w = 5, .c = 4} | [](tensor x) {
  x = x | identity{} | relu{} | identity{} | identity{} | max_pool{.kernel = 1} | avg_pool{.kernel = 1};
  x = x | global_avg_pool{} | global_avg_pool{} | global_max_pool{} | max_pool{.kernel = 2, .stride = 1, .pad = same};
  return x | identity{};
};
TEST_CASE("identities, windows of one pixel and pools of one pixel disappear") {
  constexpr auto g = remove_identities(lowering::lowered<full_of_identities>::value);
  REQUIRE(reads(g, {op::input, op::relu, op::global_avg_pool, op::max_pool}));
  CHECK(g.outputs[0] == 3);
  CHECK(g.edge_count == 3);
}

static constexpr auto strided = image | max_pool{.kernel = 1, .stride = 2} | avg_pool{.kernel = {2, 1}, .stride = 1};
static constexpr auto turned = input{.h = 6, .w = 5, .c = 4, .layout = layout::nchw} | relu{} | to_nchw{};
static constexpr auto gray = input{.h = 6, .w = 5, .c = 1, .layout = layout::nchw} | relu{} | to_nchw{};
static constexpr auto row = input{.w = 5, .c = 4, .layout = layout::nchw} | relu{} | to_nchw{};
static constexpr auto flat = input{.c = 9, .layout = layout::nchw} | relu{} | to_nchw{};
TEST_CASE("a permutation disappears only if memory stays as it is") {
  CHECK(remove_identities(lowering::lowered<strided>::value).node_count == 3);
  CHECK(remove_identities(lowering::lowered<turned>::value).node_count == 4);
  CHECK(remove_identities(lowering::lowered<row>::value).node_count == 4);
  CHECK(reads(remove_identities(lowering::lowered<gray>::value), {op::input, op::relu}));
  CHECK(reads(remove_identities(lowering::lowered<flat>::value), {op::input, op::relu}));
}

static constexpr auto copies = image | [](tensor x) {
  tensor const y = x | relu{};
  return outputs(x | identity{}, x, y, y | identity{}, y | sigmoid{} | identity{}, x | max_pool{.kernel = 1});
};
TEST_CASE("the copy of an input or of another output stays, as an identity") {
  constexpr auto g = remove_identities(lowering::lowered<copies>::value);
  REQUIRE(g.output_count == 6);
  op const kinds[] = {op::identity, op::identity, op::relu, op::identity, op::sigmoid, op::identity};
  for (int i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(g.nodes[g.outputs[i]].kind == kinds[i]);
    for (int j = 0; j < i; ++j) CHECK(g.outputs[i] != g.outputs[j]);
  }
  CHECK(g.nodes[g.outputs[5]].win == window{});
  CHECK(g.operand(g.outputs[3]) == g.outputs[2]);
}

static constexpr auto alike = image | [](tensor x) {
  tensor const a = (x | relu{}) + (x | sigmoid{}), b = (x | sigmoid{}) + (x | relu{});
  return concat(a | max_pool{}, b | max_pool{}, a | max_pool{.stride = 1, .pad = same} | max_pool{});
};
TEST_CASE("equal values are computed once, sums in either order") {
  constexpr auto g = common_subexpressions(lowering::lowered<alike>::value);
  REQUIRE(reads(g, {op::input, op::relu, op::sigmoid, op::add, op::max_pool, op::max_pool, op::max_pool, op::concat}));
  CHECK(g.operand(7, 0) == 4);
  CHECK(g.operand(7, 1) == 4);
  CHECK(g.operand(7, 2) == 6);
}

static constexpr auto different = image | [](tensor x) {
  return concat(x | leaky_relu{.1f}, x | leaky_relu{.2f}, x | clip{0, 1}, x | clip{0, 2}, x | pointwise{4},
                x | pointwise{4}, x | bias{}, x | bias{}, x | batch_norm{}, x | batch_norm{}, x | gelu{},
                x | gelu{.approximate = true}, x | map{[](auto v) { return v * v; }},
                x | map{[](auto v) { return -v; }}, x | avg_pool{.kernel = 3, .stride = 1, .pad = 1},
                x | avg_pool{.kernel = 3, .stride = 1, .pad = 1, .count_pads = false}, concat(x, x | relu{}),
                concat(x | relu{}, x));
};
TEST_CASE("values with different numbers, parameters or operands are not equal") {
  auto const& g = lowering::lowered<different>::value;
  CHECK(common_subexpressions(g).node_count == g.node_count - 1);  // the two relus
}

constexpr auto square = map{[](auto v) { return v * v; }};
static constexpr auto squares = image | [](tensor x) { return (x | square) + (x | square); };
TEST_CASE("one lambda on one value is computed once") {
  CHECK(reads(common_subexpressions(lowering::lowered<squares>::value), {op::input, op::map, op::add}));
}

static constexpr auto equal_outputs = image | [](tensor x) {
  tensor const a = x | relu{}, b = x | relu{}, c = x | relu{};
  return outputs(b, a | sigmoid{}, b | sigmoid{}, c | gelu{});
};
static constexpr auto late_outputs = image | [](tensor x) {
  tensor const a = x | relu{}, b = x | relu{}, c = x | relu{};
  return outputs(b, c, a | gelu{}, c | sigmoid{});
};
TEST_CASE("a value that has replaced an output does not replace another") {
  constexpr auto g = common_subexpressions(lowering::lowered<late_outputs>::value);
  REQUIRE(reads(g, {op::input, op::relu, op::identity, op::gelu, op::sigmoid}));
  CHECK(g.outputs[0] == 1);
  CHECK(g.outputs[1] == 2);
  CHECK(g.operand(2) == 1);
  CHECK(g.operand(3) == 1);
  CHECK(g.operand(4) == 1);  // the value, not its copy
}

TEST_CASE("of two equal outputs, the second becomes a copy of the first") {
  constexpr auto g = common_subexpressions(lowering::lowered<equal_outputs>::value);
  REQUIRE(reads(g, {op::input, op::relu, op::sigmoid, op::identity, op::gelu}));
  CHECK(g.outputs[0] == 1);
  CHECK(g.outputs[1] == 2);
  CHECK(g.outputs[2] == 3);
  CHECK(g.operand(3) == 2);
  CHECK(g.operand(4) == 1);
  CHECK(reads(optimize(g), {op::input, op::relu, op::sigmoid, op::identity, op::gelu}));
}

static constexpr auto dead = trace(
    [](tensor a, tensor unused) {
      (void)(unused | linear{3});
      tensor const side = a | pointwise{4} | batch_norm{};
      tensor const y = a | pointwise{5};
      (void)(y | relu{});
      (void)(side + side);
      return y | batch_norm{};
    },
    image, image);
TEST_CASE("dead code is removed; inputs and parameter offsets stay") {
  constexpr auto g = dead_code(lowering::lowered<dead>::value);
  REQUIRE(reads(g, {op::input, op::input, op::pointwise, op::batch_norm}));
  CHECK(g.input_count == 2);
  CHECK(g.parameters == lowering::lowered<dead>::value.parameters);
  CHECK(g.nodes[2].weight == 3 * 4 + 3 + 4 * 4 + 4 * 4);
  CHECK(g.operand(2) == 0);
}

TEST_CASE("dead readers do not prevent a batch norm from being folded") {
  CHECK(reads(optimize(lowering::lowered<dead>::value), {op::input, op::input, op::pointwise, op::bias}));
  CHECK(optimized<dead>::value.node_capacity == 4);
}

static constexpr auto tuple_in_disguise = image | pointwise{4} | [](tensor x) {
  tensor const twin = x | identity{};
  return (x | batch_norm{} | identity{}) + (twin | identity{} | relu{} | gelu{});
};
TEST_CASE("identities do not hide a second reader from folding") {
  CHECK(reads(optimize(lowering::lowered<tuple_in_disguise>::value),
              {op::input, op::pointwise, op::batch_norm, op::relu, op::gelu, op::add}));
}

TEST_CASE("fit changes capacities and nothing else") {
  auto const& g = lowering::lowered<alike>::value;
  auto const roomy = fit<100, 200, 3>(g);
  CHECK(roomy.node_capacity == 100);
  CHECK(roomy.node_count == g.node_count);
  CHECK(roomy.edge_count == g.edge_count);
  CHECK(roomy.outputs[0] == g.outputs[0]);
  auto const passed = optimize(roomy), direct = fit<100, 200, 3>(optimize(g));
  CHECK(passed.node_count == direct.node_count);
  for (int e = 0; e < direct.edge_count; ++e) CHECK(passed.edges[e] == direct.edges[e]);
}
