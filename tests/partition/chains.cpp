// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/expression/notation.hpp>
#include <ago/partition/partition.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "graphs.hpp"

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;

namespace {

/// A line of convolutions on square images: kind, and side and channels after each.
struct line_part {
  op kind;
  int side, channels;
};

template <int N>
constexpr graph<N + 1, N> line(line_part const (&links)[N], shape in) {
  graph<N + 1, N> g{};
  g.nodes[0] = {.kind = op::input, .out = in};
  for (int v = 1; v <= N; ++v) {
    line_part const& l = links[v - 1];
    g.nodes[v] = {.kind = l.kind, .out = {1, l.side, l.side, l.channels}, .input_first = v - 1, .input_count = 1};
    if (l.kind == op::depthwise || pools_windows(l.kind)) g.nodes[v].win = {.kernel_h = 3, .kernel_w = 3};
    if (pools_windows(l.kind)) g.nodes[v].win.stride_h = g.nodes[v].win.stride_w = 2;
    g.edges[v - 1] = v - 1;
  }
  g.node_count = N + 1, g.edge_count = N, g.input_count = 1, g.output_count = 1, g.outputs[0] = N;
  return g;
}

constexpr line_part first_blocks[] = {{op::conv2d, 112, 32},    {op::depthwise, 112, 32}, {op::pointwise, 112, 16},
                                      {op::pointwise, 112, 96}, {op::depthwise, 56, 96},  {op::pointwise, 56, 24}};
constexpr auto mobilenet_start = line(first_blocks, {1, 224, 224, 3});

template <class G>
constexpr auto chains(G const& g, device const& on = {}) {
  return chains_of(g, atoms_of(g), on);
}

/// Sums over the pixels of x[n, h, w, c] * y[n, h, w, c] * z[c].
constexpr expression::definition sums = expression::compute("sums", [](auto x, auto y, auto z) {
  expression::var n, h, w, c;
  return expression::result(c) = expression::sum(n, h, w)(x(n, h, w, c) * y(n, h, w, c) * z(c));
})(expression::extents(1, 56, 56, 32), expression::extents(1, 56, 56, 32), expression::extents(32));

/// Images, products of them, and their sums, which scale other images.
using fold_graph = test::builder<64, 160>;
constexpr shape image{1, 56, 56, 32}, channels{1, 1, 1, 32};
constexpr int add_sums(fold_graph& b, int x, int y, int z) {
  return b.add({.kind = op::nest, .out = channels, .described = &sums.expressions[0]}, {x, y, z});
}

}  // namespace

TEST_CASE("a line is cut where a chain would save least traffic, not after the first three operators that fit") {
  constexpr auto c = chains(mobilenet_start);
  static_assert(c.count == 2);
  static_assert(c.of[0] == c.of[1] && c.of[1] == c.of[2] && c.of[3] == c.of[4] && c.of[4] == c.of[5]);
}

TEST_CASE("likewise on a core with a small L2") {
  constexpr auto c = chains(mobilenet_start, cortex_a55);
  static_assert(c.of[0] == c.of[1] && c.of[1] == c.of[2] && c.of[2] != c.of[3] && c.of[3] == c.of[4]);
}

TEST_CASE("there, no product of a large value is alone") {
  constexpr line_part last_blocks[] = {{op::pointwise, 28, 192}, {op::depthwise, 28, 192}, {op::pointwise, 28, 32},
                                       {op::pointwise, 28, 192}, {op::depthwise, 28, 192}, {op::pointwise, 28, 32}};
  constexpr auto c = chains(line(last_blocks, {1, 28, 28, 32}), cortex_a55);
  static_assert(c.count == 2 && c.of[0] == c.of[2] && c.of[3] == c.of[5]);
  constexpr line_part small_images[] = {{op::pointwise, 7, 960}, {op::depthwise, 7, 960}, {op::pointwise, 7, 160},
                                        {op::pointwise, 7, 960}, {op::depthwise, 7, 960}, {op::pointwise, 7, 320}};
  constexpr auto small = line(small_images, {1, 7, 7, 160});
  constexpr auto d = chains(small, cortex_a55);
  static_assert(d.of[1] == d.of[2] && d.of[4] == d.of[5]);
  constexpr auto e = chains(small);
  static_assert(e.of[0] == e.of[1] && e.of[1] != e.of[2]);
}

TEST_CASE("values that stay in L1 anyway do not justify a chain") {
  static_assert(chains(mobilenet_start, {.l1_bytes = 64 << 20, .l2_bytes = 64 << 20}).count == 6);
}

TEST_CASE("a value read twice, a network output and a dense convolution end a chain") {
  auto g = mobilenet_start;
  g.outputs[0] = 1;  // the stem's result is an output (and read)
  CHECK(chains(g).of[0] != chains(g).of[1]);
  auto h = mobilenet_start;
  h.nodes[2].kind = op::conv2d;
  CHECK(chains(h).of[0] != chains(h).of[1]);
}

