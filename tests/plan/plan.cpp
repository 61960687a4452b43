// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/plan/plan.hpp>
#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <string>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::partition;
using namespace ago::plan;

namespace {

/// A chain of operators on one image; `sizes` are the channels after each.
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
constexpr ordered_clusters<V> each_alone(int inputs, int nodes) {
  ordered_clusters<V> p{};
  for (int v = 0; v < nodes; ++v) {
    p.of[v] = v < inputs ? -1 : v - inputs;
    if (v >= inputs) p.order[p.operators++] = v;
  }
  p.count = nodes - inputs;
  p.acyclic = true;
  return p;
}
template <int V>
constexpr ordered_clusters<V> all_together(int inputs, int nodes) {
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
template <auto const& G, options_for Options, auto const& Table>
constexpr auto groups_of =
    fuse_steps(G, steps_of<G>,
               partitions<G.node_capacity>{.subgraphs = all_together<G.node_capacity>(1, G.node_count),
                                           .minis = {},
                                           .intensive = Options.policy == policy::ago},
               Options, Table);
constexpr options avx2{.target = isa::avx2, .policy = policy::ago_ni};
template <auto const& G, options_for Options = avx2, auto const& Table = untuned>
constexpr auto plan_of = make_plan<steps_of<G>.count>(
    G, steps_of<G>, groups_of<G, Options, Table>,
    plan_memory(G, steps_of<G>, groups_of<G, Options, Table>, views_of(G)), Table, Options);

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

TEST_CASE("weights that are trained share memory from step to step, but not within a pipeline") {
  static constexpr options apart = with_storage(avx2, storage::trained);
  static constexpr options intensive{.target = isa::avx2, .policy = policy::ago};
  static constexpr options together = with_storage(intensive, storage::trained);
  auto const check = []<int N>(auto const& groups, execution_plan<N> const& p) {
    long most = 0, end = 0;
    for (int i = 0; i < N; ++i) {
      planned_step const& s = p.steps[i];
      if (groups.first[groups.group_of[i]] == i) end = 0;
      CHECK(s.data.weights == end);
      end += (packed_floats(s.key, s.data) + 15) / 16 * 16;
      most = end > most ? end : most;
    }
    CHECK(p.packed_floats == most);
  };
  static_assert(groups_of<block, apart, untuned>.count == 3 && groups_of<block, together, untuned>.count == 1);
  check(groups_of<block, apart, untuned>, plan_of<block, apart>);
  check(groups_of<block, together, untuned>, plan_of<block, together>);
  CHECK(plan_of<block, apart>.packed_floats < plan_of<block>.packed_floats);
  CHECK(plan_of<block, together>.packed_floats == plan_of<block>.packed_floats);
}

TEST_CASE("steps planned in pieces are those planned at once") {
  static constexpr auto& g = block;
  static constexpr auto& steps = steps_of<block>;
  static constexpr auto& groups = groups_of<block, avx2, untuned>;
  auto const memory = plan_memory(g, steps, groups, views_of(g));
  auto const piece = [&]<int N>(std::integral_constant<int, N>, int first, auto const*... before) {
    return make_plan<N>(g, steps, groups, memory, untuned, avx2, {}, input_run_table<0, 3>{}, first, before...);
  };
  auto const two = piece(std::integral_constant<int, 2>{}, 0);
  auto const one = piece(std::integral_constant<int, 1>{}, 2, &two);
  auto const joined = join<3>(two, one);
  auto const& whole = plan_of<block>;
  CHECK(joined.packed_floats == whole.packed_floats);
  CHECK(joined.tuned_steps == whole.tuned_steps);
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(joined.steps[i].key == whole.steps[i].key);
    CHECK(joined.steps[i].data.weights == whole.steps[i].data.weights);
    CHECK(joined.steps[i].data.source == whole.steps[i].data.source);
    CHECK(joined.steps[i].data.destination == whole.steps[i].data.destination);
    CHECK(joined.steps[i].signature == whole.steps[i].signature);
  }
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

TEST_CASE("a tuned schedule is used for every step with its signature; a stale one is ignored") {
  constexpr auto& p = plan_of<twice, avx2, tuned>;
  static_assert(p.tuned_steps == 2 && p.steps[0].tuned && p.steps[1].tuned);
  static_assert(p.steps[0].key.tile.pixels == 2 && p.steps[0].key.tile.vectors == 2 && p.steps[0].data.block == 28);
  constexpr auto& q = plan_of<twice, avx2, stale>;
  static_assert(q.tuned_steps == 0 && q.steps[0].key == plan_of<twice>.steps[0].key);
}

TEST_CASE("cache blocks are chosen for the device") {
  static constexpr auto wide = chain({op::pointwise}, {96}, {1, 28, 28, 192});  // 602 KB
  constexpr options small{.target = isa::avx2, .policy = policy::ago_ni, .device = cortex_a55};
  static_assert(plan_of<wide>.steps[0].data.block == 0 && plan_of<wide, small>.steps[0].data.block > 0);
}

TEST_CASE("a partial last vector is part of the key") {
  static constexpr auto odd = chain({op::pointwise}, {33}, {1, 4, 4, 8}),
                        even = chain({op::pointwise}, {32}, {1, 4, 4, 8});
  static_assert(plan_of<odd>.steps[0].key.partial && !plan_of<even>.steps[0].key.partial);
}

TEST_CASE("register tiles divide the tile of their pipeline, and their remainders those of its lines") {
  int paired = 0;
  for (isa const target : {isa::scalar, isa::sse42, isa::avx2, isa::avx512, isa::neon})
    for (int c = 17; c < 220; c += 1 + c / 40)
      for (int tile = lanes(target); tile < c; tile += lanes(target) * (1 + tile / 50)) {
        CAPTURE(std::string(name_of(target)));
        CAPTURE(c);
        CAPTURE(tile);
        step_data s{.in = {2, 9, 5, 24}, .out = {2, 9, 5, c}};
        kernel_key k{.what = structure::pointwise, .target = target};
        choose_matrix(k, s, {}, {tiling::channels, tile});
        paired += k.paired;
        REQUIRE(tile % layout_of_matrix(k, s).panel == 0);
        REQUIRE(k.tile.pixels_left == 9 * 5 % k.tile.pixels);
        kernel_key by_rows{.what = structure::pointwise, .target = target};
        choose_matrix(by_rows, s, {}, {tiling::channels_rows, tile});
        REQUIRE(tile % layout_of_matrix(by_rows, s).panel == 0);
        REQUIRE(by_rows.tile.pixels_left == 5 % by_rows.tile.pixels);
        kernel_key adds{.what = structure::pointwise, .target = target, .accumulates = true};
        choose_matrix(adds, s, {}, {tiling::channels, tile});  // its own channels are not divided
        REQUIRE(!adds.paired);
        kernel_key runs{.what = structure::pointwise, .target = target};
        choose_matrix(runs, s, {.pixels = 5, .vectors = 1}, {tiling::pixels, tile});
        REQUIRE((tile >= 90 || tile % runs.tile.pixels == 0));
        REQUIRE(runs.tile.pixels_left == 90 % runs.tile.pixels);
        if (tile % 5 == 0) REQUIRE(runs.tile.pixels == 5);
      }
  CHECK(paired > 0);
}

namespace {
template <tiling How, int Tile>
inline constexpr plan::uniform_schedule joined{{.join = 1, .tiling = How, .tile = Tile}};
constexpr options fusing{.target = isa::avx2, .policy = policy::ago};
}  // namespace

TEST_CASE("a pipeline by channels passes chunks on, and its last matrix product accumulates them") {
  constexpr auto& p = plan_of<block, fusing, joined<tiling::channels, 40>>;
  constexpr auto& groups = groups_of<block, fusing, joined<tiling::channels, 40>>;
  static_assert(groups.count == 1 && groups.tiles[0] == chain_tiling{tiling::channels, 40});
  static_assert(!p.steps[0].key.accumulates && !p.steps[1].key.accumulates && p.steps[2].key.accumulates);
  static_assert(p.steps[0].data.destination.pixel_stride == 40 && p.steps[0].data.destination.ring == 14);
  static_assert(p.steps[1].data.source == p.steps[0].data.destination);
  static_assert(p.steps[2].data.source == p.steps[1].data.destination);
  static_assert(p.steps[2].data.destination.pixel_stride == 24 && p.steps[2].data.destination.ring == 0);
}

TEST_CASE("a tiling that a chain does not allow is replaced, and a tile consists of whole vectors") {
  constexpr auto& pixels = groups_of<block, fusing, joined<tiling::pixels, 40>>;  // there is a depthwise step
  static_assert(pixels.count == 1 && pixels.tiles[0].how != tiling::pixels && pixels.tiles[0].how != tiling::none);
  static_assert(groups_of<block, fusing, joined<tiling::channels_rows, 33>>.tiles[0].tile == 40);
  static_assert(groups_of<block, fusing, joined<tiling::channels, 500>>.tiles[0].tile < 96);
  static_assert(groups_of<twice, fusing, joined<tiling::pixels, 30>>.tiles[0] == chain_tiling{tiling::pixels, 30});
  static_assert(groups_of<block, avx2, joined<tiling::rows, 0>>.count == 3);  // ago-ni
}

TEST_CASE("the key of a pipeline says that its second part prefetches what elementwise operators read from memory") {
  using plan::structure;
  plan::fusion_list<2> groups{};
  groups.count = 1;
  groups.parts[0] = 2;
  plan::execution_plan<2> p{};
  plan::kernel_key &first = p.steps[0].key, &second = p.steps[1].key;
  auto const fetches = [&](tiling how, structure what) {
    groups.tiles[0].how = how;
    first.what = structure::elementwise;
    first.target = second.target = isa::avx512;
    second.what = what;
    second.kernel_h = 3 * (what == structure::depthwise);
    plan::fused_key const key = plan::key_of(groups, p, 0);
    CHECK(key.part[0].fetches_ahead == first.fetches_ahead);
    return key.part[1].fetches_ahead;
  };
  CHECK(!fetches(tiling::rows, structure::pointwise));
  first.fetches_input = true;  // more than L2 has room for
  CHECK(fetches(tiling::rows, structure::pointwise));
  CHECK(!fetches(tiling::rows, structure::depthwise));
  CHECK(!fetches(tiling::operand, structure::pointwise));
  CHECK(!fetches(tiling::fold, structure::pointwise));  // whose second part is a fold
  first.fetches_ahead = true;                           // more than L3
  CHECK(fetches(tiling::rows, structure::depthwise));
  CHECK(!fetches(tiling::rows, structure::convolution));
  second.in_runs = true;
  CHECK(!fetches(tiling::rows, structure::pointwise));
}
