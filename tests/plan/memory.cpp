// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic execution of plans: every float of memory holds the name of the value element that was last written there.
// Each step must find the elements that it is meant to read, so a wrong place, order or lifetime shows.
#include "random_graph.hpp"

#include <ago/plan/memory.hpp>
#include <ago/plan/schedule.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace ago;
using namespace ago::ir;
using namespace ago::partition;
using namespace ago::plan;
using namespace plan_test;

namespace {

/// The original of an element that concats, slices, shuffles and identities pass on.
struct element {
  int node;
  long index;
  bool operator==(element const&) const = default;
};

element origin(test_graph const& g, int v, long index) {
  node const& n = g.nodes[v];
  if (n.kind == op::identity) return origin(g, g.operand(v), index);
  if (!plan::moves_channels(n)) return {v, index};
  long const pixel = index / n.out.c;
  int channel = int(index % n.out.c);
  if (n.kind == op::slice) return origin(g, g.operand(v), pixel * g.source(v).out.c + n.begin + channel);
  if (n.kind == op::channel_shuffle)  // channel i * groups + a was channel i of group a
    return origin(g, g.operand(v), pixel * n.out.c + channel % n.groups * (n.out.c / n.groups) + channel / n.groups);
  for (int k = 0;; ++k) {
    int const c = g.source(v, k).out.c;
    if (channel < c) return origin(g, g.operand(v, k), pixel * c + channel);
    channel -= c;
  }
}

class simulation {
 public:
  simulation(test_graph const& g, memory_plan<40> const& m, bool const* runs) : g_(g), m_(m), runs_(runs) {
    element const nothing{-1, -1};
    arena_.assign(std::size_t(m.arena_floats), nothing);
    for (int v = 0; v < g.input_count; ++v) {
      inputs_.emplace_back();
      for (long i = 0; i < g.nodes[v].out.count(); ++i) inputs_.back().push_back({v, i});
    }
    weights_.assign(std::size_t(m.constant_floats), nothing);
    for (int v = g.input_count; v < g.node_count; ++v)
      for (long i = 0; g.nodes[v].kind == op::constant && i < g.nodes[v].out.count(); ++i)
        weights_.at(std::size_t(m.at[v].offset + i)) = {v, i};
    for (int o = 0; o < g.output_count; ++o)
      outputs_.emplace_back(std::size_t(g.nodes[g.outputs[o]].out.count()), nothing);
  }

  element& at(place const& p, long pixel, int channel) {
    auto& area = p.in == place::area::arena     ? arena_
                 : p.in == place::area::weights ? weights_
                 : p.in == place::area::input   ? inputs_[std::size_t(p.index)]
                                                : outputs_[std::size_t(p.index)];
    return area.at(std::size_t(p.offset + pixel * p.pixel_stride + channel));  // throws beyond the end
  }
  /// The part of a value that exists at a time. All its memory belongs to the value nevertheless.
  shape kept(place const& p, int v) const {
    shape s = g_.nodes[v].out;
    if (p.ring) {
      s.n = 1, s.h = p.ring;
      if (runs_[v]) s.w = 1;
      if (p.pixel_stride < s.c) s.c = p.pixel_stride;
    }
    return s;
  }
  bool holds(int v) {
    shape const s = kept(m_.at[v], v);
    for (long i = 0; i < s.count(); ++i)
      if (!(at(m_.at[v], i / s.c, int(i % s.c)) == origin(g_, v, i))) return false;
    return true;
  }
  /// Whether the channels of v are where `runs` say.
  bool holds(int v, run_list const& runs) {
    int channels = 0;
    for (int r = 0; r < runs.count; channels += runs.run[r++].count)
      if (!holds_piece(v, runs.run[r])) return false;
    return channels == g_.nodes[v].out.c;
  }
  /// Whether these channels of v are there.
  bool holds_piece(int v, channel_run const& r) {
    shape const s = g_.nodes[v].out;
    for (long pixel = 0; pixel < s.pixels(); ++pixel)
      for (int i = 0; i < r.count; ++i)
        if (!(at(m_.at[r.value], pixel, r.first + i) == origin(g_, v, pixel * s.c + r.start + i * r.step)))
          return false;
    return true;
  }
  void write(place const& p, int v) {
    shape const s = kept(p, v);
    for (long i = 0; i < s.count(); ++i) at(p, i / s.c, int(i % s.c)) = origin(g_, v, i);
  }
  /// Writes channels start, start + step, ... of v to channels `to`, to + to_step, ... of its memory.
  void write_piece(int v, channel_run const& r, int to, int to_step) {
    shape const s = g_.nodes[v].out;
    for (long pixel = 0; pixel < s.pixels(); ++pixel)
      for (int i = 0; i < r.count; ++i)
        at(m_.at[v], pixel, to + i * to_step) = origin(g_, v, pixel * s.c + r.start + i * r.step);
  }
  bool output_is_right(int o) {
    for (long i = 0; i < long(outputs_[std::size_t(o)].size()); ++i)
      if (!(outputs_[std::size_t(o)][std::size_t(i)] == origin(g_, g_.outputs[o], i))) return false;
    return true;
  }

