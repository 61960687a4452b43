// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The effect of each algebraic rule on a network, and what it must leave alone.
#include <ago/passes/optimized.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;

namespace {

inline constexpr auto image = input{.n = 2, .h = 6, .w = 8, .c = 4};

/// Whether both have the same operators with the same numbers on the same operands, apart from origins and parameters.
template <int V, int E, int O, int V2, int E2, int O2>
constexpr bool alike(graph<V, E, O> const& a, graph<V2, E2, O2> const& b) {
  if (a.node_count != b.node_count || a.edge_count != b.edge_count || a.output_count != b.output_count) return false;
  for (int v = 0; v < a.node_count; ++v) {
    node const &x = a.nodes[v], &y = b.nodes[v];
    if (x.kind != y.kind || x.out != y.out || x.win != y.win || x.groups != y.groups) return false;
    if (x.count_pads != y.count_pads || x.transposed != y.transposed || x.axis != y.axis) return false;
    if (x.begin != y.begin || x.step != y.step || x.alpha != y.alpha || x.beta != y.beta) return false;
    for (int i = 0; i < 4; ++i)
      if (x.order[i] != y.order[i]) return false;
  }
  for (int e = 0; e < a.edge_count; ++e)
    if (a.edges[e] != b.edges[e]) return false;
  for (int i = 0; i < a.output_count; ++i)
    if (a.outputs[i] != b.outputs[i]) return false;
  return true;
}

/// Whether the rules, including `Rule`, turn the first network into the second, and do not unless they are allowed to.
template <rule Rule, auto const& Before, auto const& After>
constexpr bool becomes() {
  constexpr algebra needed = is_exact(Rule) ? algebra::exact : algebra::reassociate;
  constexpr algebra less = is_exact(Rule) ? algebra::literal : algebra::exact;
  return optimized<Before, needed>::applied[Rule] > 0 && optimized<Before, less>::applied[Rule] == 0 &&
         alike(optimized<Before, needed>::value, optimized<After, algebra::literal>::value);
}

template <auto const& Net>
constexpr bool stays = optimized<Net, algebra::reassociate>::applied.total() == 0;

}  // namespace

#define NET(name, ...) static constexpr auto name = image | __VA_ARGS__

NET(relu_twice, relu{} | relu{});
NET(relu_once, relu{});
NET(relu_of_pools, sigmoid{} | relu{} | max_pool{.kernel = 2} | reshape{.h = 1, .w = 12} | relu{});
NET(sigmoid_of_pools, sigmoid{} | max_pool{.kernel = 2} | reshape{.h = 1, .w = 12});
NET(positive_sum, [](tensor x) { return ((x | relu{}) + (x | relu6{})) | leaky_relu{.slope = .5f}; });
NET(sum, [](tensor x) { return (x | relu{}) + (x | relu6{}); });
NET(steep, leaky_relu{.slope = 1} | softmax{});
NET(only_softmax, softmax{});
NET(padded_relu, relu{} | pad{1, -2} | relu{});
NET(padded_relu_clipped, relu{} | pad{1, 2} | clip{0, 1});
TEST_CASE("a value within the bounds of a clamp is not clamped") {
  static_assert(becomes<rule::clamp_within_bounds, relu_twice, relu_once>());
  static_assert(becomes<rule::clamp_within_bounds, relu_of_pools, sigmoid_of_pools>());
  static_assert(becomes<rule::clamp_within_bounds, positive_sum, sum>());
  static_assert(becomes<rule::clamp_within_bounds, steep, only_softmax>());
  static_assert(stays<padded_relu> && stays<padded_relu_clipped>);
}

NET(clip_clip, clip{-3, 2} | clip{-1, 5});
NET(clip_once, clip{-1, 2});
NET(relu_relu6, relu{} | relu6{});
NET(relu6_once, relu6{});
NET(clip_relu, clip{-1, 6} | relu{});
NET(apart, clip{-3, -2} | clip{4, 5});
NET(one_value, clip{4, 4});
NET(seen_twice, clip{-3, 2} | [](tensor x) { return x + (x | relu{}); });
TEST_CASE("a clamp of a clamp is one clamp") {
  static_assert(becomes<rule::clamp_of_clamp, clip_clip, clip_once>());
  static_assert(becomes<rule::clamp_of_clamp, relu_relu6, relu6_once>());
  static_assert(becomes<rule::clamp_of_clamp, clip_relu, relu6_once>());
  static_assert(becomes<rule::clamp_of_clamp, apart, one_value>());
  static_assert(stays<seen_twice>);
}

