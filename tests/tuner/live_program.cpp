// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtime programs compared with programs compiled with the same schedules.
#include "../runtime/drawing.hpp"
#include "networks.hpp"

#include <ago/ago.hpp>
#include <ago/runtime/any_program.hpp>
#include <ago/runtime/team.hpp>
#include <ago/tuner/live_plan.hpp>
#include <ago/tuner/live_program.hpp>
#include <ago/tuner/sample_data.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

using namespace tune_test;
using model_test::draw;
using tuner::live_plan;
using tuner::live_program;
using tuner::schedule_list;

namespace {

/// Schedules from the tuner's space for most steps; tiles inside pipelines rarely, because the menu has few of them.
template <auto const& Net, options_for Options, unsigned Seed>
class drawn {
  using steps = tuner::network_space<Net, Options>;

  static constexpr schedule draw_one(int i) {
    schedule s;
    unsigned const at = unsigned(i) * 8;
    if (steps::can_join(i)) {
      tuner::tiling_options const tilings = steps::tilings(i - 1, 2);
      int const k = draw(Seed, at, -2, tilings.count - 1);
      s.join = k == -2 ? -1 : 1;
      if (k >= 0) s.tiling = tilings.option[k].how, s.tile = tilings.option[k].tile;
    }
    bool const alone = s.join <= 0 && !(i + 1 < steps::count && steps::can_join(i + 1));
    bool const repacked = draw(Seed, at + 6, 0, 2) == 0;
    schedule const tile =
        repacked ? steps::repacked_tiles(i).wish(0) : steps::tiles(i).wish(draw(Seed, at + 1, -1, alone ? 4 : 1));
    if (alone || draw(Seed, at + 2, 0, 2) == 0) {
      s.pixels = tile.pixels;
      s.vectors = tile.vectors;
      s.packing = tile.packing;
    }
    constexpr int ways[] = {0, -1, 1, 2, 4};
    s.winograd = ways[draw(Seed, at + 3, 0, 4)];
    s.block = draw(Seed, at + 4, 0, 1) * draw(Seed, at + 5, 0, 20);
    if (Options.device.threads > 1) s.split = split(draw(Seed, at + 7, 0, 5));
    return s;
  }
  struct found {
    ago::plan::tuned_schedule entries[steps::count];
    int count = 0;
  };
  static constexpr found sorted = [] {
    found all{};
    for (int i = 0; i < steps::count; ++i) {
      if (steps::is_repeated(i)) continue;
      int at = all.count++;
      for (; at > 0 && all.entries[at - 1].signature > steps::signature(i); --at) all.entries[at] = all.entries[at - 1];
      all.entries[at] = {steps::signature(i), draw_one(i)};
    }
    return all;
  }();

 public:
  static constexpr auto table = [] {
    schedule_table<std::size_t(sorted.count)> t{};
    for (int k = 0; k < sorted.count; ++k) t.entries[k] = sorted.entries[k];
    return t;
  }();
};

/// Pointers to samples of all inputs, and to outputs.
template <auto const& Net>
class values {
  static constexpr auto const& graph = ago::passes::optimized<Net>::value;

 public:
  values() : inputs_(tuner::sample_inputs(graph)) {
    for (int k = 0; k < graph.output_count; ++k)
      outputs.emplace_back(std::size_t(graph.nodes[graph.outputs[k]].out.count()), -1.f);
    for (auto const& x : inputs_) in.push_back(x.data());
    for (auto& x : outputs) out.push_back(x.data());
  }
  std::vector<std::vector<float>> outputs;
  std::vector<float const*> in;
  std::vector<float*> out;