 private:
  test_graph const& g_;
  memory_plan<40> const& m_;
  bool const* runs_;  ///< for each value: its ring keeps pixels
  std::vector<element> arena_, weights_;
  std::vector<std::vector<element>> inputs_, outputs_;
};

/// The largest number of steps of a random graph.
constexpr int capacity = 400;

/// Every second plan has no pipelines; the others use each tiling in turn.
constexpr tiling wish_of(unsigned seed) {
  constexpr tiling all[] = {tiling::rows, tiling::channels, tiling::channels_rows, tiling::pixels};
  return seed % 2 ? tiling::none : all[seed / 2 % 4];
}

/// Every pipeline that is possible with this tiling, or none. (All buffers of a group are alive while its parts read
/// and write, so its steps can be simulated one after another.)
fusion_list<capacity> groups_of(test_graph const& g, ordered_clusters<40> const& subgraphs,
                                step_list<capacity> const& steps, unsigned seed) {
  plan::uniform_schedule const join_all{{.join = 1, .tiling = wish_of(seed), .tile = 1 + int(seed / 8 % 3)}};
  partitions<40> const parts{.subgraphs = subgraphs, .minis = subgraphs};
  options const o{.target = isa::scalar, .policy = seed % 2 ? policy::ago_ni : policy::ago};
  return fuse_steps(g, steps, parts, o, join_all);
}

}  // namespace

/// A random graph with its steps, fused in each way in turn, and their memory.
struct random_plan {
  graph_maker random;
  test_graph g = random.make();
  channel_layouts<40> layouts = channel_layouts_of(g);
  concat_views<40> views = views_of(g, layouts);
  ordered_clusters<40> minis;
  step_list<capacity> steps;
  fusion_list<capacity> groups;
  memory_plan<40> m;

  explicit random_plan(unsigned seed)
      : random(seed), minis(any_partition(g, random, seed)), steps(form_steps<capacity>(g, minis, views, layouts)),
        groups(groups_of(g, minis, steps, seed)), m(plan_memory(g, steps, groups, views, layouts)) {}
};