NET(relu_pool, [](tensor x) { return concat(x, x | sigmoid{}) | relu{} | max_pool{.kernel = 2}; });
NET(pool_relu, [](tensor x) { return concat(x, x | sigmoid{}) | max_pool{.kernel = 2} | relu{}; });
NET(hard_global, hard_sigmoid{} | global_max_pool{});
NET(global_hard, global_max_pool{} | hard_sigmoid{});
NET(in_epilogue, pointwise{5} | relu{} | max_pool{.kernel = 2});
NET(same_size, relu{} | max_pool{.kernel = 3, .stride = 1, .pad = 1});
NET(falling, leaky_relu{.slope = -1} | max_pool{.kernel = 2});
NET(averaged, relu{} | avg_pool{.kernel = 2});
NET(read_again, relu{} | [](tensor x) { return outputs(x, x | global_max_pool{}); });
TEST_CASE("a non-decreasing function moves behind a maximum, unless the kernel before it has it for free") {
  static_assert(becomes<rule::clamp_after_pool, relu_pool, pool_relu>());
  static_assert(becomes<rule::clamp_after_pool, hard_global, global_hard>());
  static_assert(stays<in_epilogue> && stays<same_size> && stays<falling> && stays<averaged> && stays<read_again>);
}

NET(times_transpose, [](tensor x) { return matmul(x, x | sigmoid{} | permute{0, 1, 3, 2}); });
NET(times_transposed, [](tensor x) { return matmul(x, x | sigmoid{}, true); });
NET(times_other, [](tensor x) { return matmul(x, x | slice{0, 4, axis::columns} | permute{0, 1, 2, 3}); });
TEST_CASE("a product with a transposed value reads the original instead") {
  static_assert(becomes<rule::matmul_of_transpose, times_transpose, times_transposed>());
  static_assert(stays<times_other>);
}

NET(turned_twice, permute{0, 3, 1, 2} | permute{0, 3, 2, 1});
NET(turned_once, permute{0, 2, 1, 3});
NET(turned_back, relu{} | permute{0, 3, 1, 2} | permute{0, 2, 3, 1});
static constexpr auto row = input{.n = 3, .w = 5, .c = 7};
static constexpr auto row_turned = row | permute{0, 2, 1, 3};
static constexpr auto row_reshaped = row | reshape{.h = 5, .w = 1};
static constexpr auto row_exchanged = row | permute{1, 0, 2, 3};
static constexpr auto row_images = row | reshape{.n = 1, .h = 3};
static constexpr auto row_mixed = row | permute{0, 1, 3, 2};
NET(patch_of_one, unfold{1});
NET(tokens, reshape{.h = 1, .w = 48});
TEST_CASE("permutes of permutes are one, or reshapes if elements stay in order") {
  static_assert(becomes<rule::permute_of_permute, turned_twice, turned_once>());
  static_assert(becomes<rule::permute_of_permute, turned_back, relu_once>());
  static_assert(becomes<rule::permute_is_reshape, row_turned, row_reshaped>());
  static_assert(becomes<rule::permute_is_reshape, row_exchanged, row_images>());
  static_assert(becomes<rule::permute_is_reshape, patch_of_one, tokens>());
  static_assert(stays<row_mixed>);
}

NET(reshaped_twice, reshape{.h = 12, .w = 4} | reshape{.h = 3, .w = 16});
NET(reshaped_once, reshape{.h = 3, .w = 16});
NET(reshaped_back, relu{} | reshape{.h = 12, .w = 4} | reshape{.h = 6, .w = 8});
TEST_CASE("a reshape of a reshape is one") {
  static_assert(becomes<rule::reshape_of_reshape, reshaped_twice, reshaped_once>());
  static_assert(becomes<rule::reshape_of_reshape, reshaped_back, relu_once>());
}

