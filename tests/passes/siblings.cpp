// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operators are merged with their siblings, what happens to their readers, and which operators stay separate.
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using ago::passes::has_siblings;
using ago::passes::merging;
using ago::passes::optimized;

namespace {

inline constexpr auto image = input{.n = 2, .h = 6, .w = 8, .c = 4};
inline constexpr merging all{horizontal_fusion::always};

template <auto const& Net>
constexpr auto const& merged = optimized<Net, algebra::exact, all>::value;
template <auto const& Net>
constexpr bool stays = !has_siblings(optimized<Net>::value, all) && &merged<Net> == &optimized<Net>::value;

/// Operators with weights.
template <auto const& Net>
constexpr int products() {
  int n = 0;
  for (node const& v : merged<Net>.nodes) n += has_weights(v.kind);
  return n;
}

constexpr auto one(tensor x) { return x | global_max_pool{}; }  // a reader that takes slices

}  // namespace

#define NET(name, ...) static constexpr auto name = image | __VA_ARGS__

NET(attending, [](tensor x) { return attention{2}(x | linear{8}, x | linear{8}, x | linear{8}); });
TEST_CASE("three projections of one value become one, and the attention reads slices of it") {
  constexpr auto const& g = merged<attending>;
  op const kinds[] = {op::input, op::linear,           op::bias,    op::slice,           op::slice,
                      op::slice, op::attention_scores, op::softmax, op::attention_values};
  REQUIRE(g.node_count == 9);
  for (int v = 0; v < 9; ++v) CHECK(g.nodes[v].kind == kinds[v]);
  CHECK(g.nodes[1].out == shape{2, 6, 8, 24});
  CHECK(g.nodes[1].weight == 0);
  CHECK(g.nodes[1].siblings[0] == sibling{8, 40, -1, -1});
  CHECK(g.nodes[1].siblings[1] == sibling{8, 80, -1, -1});
  CHECK(g.nodes[1].siblings[2].channels == 0);
  CHECK(g.nodes[2].shift == 32);
  CHECK(g.nodes[2].siblings[0] == sibling{8, -1, 72, -1});
  CHECK(g.nodes[2].siblings[1] == sibling{8, -1, 112, -1});
  for (int k = 0; k < 3; ++k) {
    CHECK(g.operand(3 + k) == 2);
    CHECK(g.nodes[3 + k].begin == 8 * k);
    CHECK(g.nodes[3 + k].out.c == 8);
  }
  CHECK(g.parameters == optimized<attending>::value.parameters);
}

NET(joined, [](tensor x) {
  auto const part = [](int out) { return conv2d{.out = out, .kernel = 3} | batch_norm{} | relu{}; };
  return concat(x | part(3), x | part(5)) | relu6{};
});
TEST_CASE("branches that are concatenated anyway become the concatenation") {
  constexpr auto const& g = merged<joined>;
  op const kinds[] = {op::input, op::conv2d, op::bias, op::relu6};
  REQUIRE(g.node_count == 4);
  for (int v = 0; v < 4; ++v) CHECK(g.nodes[v].kind == kinds[v]);
  CHECK(g.nodes[1].out.c == 8);
  CHECK(g.nodes[1].siblings[0].norm == g.nodes[2].siblings[0].norm);
  CHECK(g.nodes[1].siblings[0].norm == 3 * 36 + 12 + 5 * 36);
  CHECK(g.outputs[0] == 3);
}

NET(exchanged, [](tensor x) {
  tensor const a = x | pointwise{3}, b = x | pointwise{5};
  return concat(b, a);
});
TEST_CASE("merged branches have the order of the concatenation, not of recording") {
  constexpr auto const& g = merged<exchanged>;
  REQUIRE(g.node_count == 2);
  CHECK(g.nodes[1].weight == 12);
  CHECK(g.nodes[1].siblings[0] == sibling{3, 0, -1, -1});
}

