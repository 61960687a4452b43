// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes recorded for layers that move elements.
#include "network/recorded.hpp"

#include <ago/layers/layers.hpp>
#include <ago/network/parameters.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using graph_test::run_time_trace;

namespace {

/// The only node that a layer adds to a value of shape {2, 6, 8, 12}.
node recorded(layer auto const& l) { return graph_test::recorded_after({.n = 2, .h = 6, .w = 8, .c = 12}, l); }

}  // namespace

TEST_CASE("a slice is of channels by default, and records its beginning and its step") {
  node const n = recorded(slice{3, 5});
  CHECK(n.kind == op::slice);
  CHECK(n.out == shape{2, 6, 8, 5});
  CHECK(n.axis == 3);
  CHECK(n.begin == 3);
  CHECK(n.step == 1);
  node const m = recorded(slice{.begin = 1, .count = 3, .axis = axis::columns, .step = 3});  // 1, 4, 7
  CHECK(m.out == shape{2, 6, 3, 12});
  CHECK(m.axis == 2);
  CHECK(m.begin == 1);
  CHECK(m.step == 3);
  CHECK(recorded(slice{2, 4, axis::rows}).out == shape{2, 4, 8, 12});
  CHECK(recorded(slice{1, 1, axis::images}).out == shape{1, 6, 8, 12});
  CHECK(recorded(slice{11, 1}).out == shape{2, 6, 8, 1});
}

TEST_CASE("chunk makes equal slices, in order") {
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 6, .w = 8, .c = 12});
  auto const [a, b, c] = chunk<3>(x);
  tensor const parts[] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    node const& n = t.recorder.nodes[parts[i].index];
    CHECK(n.kind == op::slice);
    CHECK(n.begin == 4 * i);
    CHECK(n.axis == 3);
    CHECK(n.step == 1);
    CHECK(n.out == shape{2, 6, 8, 4});
  }
  auto const rows = chunk<2>(x, axis::rows);
  CHECK(t.recorder.nodes[rows[1].index].begin == 3);
  CHECK(t.recorder.nodes[rows[1].index].axis == 1);
  CHECK(rows[1].dims() == shape{2, 3, 8, 12});
  CHECK(chunk<1>(x)[0].dims() == x.dims());
  CHECK(t.fault() == fault::none);
}

TEST_CASE("a shuffle keeps the shape and records its groups") {
  CHECK(recorded(channel_shuffle{3}).kind == op::channel_shuffle);
  CHECK(recorded(channel_shuffle{3}).groups == 3);
  CHECK(recorded(channel_shuffle{12}).groups == 12);
  CHECK(recorded(channel_shuffle{}).groups == 2);
  CHECK(recorded(channel_shuffle{}).out == shape{2, 6, 8, 12});
}

TEST_CASE("extents that reshape does not name are kept") {
  CHECK(recorded(reshape{.h = 1, .w = 48}).out == shape{2, 1, 48, 12});
  CHECK(recorded(reshape{1, 1, 1, 2 * 6 * 8 * 12}).out == shape{1, 1, 1, 1152});
  CHECK(recorded(reshape{.n = 4, .c = 6}).out == shape{4, 6, 8, 6});
  CHECK(recorded(reshape{}).out == shape{2, 6, 8, 12});
  CHECK(recorded(reshape{}).kind == op::reshape);
}

TEST_CASE("permute takes extent i from extent order[i]") {
  node const n = recorded(permute{3, 0, 2, 1});
  CHECK(n.kind == op::permute);
  CHECK(n.out == shape{12, 2, 8, 6});
  int const order[] = {3, 0, 2, 1};
  for (int i = 0; i < 4; ++i) CHECK(n.order[i] == order[i]);
  CHECK(recorded(permute{}).out == shape{2, 6, 8, 12});
}

TEST_CASE("unfold makes a sequence for each place within a patch, and fold reverses it") {
  node const n = recorded(unfold{.patch = {2, 4}});
  CHECK(n.kind == op::unfold);
  CHECK(n.patch.h == 2);
  CHECK(n.patch.w == 4);
  CHECK(n.out == shape{2 * 8, 1, 3 * 2, 12});
  CHECK(recorded(unfold{}).out == shape{2 * 4, 1, 12, 12});
  CHECK(recorded(unfold{1}).out == shape{2, 1, 48, 12});

  run_time_trace t;
  tensor const x = t.add({.n = 2 * 8, .w = 6, .c = 12});
  tensor const y = x | fold{.height = 6, .width = 8, .patch = {2, 4}};
  CHECK(t.fault() == fault::none);
  CHECK(t.last().kind == op::fold);
  CHECK(t.last().patch.h == 2);
  CHECK(t.last().patch.w == 4);
  CHECK(y.dims() == shape{2, 6, 8, 12});
}