NET(sliced_twice, slice{1, 3, axis::columns, 2} | slice{1, 2, axis::columns});
NET(sliced_once, slice{3, 2, axis::columns, 2});
NET(sliced_across, slice{1, 3, axis::columns} | slice{1, 2, axis::rows});
NET(sliced_back, slice{1, 6, axis::columns} | slice{.begin = 4, .count = 2, .axis = axis::columns, .step = -2});
NET(sliced_backwards, slice{.begin = 5, .count = 2, .axis = axis::columns, .step = -2});
NET(back_across, [](tensor x) {
  return concat(axis::rows, x, x | relu{}) | slice{.begin = 7, .count = 4, .axis = axis::rows, .step = -1};
});
NET(slice_of_second, [](tensor x) { return concat(x, x | relu{}) | slice{5, 2}; });
NET(slice_of_relu, relu{} | slice{1, 2});
NET(all_of_second, [](tensor x) { return concat(axis::rows, x, x | relu{}) | slice{6, 6, axis::rows}; });
NET(strided_slice, [](tensor x) { return concat(axis::rows, x, x | relu{}) | slice{7, 3, axis::rows, 2}; });
NET(slice_of_both, [](tensor x) { return concat(x, x | relu{}) | slice{3, 2}; });
NET(across_slice, [](tensor x) { return concat(x, x | relu{}) | slice{3, 2, axis::rows}; });
NET(relu_strided_slice, relu{} | slice{1, 3, axis::rows, 2});
TEST_CASE("a slice reads the value that it is part of") {
  static_assert(becomes<rule::slice_of_slice, sliced_twice, sliced_once>());
  static_assert(becomes<rule::slice_of_concat, slice_of_second, slice_of_relu>());
  static_assert(becomes<rule::slice_of_concat, all_of_second, relu_once>());
  static_assert(becomes<rule::slice_of_concat, strided_slice, relu_strided_slice>());
  static_assert(becomes<rule::slice_of_slice, sliced_back, sliced_backwards>());
  static_assert(stays<back_across>);
  static_assert(stays<sliced_across> && stays<slice_of_both> && stays<across_slice>);
}

NET(
    put_together, relu{} | [](tensor x) {
      auto const [a, b] = chunk<2>(x);
      return concat(a, b);
    });
NET(part_put_together,
    [](tensor x) { return concat(axis::rows, x | slice{1, 2, axis::rows}, x | slice{3, 1, axis::rows}); });
NET(part, slice{1, 3, axis::rows});
NET(exchanged, [](tensor x) {
  auto const [a, b] = chunk<2>(x);
  return concat(b, a);
});
NET(of_two_values, [](tensor x) { return concat(x | slice{0, 2}, x | relu{} | slice{2, 2}); });
NET(nested, [](tensor x) {
  tensor const y = x | relu{}, z = x | sigmoid{};
  return concat(concat(y, concat(z, y)), z);
});
NET(flat, [](tensor x) {
  tensor const y = x | relu{}, z = x | sigmoid{};
  return concat(y, z, y, z);
});
NET(nested_along_others, [](tensor x) { return concat(concat(axis::rows, x, x), concat(axis::rows, x, x | relu{})); });
NET(dense, [](tensor x) {
  tensor const y = concat(x, x | relu{});
  return concat(y, y | sigmoid{});
});
TEST_CASE("adjacent slices are one, and so are nested concatenations") {
  static_assert(becomes<rule::concat_of_slices, put_together, relu_once>());
  static_assert(becomes<rule::concat_of_slices, part_put_together, part>());
  static_assert(becomes<rule::concat_of_concat, nested, flat>());
  static_assert(optimized<nested>::applied[rule::concat_of_concat] == 2);
  static_assert(stays<exchanged> && stays<of_two_values> && stays<nested_along_others> && stays<dense>);
}