NET(six, [](tensor x) {
  return concat(one(x | pointwise{1}), one(x | pointwise{2}), one(x | pointwise{3}), one(x | pointwise{4}),
                one(x | pointwise{5}), one(x | pointwise{6}));
});
NET(two_kinds, [](tensor x) {
  tensor const a = x | pointwise{4}, b = x | linear{.out = 4, .bias = false}, c = x | pointwise{4};
  return concat(one(a), one(b), one(c), one(x | linear{.out = 5, .bias = false}));
});
NET(read_twice, [](tensor x) {
  tensor const a = x | pointwise{4}, b = x | pointwise{4};
  return concat(a * one(a), b + (b | relu{}));
});
TEST_CASE("groups have at most four members of one kind, and each may have several readers") {
  static_assert(products<six>() == 2);
  static_assert(products<two_kinds>() == 2);
  static_assert(products<read_twice>() == 1);
}

NET(fire,
    [](tensor x) { return concat(x | pointwise{8} | relu{}, x | conv2d{.out = 8, .kernel = 3, .pad = 1} | relu{}); });
NET(other_strides, [](tensor x) {
  return concat(one(x | conv2d{.out = 4, .kernel = 3}), one(x | conv2d{.out = 4, .kernel = 3, .stride = 2}));
});
NET(grouped, [](tensor x) {
  auto const part = conv2d{.out = 4, .kernel = 3, .groups = 2};
  return concat(one(x | part), one(x | part));
});
NET(depthwise_twice, [](tensor x) { return one(x | depthwise{.kernel = 3}) + one(x | depthwise{.kernel = 3}); });
NET(other_activations,
    [](tensor x) { return concat(one(x | pointwise{4} | relu{}), one(x | pointwise{4} | relu6{})); });
NET(other_slopes,
    [](tensor x) { return concat(one(x | pointwise{4} | leaky_relu{.1f}), one(x | pointwise{4} | leaky_relu{.2f})); });
NET(other_epsilons,
    [](tensor x) { return concat(one(x | pointwise{4} | batch_norm{.1f}), one(x | pointwise{4} | batch_norm{.2f})); });
NET(one_bias, [](tensor x) { return concat(one(x | linear{4}), one(x | linear{.out = 4, .bias = false})); });
NET(other_values, [](tensor x) { return concat(one(x | pointwise{4}), one(x | relu{} | pointwise{4})); });
TEST_CASE("operators that differ in more than parameters and channels stay separate") {
  static_assert(stays<fire> && stays<other_strides> && stays<grouped> && stays<depthwise_twice>);
  static_assert(stays<other_activations> && stays<other_slopes> && stays<other_epsilons> && stays<one_bias>);
  static_assert(stays<other_values>);
}

NET(added_to, [](tensor x) { return (x | pointwise{4}) + (x | pointwise{4}) + x; });
NET(in_chains, [](tensor x) {
  return concat(x | pointwise{4} | depthwise{.kernel = 3}, x | pointwise{4} | depthwise{.kernel = 3});
});
NET(reshaped, [](tensor x) {
  return concat(x | pointwise{4} | reshape{.h = 1, .w = 48}, x | pointwise{4} | reshape{.h = 1, .w = 48});
});
NET(apart_in_concat, [](tensor x) { return concat(x | pointwise{4}, x | relu{}, x | pointwise{4}); });
NET(in_two, [](tensor x) {
  tensor const a = x | pointwise{4}, b = x | pointwise{4};
  return outputs(concat(a, b), concat(b, a));
});
NET(gating, [](tensor x) {
  tensor const y = x | global_max_pool{};
  return x * (y | pointwise{4}) + x * (y | pointwise{4});
});
TEST_CASE("operators stay separate if slices would cost their readers more") {
  static_assert(stays<added_to> && stays<in_chains> && stays<reshaped> && stays<gating>);
  static_assert(stays<apart_in_concat> && stays<in_two>);
}

NET(given_out, [](tensor x) {
  tensor const a = x | pointwise{4} | relu{};
  return outputs(a, x | pointwise{5} | relu{}, a | global_max_pool{});
});
TEST_CASE("branches that are outputs become slices") {
  constexpr auto const& g = merged<given_out>;
  op const kinds[] = {op::input, op::pointwise, op::relu, op::slice, op::slice, op::global_max_pool};
  REQUIRE(g.node_count == 6);
  for (int v = 0; v < 6; ++v) CHECK(g.nodes[v].kind == kinds[v]);
  CHECK((g.outputs[0] == 3 && g.outputs[1] == 4 && g.outputs[2] == 5));
  CHECK((g.nodes[3].begin == 0 && g.nodes[3].out.c == 4 && g.nodes[4].begin == 4 && g.nodes[4].out.c == 5));
  CHECK(g.operand(5) == 3);
}

