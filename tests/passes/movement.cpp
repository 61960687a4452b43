// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes on layers that move elements and on products of two values.
#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

using namespace ago;
using ago::passes::optimized;

namespace {

constexpr auto image = input{.n = 2, .h = 6, .w = 4, .c = 8};

/// The number of operators that the passes leave of a layer between two relus.
template <auto const& Net>
constexpr int kept = optimized<Net>::value.node_count - 3;

}  // namespace

#define NET(name, ...) \
  static constexpr auto name = image | relu{} | __VA_ARGS__ | sigmoid {}

NET(slice_of_all, slice{0, 8});
NET(slice_of_all_rows, slice{0, 6, axis::rows});
NET(slice_of_some, slice{0, 7});
NET(one_chunk, [](tensor x) { return chunk<1>(x)[0]; });
NET(same_extents, reshape{});
NET(other_extents, reshape{.h = 4, .w = 6});
NET(one_group, channel_shuffle{1});
NET(all_groups, channel_shuffle{8});
NET(two_groups, channel_shuffle{2});
NET(in_order, permute{0, 1, 2, 3});
NET(rows_with_columns, permute{0, 2, 1, 3});
NET(same_size, resize_nearest{6, 4} | resize_bilinear{6, 4});
NET(other_size, resize_bilinear{6, 5});
NET(no_pad, pad{.sides = 0, .value = 3});
NET(some_pad, pad{.sides = pads{.right = 1}});
NET(patches, unfold{2} | softmax{} | fold{6, 4, 2});
NET(one_value, [](tensor x) { return concat(axis::rows, x); });

TEST_CASE("layers that move nothing disappear") {
  static_assert(kept<slice_of_all> == 0);
  static_assert(kept<slice_of_all_rows> == 0);
  static_assert(kept<one_chunk> == 0);
  static_assert(kept<same_extents> == 0);
  static_assert(kept<one_group> == 0);
  static_assert(kept<all_groups> == 0);
  static_assert(kept<in_order> == 0);
  static_assert(kept<same_size> == 0);
  static_assert(kept<no_pad> == 0);
  static_assert(kept<one_value> == 0);
}

TEST_CASE("layers that move something stay") {
  static_assert(kept<slice_of_some> == 1);
  static_assert(kept<other_extents> == 1);
  static_assert(kept<two_groups> == 1);
  static_assert(kept<rows_with_columns> == 1);
  static_assert(kept<other_size> == 1);
  static_assert(kept<some_pad> == 1);
  static_assert(kept<patches> == 3);
}

static constexpr auto thin = input{.h = 1, .w = 5, .c = 7} | relu{};
static constexpr auto extent_one_moved = thin | permute{1, 0, 2, 3} | sigmoid{};
static constexpr auto extent_one_and_shape_moved = thin | permute{0, 2, 1, 3} | sigmoid{};
static constexpr auto square = input{.h = 3, .w = 3, .c = 3} | relu{} | permute{0, 2, 1, 3} | sigmoid{};
static constexpr auto unfolded_row = thin | unfold{1} | fold{1, 5, 1} | sigmoid{};
TEST_CASE("an exchange of axes disappears if only extents of one change places and the shape stays") {
  static_assert(kept<extent_one_moved> == 0);
  static_assert(kept<extent_one_and_shape_moved> == 1);  // {1, 5, 1, 7}
  static_assert(kept<square> == 1);                      // the shape stays, but elements move
  static_assert(kept<unfolded_row> == 0);
}

static constexpr auto given_out = image | [](tensor x) { return outputs(x | relu{}, x | permute{}); };
TEST_CASE("an input that becomes an output through such a layer is copied") {
  auto const& g = optimized<given_out>::value;
  REQUIRE(g.node_count == 3);
  CHECK(g.nodes[g.outputs[1]].kind == op::identity);
  CHECK(g.operand(g.outputs[1]) == 0);
}

namespace {

/// How many operators the passes leave of two layers on the image: 1 if they are found to be equal.
template <auto const& Net>
constexpr int computed = optimized<Net>::value.node_count - 2;  // without the input and the operator that joins the two

}  // namespace

#define PAIR(name, first, second) \
  static constexpr auto name = image | [](tensor x) { return (x | first) + (x | second); }

PAIR(equal_slices, (slice{1, 3}), (slice{1, 3}));
PAIR(slices_of_other_begin, (slice{1, 3}), (slice{2, 3}));
PAIR(slices_of_other_step, (slice{1, 3}), (slice{1, 3, axis::channels, 2}));
static constexpr auto cube = input{.h = 8, .w = 8, .c = 8};
static constexpr auto slices_of_other_axis = cube | [](tensor x) {
  auto const flat = reshape{1, 1, 1, 256};
  return (x | slice{0, 4, axis::rows} | flat) + (x | slice{0, 4, axis::columns} | flat);
};
static constexpr auto equal_orders =
    cube | [](tensor x) { return (x | permute{0, 2, 3, 1}) + (x | permute{0, 2, 3, 1}); };
