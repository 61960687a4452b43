// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices, shuffles and concatenations of channels as views: the segments that products read, and the remaining copies.
#include <ago/runtime/program.hpp>
#include <networks/shufflenet_v2.hpp>

#include <doctest/doctest.h>

using namespace ago;
using ago::kernel::start;
using ago::plan::channel_layouts_of;
using ago::plan::channel_run;
using ago::plan::max_runs;
using ago::plan::planned_step;
using ago::plan::run_list;
using ago::plan::structure;

namespace {

template <auto const& Net>
constexpr auto const& plan_of = program<Net>::plan;

template <auto const& Net>
constexpr int count(auto which) {
  int n = 0;
  for (auto const& step : plan_of<Net>.steps) n += which(step);
  return n;
}
/// Steps that move data.
template <auto const& Net>
constexpr int copies =
    count<Net>([](planned_step const& p) { return p.nodes.gathers || p.key.what == structure::copy; });
/// Steps that compute some channels of a value.
template <auto const& Net>
constexpr int pieces = count<Net>([](planned_step const& p) { return !p.nodes.is_whole() && !p.nodes.gathers; });
template <auto const& Net>
constexpr auto const& last_step = plan_of<Net>.steps[program<Net>::first_part(program<Net>::steps) - 1];
/// Segments that it reads.
template <auto const& Net>
constexpr int runs_read = last_step<Net>.data.run_count;

constexpr auto units = input{.h = 28, .w = 28, .c = 24} | networks::shuffle::stage(116, 4) | pointwise{32};

struct stretch {
  int count, start, step;
};
template <int N>
bool reads(planned_step const& p, auto const& runs, stretch const (&expected)[N]) {
  bool same = p.data.run_count == N && p.key.in_runs;
  for (int k = 0, i = 0; same && k < N; ++k, ++i)
    same = runs[i].count == expected[k].count && runs[i].start == expected[k].start && runs[i].step == expected[k].step;
  return same;
}

}  // namespace

TEST_CASE("a ShuffleNet stage copies nothing, and each unit reads one more segment") {
  static_assert(copies<units> == 0 && pieces<units> == 0);
  int in_runs[5]{}, found = 0;
  for (auto const& step : plan_of<units>.steps)
    if (step.data.run_count > 0) in_runs[found < 4 ? found++ : 4] = step.data.run_count;
  REQUIRE(found == 4);
  for (int k = 0; k < 4; ++k) CHECK(in_runs[k] == 2 + k);
}

TEST_CASE("the segments of a stage are every second, fourth ... channel of the values of earlier units") {
  constexpr auto const& g = program<units>::graph;
  constexpr auto layouts = channel_layouts_of(g);
  stretch const second_halves[][4] = {
      {{29, 0, 2}, {29, 1, 2}}, {{14, 2, 4}, {15, 0, 4}, {29, 1, 2}}, {{7, 6, 8}, {7, 2, 8}, {15, 0, 4}, {29, 1, 2}}};
  int unit = 0;
  for (auto const& step : plan_of<units>.steps) {
    if (step.data.run_count == 0 || unit == 3) continue;
    auto const& runs = layouts.runs[step.nodes.source];
    CAPTURE(unit);
    bool right = false;
    if (unit == 0) right = reads(step, runs.run, {second_halves[0][0], second_halves[0][1]});
    if (unit == 1) right = reads(step, runs.run, {second_halves[1][0], second_halves[1][1], second_halves[1][2]});
    if (unit == 2) right = reads(step, runs.run, second_halves[2]);
    CHECK(right);
    ++unit;
  }
  CHECK(unit == 3);
}