 private:
  std::vector<std::vector<float>> inputs_;
};

template <class Program, auto const& Net>
std::vector<std::vector<float>> result_of_program(std::vector<float> const& weights) {
  tuner::program_memory const packed(Program::packed_floats), arena(Program::arena_floats);
  ago::runtime::any_program::of<Program>().pack(weights.data(), packed.data());
  values<Net> v;
  Program::run({packed.data(), arena.data(), v.in.data(), v.out.data()});
  return v.outputs;
}

template <class Program, class Plan>
void check_plan(Plan const& plan) {
  REQUIRE(plan.steps() == Program::steps);
  CHECK(plan.packed_floats() == Program::packed_floats);
  CHECK(plan.arena_floats() == Program::arena_floats);
  for (int k = 0; k < Program::steps; ++k) {
    REQUIRE(plan.first_part(k) == Program::first_part(k));
    CHECK(plan.tiling_of(k) == Program::tiling_of(k));
    CHECK(plan.split_of(k) == Program::split_of(k));
    int const first = Program::first_part(k), count = Program::first_part(k + 1) - first;
    CHECK(plan.key(k) == ago::plan::pipeline_key(plan.tiling_of(k).how, count,
                                                 [&](int i) { return Program::plan.steps[first + i].key; }));
  }
  for (int i = 0; i < plan.part_count; ++i) {
    ago::plan::planned_data const &a = plan.part(i).data, &b = Program::plan.steps[i].data;
    CHECK(a.block == b.block);
    CHECK(a.weights == b.weights);
    CHECK(a.scratch == b.scratch);
    CHECK((a.source == b.source && a.destination == b.destination));
  }
}

/// Checks that the plans are equal and, if the menu has all kernels, the results. Returns whether it has all kernels.
template <auto const& Net, auto const& Table, options_for Options>
bool compare(schedule_list const& list, live_program<live_plan<Net, Options>> const* like,
             std::shared_ptr<tuner::program_place<live_plan<Net, Options>>> where) {
  using compiled = program<Net, Table, Options>;
  using plan_type = live_plan<Net, Options>;
  auto const plan = std::make_shared<plan_type const>(list);
  check_plan<compiled>(*plan);
  std::vector<float> const weights = tuner::sample_parameters<Net>();
  auto const live =
      live_program<plan_type>::make(plan, tuner::menu<Net, Options>::view(), weights, like, std::move(where));
  if (!live) return false;
  values<Net> v;
  team workers(Options.device.threads);
  live->run(v.in.data(), v.out.data(), workers);
  CHECK(v.outputs == result_of_program<compiled, Net>(weights));
  values<Net> by_steps;
  for (int k = 0; k < plan->steps(); ++k) live->run_step(k, by_steps.in.data(), by_steps.out.data(), workers);
  CHECK(by_steps.outputs == v.outputs);
  return true;
}

/// Compares the default table and `Tables` random ones: packed in places of their own, with the weights of others, and
/// one after another in the same place. Returns for how many random tables the menu has all kernels.
template <auto const& Net, options_for Options, unsigned Tables>
int compare_all() {
  using plan_type = live_plan<Net, Options>;
  using live = live_program<plan_type>;
  std::vector<float> const weights = tuner::sample_parameters<Net>();
  auto const plan = std::make_shared<plan_type const>(schedule_list{});
  auto const usual = live::make(plan, tuner::menu<Net, Options>::view(), weights);
  REQUIRE(usual);
  CHECK(compare<Net, untuned, Options>({}, nullptr, nullptr));
  auto const shared = std::make_shared<typename live::place_type>(8 * live::floats_of(*plan) + 100'000);
  return [&]<unsigned... S>(std::integer_sequence<unsigned, S...>) {
    return (compare<Net, drawn<Net, Options, S>::table, Options>(
                schedule_list({std::begin(drawn<Net, Options, S>::table.entries),
                               std::end(drawn<Net, Options, S>::table.entries)}),
                S % 2 ? usual.get() : nullptr, S % 4 ? shared : nullptr) +
            ...);
  }(std::make_integer_sequence<unsigned, Tables>());
}

constexpr options native{}, portable{.target = isa::scalar}, apart{.policy = policy::ago_ni},
    all_merged{.horizontal_fusion = horizontal_fusion::always};
/// Elementwise operators that start pipelines, whose input exceeds L2.
inline constexpr auto rectified = ago::input{.h = 24, .w = 14, .c = 16} | [](ago::tensor x) {
  ago::tensor const y = x | ago::pointwise{48};
  return y + (y | ago::relu6{} | ago::pointwise{48}) + (y | ago::clip{-1, 1} | ago::depthwise{.kernel = 3, .pad = 1});
};
constexpr options small_caches{.device = {.l1_bytes = 8 << 10, .l2_bytes = 48 << 10}};
constexpr options several{.threads = {3}};

/// The number of operators of `Net`, as compiled by `all_merged`, for which `is` holds.
template <auto const& Net>
constexpr int count_merged_nodes(auto const& is) {
  int n = 0;
  for (node const& v : program<Net, untuned, all_merged>::graph.nodes) n += is(v);
  return n;
}

}  // namespace

TEST_CASE("chains: planned at run time, keys and results are identical to those of the compiled program") {
  CHECK(compare_all<chains, native, 4>() >= 2);
}

TEST_CASE("branches: likewise, with narrow vectors") { CHECK(compare_all<branches, portable, 3>() >= 2); }

TEST_CASE("branches: likewise, without intensive fusion") { CHECK(compare_all<branches, apart, 2>() == 2); }

TEST_CASE("chains and tokens: likewise, divided for three threads") {
  CHECK(compare_all<chains, several, 2>() >= 1);
  CHECK(compare_all<tokens, several, 2>() >= 1);
}

TEST_CASE("tokens: likewise") { CHECK(compare_all<tokens, native, 2>() >= 1); }

TEST_CASE("steps that differ only in the place of their input: likewise") {
  using net = program<shuffled, untuned, native>;
  static_assert([] {
    int pairs = 0;
    for (int a = 0; a < ago::runtime::formed<shuffled, native>::parts.count; ++a)
      for (int b = 0; b < a; ++b)
        pairs += net::plan.steps[a].signature == net::plan.steps[b].signature &&
                 !(net::plan.steps[a].key == net::plan.steps[b].key);
    return pairs;
  }() > 0);
  CHECK(compare_all<shuffled, native, 2>() >= 1);
}

TEST_CASE("pipelines that prefetch what elementwise operators read: likewise") {
  live_plan<rectified, small_caches> const plan(schedule_list{});
  int prefetching = 0;
  for (int k = 0; k < plan.steps(); ++k) prefetching += plan.key(k).part[1].fetches_ahead;
  CHECK((prefetching > 0) == !ir::is_scheduled_by_hand(native_isa));
  CHECK(compare_all<rectified, small_caches, 2>() >= 1);
}

TEST_CASE("siblings and trained values: likewise, packed with all merged operators") {
  static_assert(count_merged_nodes<families>([](node const& v) { return v.is_merged(); }) > 0);
  static_assert(count_merged_nodes<families>([](node const& v) { return v.kind == op::constant; }) == 1);
  CHECK(compare_all<families, all_merged, 2>() >= 1);
}