static constexpr auto other_orders =
    cube | [](tensor x) { return (x | permute{0, 2, 3, 1}) + (x | permute{0, 3, 1, 2}); };
static constexpr auto other_product = cube | [](tensor x) { return matmul(x, x) + matmul(x, x, true); };
static constexpr auto equal_product = cube | [](tensor x) { return matmul(x, x, true) + matmul(x, x, true); };
static constexpr auto exchanged_product = cube | [](tensor x) {
  tensor const y = x | relu{};
  return matmul(x, y) + matmul(y, x);
};
static constexpr auto other_axis = cube | [](tensor x) {
  return (concat(axis::rows, x, x) | reshape{1, 1, 1, 1024}) + (concat(axis::columns, x, x) | reshape{1, 1, 1, 1024});
};
PAIR(other_groups, (channel_shuffle{2}), (channel_shuffle{4}));
PAIR(other_pads, (pad{.sides = pads{.top = 1}}), (pad{.sides = pads{.bottom = 1}}));
PAIR(other_values, (pad{1, 2}), (pad{1, 3}));
PAIR(equal_pads, (pad{1, 2}), (pad{1, 2}));
PAIR(other_norms, (layer_norm{}), (layer_norm{}));
PAIR(other_positions, (positions{}), (positions{}));
PAIR(equal_softmax, (softmax{}), (softmax{}));
static constexpr auto other_tables =
    input{.w = 3} | [](tensor x) { return (x | embedding{5, 4}) + (x | embedding{5, 4}); };

TEST_CASE("equal movements are computed once, others separately") {
  static_assert(computed<equal_slices> == 1);
  static_assert(computed<slices_of_other_begin> == 2);
  static_assert(computed<slices_of_other_step> == 2);
  static_assert(computed<slices_of_other_axis> == 4);
  static_assert(computed<equal_orders> == 1);
  static_assert(computed<other_orders> == 2);
  static_assert(computed<other_axis> == 4);
  static_assert(computed<other_groups> == 2);
  static_assert(computed<other_pads> == 2);
  static_assert(computed<other_values> == 2);
  static_assert(computed<equal_pads> == 1);
}

TEST_CASE("products of two values are equal if both operands and the transposition are") {
  static_assert(computed<equal_product> == 1);
  static_assert(computed<other_product> == 2);
  static_assert(computed<exchanged_product> == 3);
}

TEST_CASE("layers with parameters of their own are never equal") {
  static_assert(computed<other_norms> == 2);
  static_assert(computed<other_positions> == 2);
  static_assert(computed<other_tables> == 2);
  static_assert(computed<equal_softmax> == 1);
}

static constexpr auto shared =
    image | [](tensor x) { return attention{.heads = 2}(x, x, x) + attention{.heads = 2}(x, x, x | relu{}); };
static constexpr auto other_heads =
    image | [](tensor x) { return attention{.heads = 2}(x, x, x) + attention{.heads = 4}(x, x, x); };
static constexpr auto other_patches =
    image | [](tensor x) { return attention{.patch = {2, 1}}(x, x, x) + attention{.patch = {1, 2}}(x, x, x); };
static constexpr auto other_scales =
    image | [](tensor x) { return attention{.scale = 1}(x, x, x) + attention{.scale = 2}(x, x, x); };
TEST_CASE("attentions share their weights if queries, keys, heads, patches and scale are the same") {
  static_assert(computed<shared> == 2 + 1 + 2);  // one pair of scores and softmax, relu, two products
  static_assert(computed<other_heads> == 6);
  static_assert(computed<other_patches> == 6);
  static_assert(computed<other_scales> == 6);
}

static constexpr auto norm_behind_product = image | [](tensor x) { return matmul(x, x, true) | bias{} | batch_norm{}; };
static constexpr auto norm_behind_attention = image | [](tensor x) { return attention{}(x, x, x) | batch_norm{}; };
TEST_CASE("a batch norm after a product of two values stays, because there are no weights to scale") {
  auto const& g = optimized<norm_behind_product>::value;
  REQUIRE(g.node_count == 4);
  CHECK(g.nodes[3].kind == op::batch_norm);
  CHECK(g.nodes[1].norm == -1);
  auto const& h = optimized<norm_behind_attention>::value;
  CHECK(h.nodes[h.node_count - 1].kind == op::batch_norm);
}
