#include <ago/partition/partition.hpp>
#include <doctest/doctest.h>

#include <vector>

using namespace ago;

namespace {

/// A line of convolutions on square images: kind, side and channels behind each.
struct link {
  op kind;
  int side, channels;
};

template <int N>
constexpr graph<N + 1, N> line(link const (&links)[N], shape in) {
  graph<N + 1, N> g{};
  g.nodes[0] = {.kind = op::input, .out = in};
  for (int v = 1; v <= N; ++v) {
    link const& l = links[v - 1];
    g.nodes[v] = {.kind = l.kind, .out = {1, l.side, l.side, l.channels}, .input_first = v - 1, .input_count = 1};
    if (l.kind == op::depthwise) g.nodes[v].win = {.kernel_h = 3, .kernel_w = 3};
    g.edges[v - 1] = v - 1;
  }
  g.node_count = N + 1, g.edge_count = N, g.input_count = 1, g.output_count = 1, g.outputs[0] = N;
  return g;
}

constexpr link first_blocks[] = {{op::conv2d, 112, 32},     {op::depthwise, 112, 32}, {op::pointwise, 112, 16},
                                 {op::pointwise, 112, 96},  {op::depthwise, 56, 96},  {op::pointwise, 56, 24}};
constexpr auto mobilenet_start = line(first_blocks, {1, 224, 224, 3});

template <class G>
constexpr auto chains(G const& g, bool intensive = true, device const& on = {}) {
  return chains_of(g, atoms_of(g), intensive, on);
}

}  // namespace

TEST_CASE("a line is cut where least traffic is saved, not after the first three operators that fit") {
  constexpr auto c = chains(mobilenet_start);
  static_assert(c.count == 2);
  static_assert(c.of[0] == c.of[1] && c.of[1] == c.of[2] && c.of[3] == c.of[4] && c.of[4] == c.of[5]);
}

TEST_CASE("without intensive fusion every atom is a chain of its own") {
  static_assert(chains(mobilenet_start, false).count == 6);
}

TEST_CASE("values that stay in L2 anyway are not worth a chain") {
  static_assert(chains(mobilenet_start, true, {.l2_bytes = 64 << 20}).count == 6);
}

TEST_CASE("matrices that would push each other out of L2 are not chained") {
  constexpr link wide[] = {{op::pointwise, 28, 1024}, {op::depthwise, 28, 1024}, {op::pointwise, 28, 1024}};
  constexpr auto g = line(wide, {1, 28, 28, 256});
  static_assert(chains(g, true, {.l2_bytes = 1 << 20}).count == 3);  // 1 MB of weights at each end
  static_assert(chains(g, true, {.l2_bytes = 8 << 20}).count == 2);  // 5 MB in three: two fit
}

TEST_CASE("a value read twice, a network output and a dense convolution end a chain") {
  auto g = mobilenet_start;
  g.outputs[0] = 1;  // the stem's result is given out (and read)
  CHECK(chains(g).of[0] != chains(g).of[1]);
  auto h = mobilenet_start;
  h.nodes[2].kind = op::conv2d;
  CHECK(chains(h).of[0] != chains(h).of[1]);
}

TEST_CASE("the chains of a line save as much as the best of all ways to cut it") {
  unsigned seed = 1;
  auto const pick = [&](int n) { return int((seed = seed * 1664525u + 1013904223u) >> 16) % n; };
  for (int round = 0; round < 500; ++round) {
    link links[9];
    for (link& l : links) l = {pick(2) ? op::pointwise : op::depthwise, 7 + pick(60), 1 + pick(64)};
    auto const g = line(links, {1, 40, 40, 16});
    auto const c = chains(g);
    auto const saved_by = [&](auto const& cut_before) {  // -1: not allowed
      long saved = 0, weights = 0;
      int length = 0;
      for (int i = 0; i < 9; ++i) {
        node const& n = g.nodes[i + 1];
        long const own =
            4L * n.out.c * n.win.kernel_h * n.win.kernel_w * (n.kind == op::depthwise ? 1 : g.nodes[i].out.c);
        if (i == 0 || cut_before(i)) {
          length = 1;
          weights = own;
          continue;
        }
        weights += own;
        long const bytes = 4 * g.nodes[i].out.count();
        if (++length > max_chain || weights > (1 << 20) / 2 || bytes + 4 * n.out.count() <= (1 << 20) / 2 ||
            n.out.w < 7)
          return -1L;
        saved += bytes;
      }
      return saved;
    };
    long best = 0;
    for (int cuts = 0; cuts < 512; ++cuts) best = std::max(best, saved_by([&](int i) { return cuts >> i & 1; }));
    REQUIRE(saved_by([&](int i) { return c.of[i] != c.of[i - 1]; }) == best);
  }
}
