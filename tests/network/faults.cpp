// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every misfit is recorded with the numbers that disagree, the first one is kept, and tracing continues to the end.
#include "run_time_trace.hpp"

#include <ago/passes/optimized.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;
using graph_test::run_time_trace;

namespace {

/// The misfit recorded when `l` reads an image of shape {1, 8, 6, 4}.
diagnostic misfit(layer auto const& l) {
  run_time_trace t;
  tensor const x = t.add({.h = 8, .w = 6, .c = 4});
  tensor const y = x | l;
  for (int v = 0; v < t.recorder.nodes.size; ++v) {
    shape const s = t.recorder.nodes[v].out;
    CHECK((s.n > 0 && s.h > 0 && s.w > 0 && s.c > 0));
  }
  CHECK(y.recorder == &t.recorder);
  return t.recorder.bad;
}

void check_misfit(diagnostic const& d, fault what, op where, int expected, int actual) {
  CAPTURE(int(what));
  CHECK(d.what == what);
  CHECK(name_of(d.where) == doctest::String(name_of(where)));
  CHECK(d.expected == expected);
  CHECK(d.actual == actual);
}

constexpr int huge = 2147483647;

}  // namespace

TEST_CASE("arguments must be positive, or not negative") {
  using enum fault;
  check_misfit(misfit(conv2d{}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = -3}), argument_must_be_positive, op::conv2d, 1, -3);
  check_misfit(misfit(conv2d{.out = 2, .kernel = 0}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = 2, .kernel = {3, -1}}), argument_must_be_positive, op::conv2d, 1, -1);
  check_misfit(misfit(conv2d{.out = 2, .stride = 0}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = 2, .kernel = 3, .stride = {1, 0}, .pad = same}), argument_must_be_positive,
               op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = 2, .dilation = 0}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = 2, .groups = 0}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv2d{.out = 2, .pad = -1}), argument_must_not_be_negative, op::conv2d, 0, -1);
  check_misfit(misfit(conv2d{.out = 2, .pad = pads{.bottom = -2}}), argument_must_not_be_negative, op::conv2d, 0, -2);
  check_misfit(misfit(pointwise{0}), argument_must_be_positive, op::pointwise, 1, 0);
  check_misfit(misfit(linear{-1}), argument_must_be_positive, op::linear, 1, -1);
  check_misfit(misfit(depthwise{.multiplier = 0}), argument_must_be_positive, op::depthwise, 1, 0);
  check_misfit(misfit(max_pool{.stride = 0}), argument_must_be_positive, op::max_pool, 1, 0);
  check_misfit(misfit(avg_pool{.kernel = 0}), argument_must_be_positive, op::avg_pool, 1, 0);
  check_misfit(misfit(batch_norm{.epsilon = -1.f}), argument_must_not_be_negative, op::batch_norm, 0, -1);
  check_misfit(misfit(repeat{-2, relu{}}), argument_must_not_be_negative, op::identity, 0, -2);
  check_misfit(misfit(clip{.lo = 1, .hi = 0}), bounds_are_reversed, op::clip, 0, 0);
}

TEST_CASE("the extents of an input must be positive") {
  run_time_trace t;
  tensor const x = t.add({.n = 1, .h = 0, .w = 5, .c = 3});
  check_misfit(t.recorder.bad, fault::argument_must_be_positive, op::input, 1, 0);
  CHECK(x.height() == 1);
}

TEST_CASE("groups must divide channels and outputs") {
  check_misfit(misfit(conv2d{.out = 6, .groups = 3}), fault::channels_not_divisible_by_groups, op::conv2d, 3, 4);
  check_misfit(misfit(conv2d{.out = 6, .groups = 4}), fault::outputs_not_divisible_by_groups, op::conv2d, 4, 6);
  check_misfit(misfit(conv2d{.out = 8, .groups = 8}), fault::channels_not_divisible_by_groups, op::conv2d, 8, 4);
}