namespace {

constexpr auto next_stage = input{.h = 28, .w = 28, .c = 24} | networks::shuffle::stage(116, 2) |
                            depthwise{.kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu{} | pointwise{32};
constexpr auto given_out =
    input{.h = 28, .w = 28, .c = 24} | networks::shuffle::stage(116, 2) | depthwise{.kernel = 3, .stride = 2, .pad = 1};

}  // namespace

TEST_CASE("a depthwise operator filters a value segment by segment, and its product reads the results in place") {
  static_assert(copies<next_stage> == 0 && pieces<next_stage> == 3);
  static_assert(runs_read<next_stage> == 3);
  static_assert(!last_step<next_stage>.key.in_runs);  // contiguous, in another order: only the weights differ
}

TEST_CASE("a depthwise operator reads a copy if its result must be in order") {
  static_assert(copies<given_out> > 0 && pieces<given_out> == 0);
}

namespace {

constexpr auto wide = input{.h = 3, .w = 3, .c = 32} | relu{};
constexpr auto sixteen = wide | channel_shuffle{16} | pointwise{8};
constexpr auto seventeen = input{.h = 3, .w = 3, .c = 34} | relu{} | channel_shuffle{17} | pointwise{8};
/// Channels 0, 2, 4, ... of the operand, `Count` of them; then the others.
template <int Count>
constexpr auto every_second = [](tensor x) {
  tensor y = x | slice{0, 1};
  for (int i = 1; i < Count; ++i) y = concat(y, x | slice{2 * i, 1});
  return y;
};
constexpr auto sixteen_slices = wide | every_second<16> | pointwise{8};
constexpr auto wider = input{.h = 3, .w = 3, .c = 34} | relu{};
constexpr auto seventeen_slices = wider | every_second<17> | pointwise{8};

}  // namespace

TEST_CASE("a product reads up to sixteen segments; more are copied together") {
  static_assert(max_runs == 16);
  static_assert(copies<sixteen> == 0 && runs_read<sixteen> == 16);
  static_assert(copies<seventeen> == 1 && runs_read<seventeen> == 0);  // one shuffle
  static_assert(copies<sixteen_slices> == 0 && runs_read<sixteen_slices> == 16);
  static_assert(copies<seventeen_slices> > 0 && runs_read<seventeen_slices> == 0);
}

TEST_CASE("contiguous segments are one range of memory, others are not") {
  constexpr auto const& shuffled = plan_of<sixteen>.steps[1];
  static_assert(shuffled.data.run_count == 16 && !shuffled.key.in_runs);
  constexpr auto const& sliced = plan_of<sixteen_slices>.steps[1];
  static_assert(sliced.data.run_count == 16 && sliced.key.in_runs);
}

TEST_CASE("a list joins a range with the previous one if it continues it, in memory and in order") {
  run_list list;
  list.push({{4, 0, 1}, 7, 0});
  list.push({{2, 4, 1}, 7, 4});
  CHECK(list.count == 1);
  CHECK(list.is_plain(6));
  list.push({{1, 6, 1}, 7, 7});  // a gap in memory
  CHECK(list.count == 2);
  CHECK_FALSE(list.is_plain(7));
  list.push({{1, 9, 1}, 7, 8});  // a step of three from now on
  list.push({{1, 12, 1}, 7, 9});
  CHECK(list.count == 2);
  CHECK(list.run[1] == channel_run{{3, 6, 3}, 7, 7});
  list.push({{2, 15, 1}, 7, 10});  // another step
  CHECK(list.count == 3);
  list.push({{2, 17, 1}, 8, 12});  // another value
  CHECK(list.count == 4);
  list.push({{1, 3, 1}, 8, 14});  // backwards
  CHECK(list.count == 5);
  CHECK_FALSE(list.too_many);
  for (int i = 0; i < max_runs; ++i) list.push({{1, 2 * i, 1}, 9, 3 * i});
  CHECK(list.count == max_runs);
  CHECK(list.too_many);
}

namespace {

/// The memory and the position of channel c of a value, by brute force.
struct channel_place {
  int value, at;
  bool operator==(channel_place const&) const = default;
};
channel_place place_of(run_list const& list, int channel) {
  for (int k = 0; k < list.count; ++k)
    for (int i = 0; i < list.run[k].count; ++i)
      if (list.run[k].start + i * list.run[k].step == channel) return {list.run[k].value, list.run[k].first + i};
  return {-1, -1};
}

}  // namespace

TEST_CASE("slices and shuffles of lists pick the right channels") {
  run_list of;  // 24 channels in three segments
  of.push({{8, 0, 2}, 1, 5});
  of.push({{8, 1, 2}, 2, 0});
  of.push({{8, 16, 1}, 3, 9});
  for (int groups : {1, 2, 3, 4, 6, 8, 12, 24}) {
    run_list const shuffled = plan::shuffled(of, groups, 24);
    if (shuffled.too_many) continue;
    for (int c = 0; c < 24; ++c) {
      CAPTURE(groups);
      CAPTURE(c);
      CHECK(place_of(shuffled, c % (24 / groups) * groups + c / (24 / groups)) == place_of(of, c));
    }
  }
  for (int begin = 0; begin < 24; ++begin)
    for (int size = 1; begin + size <= 24; ++size) {
      run_list sliced;
      plan::append_slice(sliced, of, begin, size, 0);
      int channels = 0;
      for (int k = 0; k < sliced.count; ++k) channels += sliced.run[k].count;
      REQUIRE(channels == size);
      for (int c = 0; c < size; ++c) REQUIRE(place_of(sliced, c) == place_of(of, begin + c));
    }
}