TEST_CASE("every step of 12000 random plans reads what it is meant to read, and every output is complete") {
  int copies = 0, pieces = 0, viewed = 0, fused = 0, placed = 0, pipelined[5]{};
  for (unsigned seed = 1; seed <= 12000; ++seed) {
    CAPTURE(seed);
    random_plan const plan(seed);
    auto const& [random, g, layouts, views, minis, steps, groups, m] = plan;
    REQUIRE(step_capacity(g, layouts) <= capacity);
    REQUIRE(steps.count <= step_capacity(g, layouts));
    bool runs[40]{};
    for (int i = 0; i < steps.count; ++i) {
      tiling const how = groups.tiles[groups.group_of[i]].how;
      runs[steps.step[i].result] = how == tiling::pixels;
      pipelined[int(how)] += groups.ring[i] > 0;
    }
    simulation memory(g, m, runs);
    for (int i = 0; i < steps.count; ++i) {
      step_nodes const& s = steps.step[i];
      int const read = s.main >= 0 ? g.operand(s.main) : s.stage_count > 0 ? g.operand(s.stages[0]) : s.source;
      if (s.is_whole()) {
        run_list const runs_read = layouts.where(s.source, g.nodes[s.source].out.c);
        bool const plain = runs_read.is_plain(g.nodes[s.source].out.c);
        REQUIRE((plain ? memory.holds(s.source) : memory.holds(s.source, runs_read)));
        if (!plain) REQUIRE((s.main >= 0 && is_matrix_product(g.nodes[s.main].kind)));
      } else if (s.gathers) {
        channel_run from = s.piece;
        REQUIRE(memory.holds_piece(s.result, from));  // the copy changes no value
      } else {
        REQUIRE(memory.holds_piece(read, s.piece));
        REQUIRE(s.source == s.piece.value);
      }
      for (int k = 0; k < s.stage_count; ++k)
        if (s.others[k] >= 0) REQUIRE(memory.holds(s.others[k]));
      fused += s.stage_count;
      copies += s.gathers;
      pieces += !s.is_whole() && !s.gathers;
      if (s.gathers) {
        memory.write_piece(s.result, s.piece, s.piece.start, s.piece.step);
      } else if (!s.is_whole()) {
        memory.write_piece(s.result, s.piece, s.piece_at, 1);
      } else if (s.copy_to_output >= 0) {
        memory.write({place::area::output, std::uint16_t(s.copy_to_output), 0, g.nodes[s.result].out.c}, s.result);
      } else {
        memory.write(m.at[s.result], s.result);
      }
    }
    for (int o = 0; o < g.output_count; ++o) REQUIRE(memory.output_is_right(o));
    for (int v = 0; v < g.node_count; ++v) placed += views.parent[v] >= 0, viewed += layouts.is_view[v];
  }
  CHECK(copies > 100);  // the generator reaches these paths
  CHECK(pieces > 30);   // compilers draw different graphs
  CHECK(viewed > 1000);
  CHECK(fused > 1000);
  CHECK(placed > 1000);
  for (int how = int(tiling::rows); how <= int(tiling::pixels); ++how) CHECK(pipelined[how] > 30);
}

/// Does x take the memory of y at the step that reads it for the last time?
bool takes_over(memory_plan<40> const& m, buffer const& x, buffer const& y) {
  if (x.over < 0 || (&m.buffers[x.over] != &y && x.over != y.over)) return false;
  return x.offset == y.offset && x.floats == y.floats && x.first == y.last;
}

TEST_CASE("no two live buffers overlap, and all are in the arena at 64-byte boundaries") {
  int in_place = 0;
  for (unsigned seed = 1; seed <= 12000; ++seed) {
    CAPTURE(seed);
    memory_plan<40> const m = random_plan(seed).m;
    for (int a = 0; a < m.buffer_count; ++a) {
      buffer const& x = m.buffers[a];
      REQUIRE(x.offset >= 0);
      REQUIRE(x.offset % 16 == 0);
      REQUIRE(x.offset + x.floats <= m.arena_floats);
      REQUIRE(x.first <= x.last);
      for (int b = 0; b < a; ++b) {
        buffer const& y = m.buffers[b];
        bool const both_live = x.first <= y.last && y.first <= x.last;
        bool const apart = x.offset + x.floats <= y.offset || y.offset + y.floats <= x.offset;
        REQUIRE((!both_live || apart || takes_over(m, x, y) || takes_over(m, y, x)));
      }
      in_place += x.over >= 0;
    }
  }
  CHECK(in_place > 300);
}