TEST_CASE("a window must fit into the image with its pads") {
  using enum fault;
  check_misfit(misfit(conv2d{.out = 2, .kernel = 9}), window_exceeds_input, op::conv2d, 9, 8);
  check_misfit(misfit(conv2d{.out = 2, .kernel = {9, 7}, .pad = {1, 0}}), window_exceeds_input, op::conv2d, 7, 6);
  check_misfit(misfit(depthwise{.kernel = 3, .dilation = 4}), window_exceeds_input, op::depthwise, 9, 8);
  check_misfit(misfit(max_pool{.kernel = 7}), window_exceeds_input, op::max_pool, 7, 6);
  CHECK(misfit(conv2d{.out = 2, .kernel = {8, 6}}).what == none);
}

TEST_CASE("the pad of a pooling is at most half its window") {
  using enum fault;
  check_misfit(misfit(max_pool{.kernel = 3, .pad = 2}), pad_exceeds_half_of_window, op::max_pool, 1, 2);
  check_misfit(misfit(avg_pool{.kernel = 2, .pad = pads{.right = 2}}), pad_exceeds_half_of_window, op::avg_pool, 1, 2);
  CHECK(misfit(avg_pool{.kernel = {2, 3}, .pad = 1}).what == none);
  check_misfit(misfit(global_avg_pool{} | max_pool{.kernel = 2, .stride = 1, .pad = 2, .dilation = 3}),
               window_misses_the_image, op::max_pool, 1, 0);
}

TEST_CASE("extents of the operands of + and similar operators are equal, or one of them is 1") {
  using enum fault;
  auto const body = [](layer auto const& branch) { return [=](tensor x) { return x + (x | branch); }; };
  check_misfit(misfit(body(pointwise{5})), shapes_differ, op::add, 4, 5);
  check_misfit(misfit(body(global_avg_pool{} | pointwise{5})), shapes_differ, op::add, 4, 5);
  check_misfit(misfit(body(conv2d{.out = 4, .kernel = {3, 1}})), extents_differ, op::add, 8, 6);
  check_misfit(misfit(body(conv2d{.out = 4, .kernel = {1, 3}})), extents_differ, op::add, 6, 4);
  check_misfit(misfit([](tensor x) { return (x | depthwise{}) * x; }), extents_differ, op::mul, 6, 8);
  check_misfit(misfit(residual{pointwise{1}}), shapes_differ, op::add, 4, 1);
  CHECK(misfit(body(global_max_pool{})).what == none);

  run_time_trace t;
  tensor const one = t.add({.h = 2, .c = 3}), two = t.add({.n = 2, .h = 2, .c = 3});
  (void)(one + two);
  CHECK(t.fault() == none);
  tensor const three = t.add({.n = 3, .h = 2, .c = 3});
  (void)power(two, three);
  check_misfit(t.recorder.bad, extents_differ, op::power, 2, 3);
}

TEST_CASE("the body of a residual has the shape of its input, or one pixel per image") {
  using enum fault;
  CHECK(misfit(residual{global_avg_pool{}}).what == none);
  check_misfit(misfit(residual{conv2d{.out = 4, .kernel = {8, 1}}}), extents_differ, op::add, 8, 1);
  check_misfit(misfit(residual{slice{0, 1}}), shapes_differ, op::add, 4, 1);
}

TEST_CASE("a transposed convolution has a non-empty result, and its groups divide the channels") {
  using enum fault;
  check_misfit(misfit(conv_transpose{.out = 4, .kernel = 2, .pad = pads{5, 0, 4, 0}}), pads_take_all, op::conv2d, 9, 9);
  check_misfit(misfit(conv_transpose{}), argument_must_be_positive, op::conv2d, 1, 0);
  check_misfit(misfit(conv_transpose{.out = 4, .groups = 3}), channels_not_divisible_by_groups, op::conv2d, 3, 4);
  check_misfit(misfit(conv_transpose{.out = 6, .groups = 4}), outputs_not_divisible_by_groups, op::conv2d, 4, 6);
  check_misfit(misfit(conv_transpose{.out = 6, .output_pad = -1}), argument_must_not_be_negative, op::conv2d, 0, -1);
}