static constexpr auto twelve = input{.h = 4, .w = 6, .c = 12};
static constexpr auto shuffled_back = twelve | relu{} | channel_shuffle{3} | channel_shuffle{4};
static constexpr auto shuffled_on = twelve | relu{} | channel_shuffle{3} | channel_shuffle{3};
static constexpr auto twelve_relu = twelve | relu{};
static constexpr auto folded_back = twelve | relu{} | unfold{2} | fold{4, 6, 2};
static constexpr auto folded_otherwise = twelve | relu{} | unfold{2} | fold{2, 12, 2};
static constexpr auto other_patches = twelve | relu{} | unfold{{2, 1}} | fold{4, 6, {1, 2}};
static constexpr auto unfolded_back = twelve | relu{} | unfold{2} | softmax{} | fold{4, 6, 2} | unfold{2};
static constexpr auto unfolded = twelve | relu{} | unfold{2} | softmax{};
static constexpr auto round_trip = input{.h = 4, .w = 6, .c = 12, .layout = layout::nchw} | to_nchw{};
static constexpr auto copied = twelve | identity{};
static constexpr auto one_way = input{.h = 4, .w = 6, .c = 12, .layout = layout::nchw} | relu{} | to_nchw{};
TEST_CASE("movements that undo one another are removed") {
  static_assert(becomes<rule::shuffle_of_shuffle, shuffled_back, twelve_relu>());
  static_assert(becomes<rule::fold_of_unfold, folded_back, twelve_relu>());
  static_assert(becomes<rule::fold_of_unfold, unfolded_back, unfolded>());
  static_assert(becomes<rule::layout_round_trip, round_trip, copied>());
  static_assert(stays<shuffled_on> && stays<folded_otherwise> && stays<other_patches> && stays<one_way>);
}

NET(padded_twice, pad{1, 2} | pad{pads{.left = 3}, 2});
NET(padded_once, pad{pads{1, 4, 1, 1}, 2});
NET(padded_otherwise, pad{1, 2} | pad{1, 3});
NET(padded_channels,
    (pad{.sides = 1, .channels_before = 2}) | (pad{.sides = 0, .channels_before = 1, .channels_after = 3}));
NET(padded_channels_once, (pad{.sides = 1, .channels_before = 3, .channels_after = 3}));
NET(more_channels, (pad{.sides = 1, .channels_after = 1}) | conv2d{.out = 3, .kernel = 3});
NET(padded_conv, pad{pads{0, 0, 1, 1}} | conv2d{.out = 3, .kernel = 3, .stride = 2, .pad = pads{1, 0, 0, 0}});
NET(conv_with_pads, conv2d{.out = 3, .kernel = 3, .stride = 2, .pad = pads{1, 0, 1, 1}});
NET(padded_depthwise, pad{2} | depthwise{.kernel = 3});
NET(depthwise_with_pads, depthwise{.kernel = 3, .pad = 2});
NET(padded_average, pad{1} | avg_pool{.kernel = 3, .count_pads = false});
NET(average_with_pads, avg_pool{.kernel = 3, .pad = 1, .count_pads = true});
NET(padded_maximum, sigmoid{} | pad{1} | max_pool{.kernel = 3, .stride = 2});
NET(maximum_with_pads, sigmoid{} | max_pool{.kernel = 3, .stride = 2, .pad = 1});
NET(padded_by_ones, pad{1, 1} | conv2d{.out = 3, .kernel = 3});
NET(padded_pointwise, pad{1} | pointwise{3});
NET(padded_signed, pad{1} | max_pool{.kernel = 3, .stride = 2});
NET(padded_widely, sigmoid{} | pad{2} | max_pool{.kernel = 3, .stride = 2});
NET(padded_window_beyond,
    sigmoid{} | pad{pads{.bottom = 1}} | max_pool{.kernel = {2, 1}, .stride = {6, 1}, .ceil = true});