TEST_CASE("the part of a value that a pipeline keeps has exactly the size of its tile") {
  int checked = 0;
  for (unsigned seed = 2; seed <= 12000; seed += 2) {
    CAPTURE(seed);
    random_plan const plan(seed);
    auto const& [random, g, layouts, views, minis, steps, groups, m] = plan;
    for (int i = 0; i + 1 < steps.count; ++i) {
      if (groups.group_of[i] != groups.group_of[i + 1]) continue;
      int const v = steps.step[i].result, k = groups.group_of[i];
      shape const& s = g.nodes[v].out;
      chain_tiling const& t = groups.tiles[k];
      long const whole_rows = long(s.h) * s.w, ring_rows = std::min(s.h, pipeline_rows) * long(s.w);  // windows are 1x1
      long const expected = t.how == tiling::rows            ? ring_rows * s.c
                            : t.how == tiling::channels      ? whole_rows * t.tile
                            : t.how == tiling::channels_rows ? ring_rows * t.tile
                                                             : std::min<long>(t.tile, s.pixels()) * s.c;
      REQUIRE(t.how != tiling::none);
      if (by_channels(t.how)) REQUIRE(t.tile < s.c);
      for (int b = 0; b < m.buffer_count; ++b) {
        if (m.buffers[b].value != v) continue;
        REQUIRE(m.buffers[b].floats == (expected + 15) / 16 * 16);
        REQUIRE(m.buffers[b].first == k);
        REQUIRE(m.buffers[b].last == k);
        ++checked;
      }
    }
  }
  CHECK(checked > 300);
}

TEST_CASE("a result is in the memory of an operand only if its kernel reads each element before it is overwritten") {
  int elementwise = 0;
  for (unsigned seed = 1; seed <= 12000; ++seed) {
    CAPTURE(seed);
    random_plan const plan(seed);
    auto const& [random, g, layouts, views, minis, steps, groups, m] = plan;
    for (int b = 0; b < m.buffer_count; ++b) {
      if (m.buffers[b].over < 0) continue;
      int writers = 0;
      for (int i = 0; i < steps.count; ++i) {
        if (steps.step[i].result != m.buffers[b].value) continue;
        step_nodes const& s = steps.step[i];
        structure const what = s.main < 0 ? structure::elementwise : structure_of(g, s);
        REQUIRE((what == structure::elementwise || what == structure::softmax || what == structure::layer_norm));
        REQUIRE(groups.parts[groups.group_of[i]] == 1);
        elementwise += what == structure::elementwise;
        ++writers;
      }
      REQUIRE(writers == 1);
    }
  }
  CHECK(elementwise > 300);
}

TEST_CASE("the arena of a chain is its largest pair of neighbours") {
  graph<4, 3> g{};
  int const channels[] = {16, 64, 32, 16};
  for (int v = 0; v < 4; ++v) {
    g.nodes[v] = {.kind = v ? op::pointwise : op::input,
                  .out = {1, 4, 4, channels[v]},
                  .input_first = v - 1,
                  .input_count = v > 0};
    if (v) g.edges[v - 1] = v - 1;
  }
  g.node_count = 4, g.edge_count = 3, g.input_count = 1, g.output_count = 1, g.outputs[0] = 3;
  ordered_clusters<4> p{.of = {-1, 0, 1, 2}, .order = {1, 2, 3}, .count = 3, .operators = 3, .acyclic = true};
  auto const views = views_of(g);
  auto const steps = form_steps(g, p, views);
  auto const m =
      plan_memory(g, steps, fuse_steps(g, steps, {.subgraphs = p, .minis = p, .intensive = false}, {}, untuned), views);
  CHECK(m.arena_floats == 16 * (64 + 32));  // input and output belong to the caller
  CHECK(m.at[0].in == place::area::input);
  CHECK(m.at[3].in == place::area::output);
}