TEST_CASE("backward slices begin and end inside the value; mirrored and repeated borders exist") {
  using enum fault;
  CHECK(misfit(slice{3, 4, axis::channels, -1}).what == none);
  check_misfit(misfit(slice{2, 4, axis::channels, -1}), slice_exceeds_extent, op::slice, 4, -1);
  check_misfit(misfit(slice{4, 2, axis::channels, -1}), slice_exceeds_extent, op::slice, 4, 5);
  check_misfit(misfit(pad{.sides = 6, .mode = pad_mode::reflect}), slice_exceeds_extent, op::pad, 5, 6);
  check_misfit(misfit(pad{.sides = {0, 7}, .mode = pad_mode::wrap}), slice_exceeds_extent, op::pad, 6, 7);
  check_misfit(misfit(pad{.channels_before = -2}), argument_must_not_be_negative, op::pad, 0, -2);
  CHECK(misfit(pad{.sides = 9, .mode = pad_mode::edge}).what == none);
}

TEST_CASE("norms have groups that divide the channels, and no negative epsilon") {
  using enum fault;
  check_misfit(misfit(group_norm{3}), channels_not_divisible_by_groups, op::scale, 3, 4);
  check_misfit(misfit(group_norm{2, -1.f}), argument_must_not_be_negative, op::scale, 0, -1);
  check_misfit(misfit(rms_norm{-1.f}), argument_must_not_be_negative, op::scale, 0, -1);
  check_misfit(misfit(local_response_norm{0}), argument_must_be_positive, op::avg_pool, 1, 0);
  CHECK(misfit(instance_norm{} | l2_normalize{}).what == none);
}

TEST_CASE("blocks of pixels divide the channels, or the image") {
  using enum fault;
  check_misfit(misfit(depth_to_space{3}), channels_not_divisible_by_groups, op::permute, 9, 4);
  check_misfit(misfit(pixel_shuffle{0}), argument_must_be_positive, op::permute, 1, 0);
  check_misfit(misfit(space_to_depth{3}), patch_must_divide_image, op::permute, 3, 8);
  check_misfit(misfit(pixel_unshuffle{4}), patch_must_divide_image, op::permute, 4, 6);
}

TEST_CASE("only extents of 1 are expanded") {
  using enum fault;
  check_misfit(misfit(expand{.c = 8}), channels_differ, op::expand, 4, 8);
  check_misfit(misfit(expand{.h = 1}), extents_differ, op::expand, 8, 1);
  check_misfit(misfit(expand{.n = -1}), argument_must_be_positive, op::expand, 1, -1);
  check_misfit(misfit(tile{.w = 0}), argument_must_be_positive, op::expand, 1, 0);
  check_misfit(misfit(tile{.c = huge}), too_many_elements, op::expand, huge, huge);
  CHECK(misfit(expand{.n = 5, .h = 8}).what == none);
}

TEST_CASE("concat needs equal heights and widths, and reports the branch that differs") {
  int const first = __LINE__ + 1;
  auto const branches = concat(pointwise{3} | relu{},     // ends on line `first`
                               relu{},                    // first + 1
                               depthwise{.pad = {1, 0}},  // first + 2
                               relu{});
  diagnostic const d = misfit(branches);
  check_misfit(d, fault::extents_differ, op::concat, 6, 4);
  CHECK(d.line == first + 2);
  CHECK(misfit([](tensor x) { return concat(x, x | avg_pool{.kernel = {2, 1}}); }).what == fault::extents_differ);

  run_time_trace t;
  tensor const one = t.add({.n = 1, .c = 3}), two = t.add({.n = 2, .c = 3});
  (void)concat(one, two);
  check_misfit(t.recorder.bad, fault::extents_differ, op::concat, 1, 2);
}

TEST_CASE("concat along an axis needs equal extents along the others") {
  using enum fault;
  auto const joined = [](axis along, layer auto const& second) {
    return [=](tensor x) { return concat(along, x, x | second); };
  };
  check_misfit(misfit(joined(axis::rows, pointwise{5})), channels_differ, op::concat, 4, 5);
  check_misfit(misfit(joined(axis::rows, slice{0, 3, axis::columns})), extents_differ, op::concat, 6, 3);
  check_misfit(misfit(joined(axis::columns, slice{0, 3, axis::rows})), extents_differ, op::concat, 8, 3);
  check_misfit(misfit(joined(axis::images, slice{0, 3, axis::rows})), extents_differ, op::concat, 8, 3);
  check_misfit(misfit(joined(axis::channels, slice{0, 3, axis::rows})), extents_differ, op::concat, 8, 3);
  CHECK(misfit(joined(axis::rows, slice{0, 3, axis::rows})).what == none);
}