NET(partly_counted, pad{pads{.top = 1}} | avg_pool{.kernel = 3, .pad = pads{.left = 1}, .count_pads = false});
TEST_CASE("zeros around an image become pads") {
  static_assert(becomes<rule::pad_of_pad, padded_twice, padded_once>());
  static_assert(becomes<rule::pad_into_window, padded_conv, conv_with_pads>());
  static_assert(becomes<rule::pad_into_window, padded_depthwise, depthwise_with_pads>());
  static_assert(becomes<rule::pad_into_window, padded_average, average_with_pads>());
  static_assert(becomes<rule::pad_into_window, padded_maximum, maximum_with_pads>());
  static_assert(becomes<rule::pad_of_pad, padded_channels, padded_channels_once>());
  static_assert(stays<more_channels>);
  static_assert(stays<padded_otherwise> && stays<padded_by_ones> && stays<padded_pointwise> && stays<padded_signed>);
  static_assert(stays<padded_widely> && stays<partly_counted> && stays<padded_window_beyond>);
}

NET(resized_twice, resize_nearest{12, 16} | resize_nearest{36, 32});
NET(resized_once, resize_nearest{36, 32});
NET(resized_by_halves, resize_nearest{9, 8} | resize_nearest{18, 8});
NET(resized_by_centres, resize_nearest{12, 16} | resize_nearest{24, 32, sampling::half_pixel, rounding::nearest_or_up});
NET(resized_smoothly, resize_bilinear{12, 16} | resize_bilinear{24, 32});
NET(maximum_of_maxima, max_pool{.kernel = 3, .stride = 2, .pad = 1} | global_max_pool{});
NET(one_maximum, global_max_pool{});
NET(with_gaps, max_pool{.kernel = 1, .stride = 2} | global_max_pool{});
NET(short_of_the_edge, max_pool{.kernel = 4} | global_max_pool{});
TEST_CASE("repeated resizing or pooling is done once") {
  static_assert(becomes<rule::resize_of_resize, resized_twice, resized_once>());
  static_assert(becomes<rule::global_of_max_pool, maximum_of_maxima, one_maximum>());
  static_assert(stays<resized_by_centres>);
  static_assert(stays<resized_by_halves> && stays<resized_smoothly> && stays<with_gaps> && stays<short_of_the_edge>);
}

NET(constant_parts, [](tensor x) {
  tensor const table = x | constant{.n = 2, .h = 3, .w = 4, .c = 5};
  tensor const row = table | slice{1, 1, axis::images} | slice{1, 2, axis::rows} | permute{1, 0, 2, 3};
  return outputs(row | softmax{}, table | slice{1, 2, axis::rows} | softmax{});
});
TEST_CASE("a contiguous part of a trained value is a trained value") {
  constexpr auto const& g = optimized<constant_parts>::value;
  static_assert(optimized<constant_parts>::applied[rule::part_of_constant] == 3);
  op const kinds[] = {op::input, op::constant, op::constant, op::softmax, op::slice, op::softmax};
  REQUIRE(g.node_count == 6);
  for (int v = 0; v < 6; ++v) CHECK(g.nodes[v].kind == kinds[v]);
  CHECK(g.nodes[1].weight == 0);
  CHECK(g.nodes[2].weight == 60 + 20);
  CHECK(g.nodes[2].out == shape{2, 1, 4, 5});
}

NET(two_products, [](tensor x) {
  tensor const a = x | relu{}, b = x | sigmoid{};
  return (x * a) + (b * x);
});
NET(one_product, [](tensor x) {
  tensor const a = x | relu{}, b = x | sigmoid{};
  return x * (a + b);
});
NET(two_gates, [](tensor x) {
  tensor const a = x | global_max_pool{}, b = x | global_max_pool{} | relu{};
  return (x * a) + (x * b);
});
NET(one_gate, [](tensor x) {
  tensor const a = x | global_max_pool{}, b = x | global_max_pool{} | relu{};
  return x * (a + b);
});
NET(gates_in_turn, [](tensor x) {
  tensor const a = x | global_max_pool{}, b = a | relu{};
  return (x + a) + b;
});
NET(gates_together, [](tensor x) {
  tensor const a = x | global_max_pool{}, b = a | relu{};
  return x + (a + b);
});
NET(products_read_again, [](tensor x) {
  tensor const a = x * (x | relu{});
  return outputs(a, a + x * (x | sigmoid{}));
});
NET(other_factors,
    [](tensor x) { return (x | relu{}) * (x | sigmoid{}) + (x | softmax{}) * (x | hyperbolic_tangent{}); });