TEST_CASE("pooling ends chains, but does not start any") {
  constexpr line_part stem[] = {{op::conv2d, 111, 64}, {op::max_pool, 55, 64}, {op::pointwise, 55, 16}};
  constexpr auto c = chains(line(stem, {1, 224, 224, 3}));
  static_assert(c.of[0] == c.of[1] && c.of[1] != c.of[2]);
  constexpr line_part average[] = {{op::depthwise, 112, 64}, {op::avg_pool, 56, 64}};
  static_assert(chains(line(average, {1, 112, 112, 64})).count == 1);
  constexpr line_part whole[] = {{op::pointwise, 112, 64}, {op::global_avg_pool, 1, 64}};
  static_assert(chains(line(whole, {1, 112, 112, 16})).count == 2);
}

TEST_CASE("the chains of a line save as much as the best of all possible cuts") {
  unsigned seed = 1;
  auto const pick = [&](int n) { return int((seed = seed * 1664525u + 1013904223u) >> 16) % n; };
  device const devices[] = {{}, cortex_a53, cortex_a55, cortex_a76};
  int joined = 0;
  for (int round = 0; round < 500; ++round) {
    line_part links[9];
    for (line_part& l : links) {
      op const kinds[] = {op::pointwise, op::depthwise, op::linear};
      l = {kinds[pick(3)], 7 + pick(60), 1 + pick(150)};
      if (&l > links && l.kind == op::depthwise) l.channels = (&l - 1)->channels;
    }
    auto const g = line(links, {1, 40, 40, 16});
    device const& on = devices[round % 4];
    auto const c = chains(g, on);
    auto const saved_by = [&](auto const& cut_before) {  // -1: not allowed
      std::int64_t saved = 0;
      for (int first = 0, end; first < 9; first = end) {
        chain_link chain[9];
        int length = 0;
        for (end = first; end == first || (end < 9 && !cut_before(end)); ++end)
          chain[length++] = link_of(g, end + 1, end + 1);
        if (length > max_chain) return std::int64_t(-1);
        if (length > 1) saved += best_tiling(chain, length, on).saved;
      }
      return saved;
    };
    std::int64_t best = 0;
    for (int cuts = 0; cuts < 512; ++cuts) best = std::max(best, saved_by([&](int i) { return cuts >> i & 1; }));
    REQUIRE(saved_by([&](int i) { return c.of[i] != c.of[i - 1]; }) == best);
    joined += c.count < 9;
  }
  CHECK(joined > 400);
}

TEST_CASE("sums of pixels end the chain of the value that they read last, whoever else reads that") {
  fold_graph b;
  int const x = b.input(image), z = b.input(channels), y = b.pointwise(x, 32), s = add_sums(b, y, x, z);
  b.output(b.binary(op::mul, b.pointwise(y, 32), s));
  grouping const c = chains(b.g, cortex_a55);
  CHECK(c.of[0] == c.of[1]);
  CHECK(c.of[1] != c.of[2]);
  b.g.outputs[0] = y;
  CHECK(chains(b.g, cortex_a55).count == 3);
  device const two_cores{.l1_bytes = 32 << 10, .l2_bytes = 256 << 10, .threads = 2};
  b.g.outputs[0] = b.g.node_count - 1;
  CHECK(chains(b.g, two_cores).of[0] != chains(b.g, two_cores).of[1]);
}

TEST_CASE("chains with sums of values that others read, too, make no cycles") {
  std::mt19937 random(1);
  auto const pick = [&](auto const& from) { return from[random() % from.size()]; };
  int folds = 0;
  for (int round = 0; round < 2000; ++round) {
    fold_graph b;
    std::vector<int> images{b.input(image)}, sums_of{b.input(channels)};
    while (b.g.node_count < 40) switch (random() % 3) {
        case 0: images.push_back(b.pointwise(pick(images), 32)); break;
        case 1: images.push_back(b.binary(op::mul, pick(images), pick(sums_of))); break;
        case 2: sums_of.push_back(add_sums(b, pick(images), pick(images), pick(sums_of))); break;
      }
    b.output(b.g.node_count - 1);
    auto const atoms = atoms_of(b.g);
    auto const c = compose(atoms, chains_of(b.g, atoms, cortex_a55), b.g.node_count - b.g.input_count);
    REQUIRE(is_acyclic(dag_of(b.g), c));
    for (int v = b.g.input_count; v < b.g.node_count; ++v)
      if (b.g.nodes[v].kind == op::nest)
        for (int k = 0; k < 2; ++k)
          folds += b.g.operand(v, k) >= b.g.input_count &&
                   c.of[v - b.g.input_count] == c.of[b.g.operand(v, k) - b.g.input_count];
  }
  CHECK(folds > 2000);
}