TEST_CASE("a slice ends within the value") {
  using enum fault;
  check_misfit(misfit(slice{2, 3}), slice_exceeds_extent, op::slice, 4, 5);
  check_misfit(misfit(slice{0, 9, axis::rows}), slice_exceeds_extent, op::slice, 8, 9);
  check_misfit(misfit(slice{0, 3, axis::columns, 3}), slice_exceeds_extent, op::slice, 6, 7);
  check_misfit(misfit(slice{1, 1, axis::images}), slice_exceeds_extent, op::slice, 1, 2);
  check_misfit(misfit(slice{huge, huge, axis::rows, huge}), slice_exceeds_extent, op::slice, 8, huge);
  check_misfit(misfit(slice{-1, 2}), argument_must_not_be_negative, op::slice, 0, -1);
  check_misfit(misfit(slice{0, 0}), argument_must_be_positive, op::slice, 1, 0);
  check_misfit(misfit(slice{0, 2, axis::rows, 0}), argument_must_be_positive, op::slice, 1, 0);
  CHECK(misfit(slice{0, 2, axis::columns, 5}).what == none);
}

TEST_CASE("parts divide the extent that is split") {
  using enum fault;
  check_misfit(misfit([](tensor x) { return chunk<3>(x)[2]; }), parts_must_divide_extent, op::slice, 3, 4);
  check_misfit(misfit([](tensor x) { return chunk<5>(x, axis::rows)[0]; }), parts_must_divide_extent, op::slice, 5, 8);
  check_misfit(misfit(attention{}), parts_must_divide_extent, op::slice, 3, 4);
}

TEST_CASE("groups divide the channels that are shuffled") {
  check_misfit(misfit(channel_shuffle{3}), fault::channels_not_divisible_by_groups, op::channel_shuffle, 3, 4);
  check_misfit(misfit(channel_shuffle{0}), fault::argument_must_be_positive, op::channel_shuffle, 1, 0);
}

TEST_CASE("a reshape keeps the number of elements") {
  using enum fault;
  check_misfit(misfit(reshape{.h = 4}), elements_differ, op::reshape, 192, 96);
  check_misfit(misfit(reshape{huge, huge, huge, huge}), elements_differ, op::reshape, 192, huge);
  check_misfit(misfit(reshape{.c = -4}), argument_must_be_positive, op::reshape, 1, -4);
  check_misfit(misfit(fold{4, 12, 2}), elements_differ, op::fold, 48, 48);  // not four sequences
  check_misfit(misfit(unfold{2} | fold{8, 4, 2}), elements_differ, op::fold, 48, 32);
  CHECK(misfit(unfold{2} | fold{8, 6, 2}).what == none);
  CHECK(misfit(unfold{2} | fold{4, 12, 2}).what == none);  // as many tokens, other extents
}

TEST_CASE("a permutation names each axis once") {
  using enum fault;
  check_misfit(misfit(permute{0, 1, 1, 3}), not_a_permutation, op::permute, 2, 1);
  check_misfit(misfit(permute{0, 1, 2, 4}), not_a_permutation, op::permute, 3, 4);
  check_misfit(misfit(permute{-1, 1, 2, 3}), not_a_permutation, op::permute, 0, -1);
  check_misfit(misfit(permute{3, 1, 0}), not_a_permutation, op::permute, 3, 3);
}

TEST_CASE("a patch divides the image") {
  using enum fault;
  check_misfit(misfit(unfold{.patch = {3, 2}}), patch_must_divide_image, op::unfold, 3, 8);
  check_misfit(misfit(unfold{.patch = {2, 4}}), patch_must_divide_image, op::unfold, 4, 6);
  check_misfit(misfit(unfold{0}), argument_must_be_positive, op::unfold, 1, 0);
  check_misfit(misfit(fold{7, 6, 2}), patch_must_divide_image, op::fold, 2, 7);
  auto const itself = [](attention const& a) { return [=](tensor x) { return a(x, x, x); }; };
  check_misfit(misfit(itself({.patch = {2, 5}})), patch_must_divide_image, op::attention_scores, 5, 6);
  auto const others = [](tensor x) { return attention{.patch = 2}(x, x | slice{0, 3, axis::rows}, x); };
  check_misfit(misfit(others), patch_must_divide_image, op::attention_scores, 2, 3);
}