TEST_CASE("a pad surrounds the image with a value") {
  node const n = recorded(pad{.sides = pads{1, 2, 3, 4}, .value = -1.5f});
  CHECK(n.kind == op::pad);
  CHECK(n.out == shape{2, 10, 14, 12});
  CHECK(n.win == window{.pad_top = 1, .pad_left = 2, .pad_bottom = 3, .pad_right = 4});
  CHECK(n.alpha == -1.5f);
  CHECK(recorded(pad{2}).out == shape{2, 10, 12, 12});
  CHECK(recorded(pad{2}).alpha == 0);
  CHECK(recorded(pad{.sides = {0, 3}}).out == shape{2, 6, 14, 12});
}

TEST_CASE("resizing takes any height and width") {
  CHECK(recorded(resize_nearest{3, 17}).kind == op::resize_nearest);
  CHECK(recorded(resize_bilinear{3, 17}).kind == op::resize_bilinear);
  CHECK(recorded(resize_bilinear{.height = 3, .width = 17}).out == shape{2, 3, 17, 12});
  CHECK(recorded(resize_nearest{12, 1}).out == shape{2, 12, 1, 12});
}

TEST_CASE("values are concatenated along any axis, in the given order") {
  run_time_trace t;
  tensor const x = t.add({.n = 2, .h = 6, .w = 8, .c = 12}), y = x | slice{0, 2, axis::rows};
  tensor const z = concat(axis::rows, x, y, x);
  CHECK(z.dims() == shape{2, 14, 8, 12});
  CHECK(t.last().kind == op::concat);
  CHECK(t.last().axis == 1);
  CHECK(t.recorder.edges[t.last().input_first + 1] == y.index);
  CHECK(concat(axis::images, x, x).dims() == shape{4, 6, 8, 12});
  CHECK(t.last().axis == 0);
  CHECK(concat(axis::columns, x, x | slice{0, 1, axis::columns}).dims() == shape{2, 6, 9, 12});
  CHECK(concat(axis::channels, x, x).dims() == concat(x, x).dims());
  CHECK(t.last().axis == 3);
  CHECK(t.fault() == fault::none);
}

namespace {

constexpr auto ids =
    input{.n = 2, .w = 7} | embedding{.entries = 100, .width = 6} | positions{} | layer_norm{.epsilon = .5f};

}  // namespace

TEST_CASE("tables, positions and layer norms declare their parameters in source order") {
  auto const& g = lowering::lowered<ids>::value;
  auto const& table = parameters<ids>;
  REQUIRE(g.node_count == 4);
  REQUIRE(table.size() == 4);
  node const &rows = g.nodes[1], &added = g.nodes[2], &norm = g.nodes[3];
  CHECK(rows.kind == op::embedding);
  CHECK(rows.out == shape{2, 1, 7, 6});
  CHECK(rows.entries == 100);
  CHECK(rows.weight == 0);
  CHECK(added.kind == op::positions);
  CHECK(added.weight == 600);
  CHECK(norm.kind == op::layer_norm);
  CHECK(norm.alpha == .5f);
  CHECK(norm.weight == 600 + 42);
  CHECK(norm.shift == 600 + 42 + 6);
  CHECK(parameter_count<ids> == 600 + 42 + 12);

  struct {
    op kind;
    role what;
    int rank, dims[4];
  } const expected[] = {{op::embedding, role::weight, 2, {100, 6}},
                        {op::positions, role::weight, 3, {1, 7, 6}},  // one for all images
                        {op::layer_norm, role::gamma, 1, {6}},
                        {op::layer_norm, role::beta, 1, {6}}};
  for (int i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(table[i].kind == expected[i].kind);
    CHECK(table[i].role == expected[i].what);
    REQUIRE(table[i].rank == expected[i].rank);
    for (int d = 0; d < table[i].rank; ++d) CHECK(table[i].dims[d] == expected[i].dims[d]);
  }
}

TEST_CASE("layers that move elements record their line") {
  int const here = __LINE__;
  node const all[] = {
      recorded(slice{0, 2}),           // here + 2
      recorded(channel_shuffle{}),     //
      recorded(reshape{}),             //
      recorded(permute{}),             //
      recorded(unfold{}),              // here + 6
      recorded(pad{1}),                //
      recorded(resize_nearest{2, 2}),  //
      recorded(resize_bilinear{2, 2}),
      recorded(positions{}),   // here + 10
      recorded(layer_norm{}),  //
      recorded(softmax{}),     //
  };
  for (int i = 0; i < int(sizeof all / sizeof *all); ++i) {
    CAPTURE(name_of(all[i].kind));
    CHECK(all[i].line == here + 2 + i);
  }
  run_time_trace t;
  (void)chunk<2>(t.add({.c = 4}));
  CHECK(t.last().line == __LINE__ - 1);
}