NET(joined_between, [](tensor x) {
  tensor const a = x | pointwise{4}, b = x | pointwise{5}, c = x | pointwise{6}, d = x | pointwise{7};
  return concat(x, b, a, x | relu{}, d, c, a | global_max_pool{} | resize_nearest{6, 8}, x);
});
TEST_CASE("branches that a concatenation joins side by side become one of its operands") {
  constexpr auto const& g = merged<joined_between>;  // a has two readers, so b has no sibling next to it
  int const last = g.outputs[0];
  REQUIRE(g.nodes[last].kind == op::concat);
  REQUIRE(g.nodes[last].input_count == 7);
  node const& both = g.source(last, 4);
  CHECK((both.kind == op::pointwise && both.out.c == 13));
  CHECK(both.weight == 4 * 4 + 4 * 5 + 4 * 6);  // d comes first
  CHECK(both.siblings[0] == sibling{6, 4 * 4 + 4 * 5, -1, -1});
  CHECK(g.nodes[last].out == optimized<joined_between>::value.nodes[optimized<joined_between>::value.outputs[0]].out);
  static_assert(products<joined_between>() == 3);
}

/// Whether siblings with these channels would be merged, on an image of so many pixels, with a window of `kernel`.
template <int Width, int Kernel, int... Channels>
inline constexpr auto family = input{.h = 10, .w = Width, .c = 16} | [](tensor x) {
  return concat(one(x | conv2d{.out = Channels, .kernel = Kernel, .pad = Kernel / 2})...);
};
template <int Lanes, int Width, int Kernel, int... Channels>
constexpr bool pays = has_siblings(optimized<family<Width, Kernel, Channels...>>::value,
                                   {horizontal_fusion::where_it_pays, Lanes, 256 << 10});
TEST_CASE("merging pays if registers are filled better, or if a value is read or transformed once instead of twice") {
  static_assert(!pays<8, 10, 1, 16, 16, 32>);
  static_assert(pays<8, 10, 1, 20, 20, 32>);   // 3 + 3 + 4 registers become 9
  static_assert(!pays<8, 10, 1, 20, 16, 32>);  // 3 + 2 + 4 remain 9
  static_assert(pays<8, 10, 1, 8, 16, 32>);    // one register alone loads more than it multiplies
  static_assert(pays<16, 10, 1, 16, 16>);
  static_assert(!pays<8, 163, 1, 16, 16, 32>);  // 104,320 bytes; two fifths of L2 are 104,857
  static_assert(pays<8, 164, 1, 16, 16, 32>);
  static_assert(pays<8, 10, 3, 16, 16, 32>);
  static_assert(!pays<8, 10, 5, 16, 16, 32>);
  static_assert(!has_siblings(optimized<family<10, 3, 20, 20>>::value, {horizontal_fusion::off, 8}));
}

template <int In, int... Channels>
inline constexpr auto heads =
    input{.h = 10, .w = 10, .c = In} | [](tensor x) { return outputs((x | pointwise{Channels})...); };
template <int In, int... Channels>
constexpr bool pays_with_copies =
    has_siblings(optimized<heads<In, Channels...>>::value, {horizontal_fusion::where_it_pays, 8, 64 << 10});
TEST_CASE("outputs are merged if this saves more than copying them costs") {
  static_assert(pays_with_copies<17, 1, 1>);  // a register less, 17 multiply-adds a pixel; copies take as long as 16
  static_assert(!pays_with_copies<16, 1, 1>);
  static_assert(!pays_with_copies<32, 8, 8>);     // no register less
  static_assert(!pays_with_copies<128, 32, 32>);  // the value is read once instead of twice: 128 floats a pixel; 2 * 64
  static_assert(pays_with_copies<128, 32, 24>);
}