TEST_CASE("pads are not negative, resized extents are positive") {
  using enum fault;
  check_misfit(misfit(pad{-1}), argument_must_not_be_negative, op::pad, 0, -1);
  check_misfit(misfit(pad{.sides = pads{.right = -2}}), argument_must_not_be_negative, op::pad, 0, -2);
  check_misfit(misfit(pad{.sides = same}), argument_must_not_be_negative, op::pad, 0, -1);
  check_misfit(misfit(pad{huge}), too_many_elements, op::pad, huge, huge);
  check_misfit(misfit(resize_nearest{0, 3}), argument_must_be_positive, op::resize_nearest, 1, 0);
  check_misfit(misfit(resize_bilinear{3, -3}), argument_must_be_positive, op::resize_bilinear, 1, -3);
}

TEST_CASE("an embedding reads single numbers, and has no more rows than float32 can distinguish") {
  using enum fault;
  check_misfit(misfit(embedding{10, 4}), channels_differ, op::embedding, 1, 4);
  check_misfit(misfit(slice{0, 1} | embedding{0, 4}), argument_must_be_positive, op::embedding, 1, 0);
  check_misfit(misfit(slice{0, 1} | embedding{10, 0}), argument_must_be_positive, op::embedding, 1, 0);
  check_misfit(misfit(slice{0, 1} | embedding{(1 << 24) + 1, 1}), too_many_elements, op::embedding, 1 << 24,
               (1 << 24) + 1);
  CHECK(misfit(slice{0, 1} | embedding{1 << 24, 1}).what == none);
  check_misfit(misfit(layer_norm{.epsilon = -1}), argument_must_not_be_negative, op::layer_norm, 0, -1);
}

TEST_CASE("the extents of matrices agree") {
  using enum fault;
  auto const product = [](layer auto const& second, bool transposed) {
    return [=](tensor x) { return matmul(x, x | second, transposed); };
  };
  check_misfit(misfit(product(identity{}, false)), channels_differ, op::matmul, 4, 6);
  check_misfit(misfit(product(pointwise{5}, true)), channels_differ, op::matmul, 4, 5);
  check_misfit(misfit(product(slice{0, 3, axis::rows}, true)), extents_differ, op::matmul, 8, 3);
  CHECK(misfit(product(slice{0, 1, axis::rows}, true)).what == none);
  CHECK(misfit(product(slice{0, 4, axis::columns}, false)).what == none);
  run_time_trace t;
  tensor const x = t.add({.n = 3, .w = 2, .c = 2}), y = t.add({.n = 2, .w = 2, .c = 2});
  (void)matmul(x, y);
  check_misfit(t.recorder.bad, extents_differ, op::matmul, 3, 2);
}

TEST_CASE("heads divide the channels of an attention, and keys and values belong to the same tokens") {
  using enum fault;
  auto const scores = op::attention_scores;
  auto const of = [](attention const& a, layer auto const& keys, layer auto const& values) {
    return [=](tensor x) { return a(x, x | keys, x | values); };
  };
  identity const same_value{};
  check_misfit(misfit(of({.heads = 3}, same_value, same_value)), channels_not_divisible_by_groups, scores, 3, 4);
  check_misfit(misfit(of({.heads = 0}, same_value, same_value)), argument_must_be_positive, scores, 1, 0);
  check_misfit(misfit(of({}, pointwise{5}, same_value)), channels_differ, scores, 4, 5);
  check_misfit(misfit(of({}, same_value, pointwise{5})), channels_differ, scores, 4, 5);
  check_misfit(misfit(of({}, slice{0, 3, axis::rows}, same_value)), extents_differ, scores, 3, 8);
  check_misfit(misfit(of({}, same_value, slice{0, 3, axis::columns})), extents_differ, scores, 6, 3);
  CHECK(misfit(of({}, slice{0, 3, axis::rows}, slice{5, 3, axis::rows})).what == none);
  run_time_trace t;
  tensor const x = t.add({.n = 3, .w = 2, .c = 2}), y = t.add({.n = 2, .w = 2, .c = 2});
  (void)attention{}(x, y, y);
  check_misfit(t.recorder.bad, extents_differ, scores, 3, 2);
}