TEST_CASE("if reassociation is allowed, a common factor is taken out, and gates are joined first") {
  static_assert(becomes<rule::common_factor, two_products, one_product>());
  static_assert(becomes<rule::common_factor, two_gates, one_gate>());
  static_assert(becomes<rule::gates_first, gates_in_turn, gates_together>());
  static_assert(stays<products_read_again> && stays<other_factors>);
}

NET(stretched_both_ways, [](tensor x) { return (x * (x | global_max_pool{})) + (x * (x | slice{0, 1})); });
NET(stretched_one_way,
    [](tensor x) { return (x * (x | global_max_pool{} | slice{0, 1})) + (x * (x | global_max_pool{} | slice{1, 1})); });
NET(stretched_once, [](tensor x) {
  tensor const y = x | global_max_pool{};
  return x * ((y | slice{0, 1}) + (y | slice{1, 1}));
});
TEST_CASE("a factor common to two products is taken out only if one of the other factors has the shape of their sum") {
  static_assert(becomes<rule::common_factor, stretched_one_way, stretched_once>());
  static_assert(stays<stretched_both_ways>);
}

NET(mean_of_products, pointwise{5} | global_avg_pool{});
NET(product_of_mean, global_avg_pool{} | pointwise{5});
NET(mean_of_normed, linear{5} | batch_norm{} | avg_pool{.kernel = 2} | relu{});
NET(normed_mean, avg_pool{.kernel = 2} | linear{5} | batch_norm{} | relu{});
NET(mean_of_relus, pointwise{5} | relu{} | global_avg_pool{});
NET(mean_with_pads, pointwise{5} | avg_pool{.kernel = 2, .pad = 1, .count_pads = true});
NET(mean_of_means, avg_pool{.kernel = {3, 4}} | global_avg_pool{});
NET(mean, global_avg_pool{});
NET(mean_of_parts, avg_pool{.kernel = {4, 4}} | global_avg_pool{});
TEST_CASE("if reassociation is allowed, means are taken before products, and means of means once") {
  static_assert(becomes<rule::average_before_product, mean_of_products, product_of_mean>());
  static_assert(becomes<rule::average_before_product, mean_of_normed, normed_mean>());
  static_assert(becomes<rule::average_of_averages, mean_of_means, mean>());
  static_assert(stays<mean_of_relus> && stays<mean_with_pads> && stays<mean_of_parts>);
}

NET(
    dead_reader, clip{-3, 2} | [](tensor x) {
      (void)(x | gelu{});
      return x | clip{-1, 5};
    });
NET(hidden_reader, clip{-3, 2} | [](tensor x) { return (x | identity{} | relu{} | sigmoid{}) + (x | gelu{}); });
TEST_CASE("dead code does not hide a private value, identities do not hide a second reader") {
  static_assert(becomes<rule::clamp_of_clamp, dead_reader, clip_once>());
  static_assert(stays<hidden_reader>);
}

NET(chain, pad{1} | pad{1} | conv2d{.out = 8, .kernel = 3} | relu{} | relu6{} | clip{0, 5} | reshape{.h = 8, .w = 10} |
               reshape{.h = 80, .w = 1} | permute{0, 2, 1, 3} | identity{} | slice{1, 7} | slice{0, 3});
NET(chain_simplified, conv2d{.out = 8, .kernel = 3, .pad = 2} | clip{0, 5} | reshape{.h = 1, .w = 80} | slice{1, 3});
TEST_CASE("rules are applied to each other's results until none applies") {
  static_assert(becomes<rule::pad_into_window, chain, chain_simplified>());
}

TEST_CASE("rules have names of their own") {
  for (int a = 0; a < rules; ++a) {
    CHECK(*name_of(rule(a)) != 0);
    for (int b = 0; b < a; ++b) CHECK(std::string(name_of(rule(a))) != name_of(rule(b)));
  }
}
