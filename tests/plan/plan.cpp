#include <ago/plan/plan.hpp>
#include <doctest/doctest.h>

#include <set>

using namespace ago;

namespace {

/// A chain of operators on one image; `sizes` are the channels behind each.
template <int N>
constexpr graph<N + 1, N> chain(op const (&kinds)[N], int const (&channels)[N], shape in) {
  graph<N + 1, N> g{};
  g.nodes[0] = {.kind = op::input, .out = in};
  int parameters = 0;
  for (int v = 1; v <= N; ++v) {
    node& n = g.nodes[v];
    n = {.kind = kinds[v - 1], .out = in, .input_first = v - 1, .input_count = 1};
    n.out.c = channels[v - 1];
    g.edges[v - 1] = v - 1;
    int const before = g.nodes[v - 1].out.c;
    if (n.kind == op::pointwise) n.weight = parameters, parameters += before * n.out.c;
    if (n.kind == op::depthwise)
      n.win = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, n.weight = parameters, parameters += 9 * n.out.c;
    if (n.kind == op::bias) n.shift = parameters, parameters += n.out.c;
  }
  g.node_count = N + 1, g.edge_count = N, g.input_count = 1, g.output_count = 1, g.outputs[0] = N;
  g.parameters = parameters;
  return g;
}

template <int V>
constexpr partition<V> each_alone(int inputs, int nodes) {
  partition<V> p{};
  for (int v = 0; v < nodes; ++v) {
    p.of[v] = v < inputs ? -1 : v - inputs;
    if (v >= inputs) p.order[p.operators++] = v;
  }
  p.count = nodes - inputs;
  p.acyclic = true;
  return p;
}
template <int V>
constexpr partition<V> all_together(int inputs, int nodes) {
  auto p = each_alone<V>(inputs, nodes);
  for (int v = inputs; v < nodes; ++v) p.of[v] = 0;
  p.count = 1;
  return p;
}

constexpr op block_kinds[] = {op::pointwise, op::bias,  op::relu6,     op::depthwise,
                              op::bias,      op::relu6, op::pointwise, op::bias};
constexpr auto block = chain(block_kinds, {96, 96, 96, 96, 96, 96, 24, 24}, {1, 14, 14, 16});
constexpr auto twice = chain({op::pointwise, op::bias, op::pointwise, op::bias}, {32, 32, 32, 32}, {1, 14, 14, 32});

template <auto const& G>
constexpr auto steps_of = form_steps(G, all_together<G.node_capacity>(1, G.node_count), views_of(G));
template <auto const& G, options Options, auto const& Table>
constexpr auto groups_of =
    fuse_steps(G, steps_of<G>, partitions<G.node_capacity>{.subgraphs = all_together<G.node_capacity>(1, G.node_count)},
               Options, Table);
constexpr options avx2(isa::avx2, policy::ago_ni);
template <auto const& G, options Options = avx2, auto const& Table = untuned>
constexpr auto plan_of = make_plan<steps_of<G>.count>(G, steps_of<G>, groups_of<G, Options, Table>,
                                                      plan_memory(G, steps_of<G>, groups_of<G, Options, Table>,
                                                                  views_of(G)),
                                                      Table, Options.target);

}  // namespace

TEST_CASE("an inverted residual without its residual is three steps with fused epilogues") {
  constexpr auto& p = plan_of<block>;
  static_assert(steps_of<block>.count == 3);
  static_assert(p.steps[0].key.what == structure::pointwise && p.steps[1].key.what == structure::depthwise);
  static_assert(p.steps[0].key.after.count() == 1 && p.steps[0].key.after.stages[0].kind == op::relu6);
  static_assert(p.steps[2].key.after.count() == 0);
  static_assert(p.steps[1].packing.main.shift >= 0);
}

TEST_CASE("packed weights of the steps are aligned and do not overlap") {
  constexpr auto& p = plan_of<block, isa::avx512>;
  long end = 0;
  for (auto const& s : p.steps) {
    CHECK(s.data.weights % 16 == 0);
    CHECK(s.data.weights >= end);
    end = s.data.weights + packed_floats(s.key, s.data);
  }
  CHECK(p.packed_floats >= end);
}

TEST_CASE("equal steps have equal signatures, and any change of shape, operator or target changes it") {
  constexpr auto& p = plan_of<twice>;
  CHECK(p.steps[0].signature == p.steps[1].signature);
  std::set<std::uint64_t> seen;
  auto const first = [&](auto const& plan) { return seen.insert(plan.steps[0].signature).second; };
  static constexpr auto plain = chain({op::pointwise}, {32}, {1, 14, 14, 32});
  static constexpr auto more_out = chain({op::pointwise}, {33}, {1, 14, 14, 32});
  static constexpr auto more_in = chain({op::pointwise}, {32}, {1, 14, 14, 33});
  static constexpr auto wide = chain({op::pointwise}, {32}, {1, 14, 15, 32});
  static constexpr auto images = chain({op::pointwise}, {32}, {2, 14, 14, 32});
  static constexpr auto relu = chain({op::pointwise, op::relu}, {32, 32}, {1, 14, 14, 32});
  static constexpr auto relu6 = chain({op::pointwise, op::relu6}, {32, 32}, {1, 14, 14, 32});
  static constexpr auto depthwise = chain({op::depthwise}, {32}, {1, 14, 14, 32});
  CHECK(first(p));
  CHECK(first(plan_of<twice, isa::avx512>));
  CHECK(first(plan_of<more_out>));
  CHECK(first(plan_of<more_in>));
  CHECK(first(plan_of<wide>));
  CHECK(first(plan_of<images>));
  CHECK(first(plan_of<plain>));
  CHECK(first(plan_of<relu>));
  CHECK(first(plan_of<relu6>));
  CHECK(first(plan_of<depthwise>));
}

namespace {
inline constexpr schedule_table tuned{{{plan_of<twice>.steps[0].signature, {.pixels = 2, .vectors = 2, .block = 28}}}};
inline constexpr schedule_table stale{{{plan_of<twice>.steps[0].signature + 1, {.pixels = 2, .vectors = 2}}}};
}  // namespace

TEST_CASE("a tuned schedule is taken for every step with its signature, a stale one is ignored") {
  constexpr auto& p = plan_of<twice, avx2, tuned>;
  static_assert(p.tuned_steps == 2 && p.steps[0].tuned && p.steps[1].tuned);
  static_assert(p.steps[0].key.tile.pixels == 2 && p.steps[0].key.tile.vectors == 2 && p.steps[0].data.block == 28);
  constexpr auto& q = plan_of<twice, avx2, stale>;
  static_assert(q.tuned_steps == 0 && q.steps[0].key == plan_of<twice>.steps[0].key);
}

TEST_CASE("a partial last vector is part of the key") {
  static constexpr auto odd = chain({op::pointwise}, {33}, {1, 4, 4, 8}),
                        even = chain({op::pointwise}, {32}, {1, 4, 4, 8});
  static_assert(plan_of<odd>.steps[0].key.partial && !plan_of<even>.steps[0].key.partial);
}