TEST_CASE("expect checks the shape of its input") {
  check_misfit(misfit(expect{.c = 3}), fault::channels_differ, op::identity, 3, 4);
  check_misfit(misfit(expect{.h = 8, .w = 5, .c = 3}), fault::extents_differ, op::identity, 5, 6);
  CHECK(misfit(expect{.h = 8, .w = 6, .c = 4}).what == fault::none);
  CHECK(misfit(expect{}).what == fault::none);
}

TEST_CASE("a channel-first result cannot be read by a layer") {
  check_misfit(misfit(to_nchw{} | relu{}), fault::channel_first_value_cannot_be_used, op::relu, 0, 0);
  check_misfit(misfit([](tensor x) { return x + (x | to_nchw{}); }), fault::channel_first_value_cannot_be_used, op::add,
               0, 0);
  CHECK(misfit(relu{} | to_nchw{}).what == fault::none);
}

TEST_CASE("a tensor that is not from the network is refused") {
  using enum fault;
  check_misfit(misfit([](tensor x) { return x + tensor{}; }), tensor_of_another_network, op::add, 0, 0);
  check_misfit(misfit([](tensor x) { return concat(tensor{}, x); }), tensor_of_another_network, op::concat, 0, 0);
  tensor const none_yet = tensor{} | pointwise{3} | batch_norm{} | residual{max_pool{}} | repeat{2, linear{3}};
  CHECK((none_yet | expect{.c = 4}).recorder == nullptr);

  run_time_trace other;
  tensor const foreign = other.add({.h = 8, .w = 6, .c = 4});
  check_misfit(misfit([=](tensor x) { return x * foreign; }), tensor_of_another_network, op::mul, 0, 0);
}

TEST_CASE("extents, elements and parameters fit an int") {
  using enum fault;
  check_misfit(misfit(conv2d{.out = huge, .kernel = 3}), too_many_elements, op::conv2d, huge, huge);
  check_misfit(misfit(linear{huge}), too_many_elements, op::linear, huge, huge);
  check_misfit(misfit(pointwise{50'000'000}), too_many_elements, op::pointwise, huge, huge);
  check_misfit(misfit(depthwise{.multiplier = huge}), too_many_elements, op::depthwise, huge, huge);
  check_misfit(misfit(conv2d{.out = 1, .pad = huge}), too_many_elements, op::conv2d, huge, huge);
  check_misfit(misfit(conv2d{.out = 1, .kernel = huge, .dilation = huge}), window_exceeds_input, op::conv2d, huge, 8);
  check_misfit(misfit(avg_pool{.kernel = huge, .pad = pads{huge, huge, huge, huge}}), pad_exceeds_half_of_window,
               op::avg_pool, huge / 2, huge);
  CHECK(misfit(max_pool{.kernel = huge, .pad = same}).what == none);

  run_time_trace t;
  (void)t.add({.n = huge, .h = huge, .w = huge, .c = huge});
  check_misfit(t.recorder.bad, too_many_elements, op::input, huge, huge);
}

static constexpr auto undefined_output = input{.c = 3} | [](tensor x) {
  (void)(x | relu{});
  return tensor{};
};
static constexpr auto twice = input{.h = 8, .w = 8, .c = 4} | pointwise{6} |
                              conv2d{.out = 8, .kernel = 3, .groups = 4}  // the first fault
                              | max_pool{.kernel = 0};
static constexpr int twice_line = __LINE__ - 2;

TEST_CASE("in constant evaluation, a network keeps its first fault with the layer's number and line") {
  static_assert(lowering::lowered<undefined_output>::value.bad.what == fault::tensor_of_another_network);
  constexpr diagnostic d = lowering::lowered<twice>::value.bad;
  static_assert(d == diagnostic{fault::channels_not_divisible_by_groups, op::conv2d, 2, twice_line, 4, 6});
  CHECK(lowering::lowered<twice>::value.node_count == 4);
  CHECK(optimized<twice>::value.bad == d);
}
