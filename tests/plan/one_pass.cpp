// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which steps one pass computes. tests/learning/window_gradients.cpp computes such.
#include <ago/plan/one_pass.hpp>

#include <ago/training.hpp>
#include <doctest/doctest.h>

namespace {

using namespace ago;

constexpr device small{.l1_bytes = 16 << 10, .l2_bytes = 40 << 10};
constexpr auto layers = [](tensor x) {
  return x | pointwise{.out = 35} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{};
};
constexpr auto net = input{.h = 20, .w = 24, .c = 3} | layers | global_avg_pool{} | linear{5};
/// Its steps, and their groups.
template <class Program>
struct plan_of;
template <auto const& Net, auto const& Schedules, options_for Options>
struct plan_of<program<Net, Schedules, Options>> : runtime::unchecked_plan<Net, Schedules, Options> {
  using formed = runtime::unchecked_steps<Net, Options>;
  using runtime::unchecked_plan<Net, Schedules, Options>::groups;
};
using planned =
    plan_of<trainer<net, mean_squared_error, sgd, training{.batch = 4, .program = {.device = small}}>::program>;
using formed = planned::formed;

/// What is found after a change of the steps, or of their groups.
constexpr int found(auto const& change) {
  auto steps = formed::parts;
  auto groups = planned::groups;
  constexpr int first = [] {
    int k = 1;
    while (planned::waits_of(k) != waits::nothing) ++k;
    return k - 1;
  }();
  change(steps, groups, first);
  options o;
  o.device = small;
  auto const r = plan::find_one_pass(formed::graph, steps, groups, formed::views, formed::layouts, {}, o).splits;
  int pairs = 0;
  for (int k = 0; k < groups.count; ++k) pairs += r.waits_for[k] == waits::nothing;
  return pairs;
}

}  // namespace

TEST_CASE("one pass computes the gradients of a depthwise convolution, if the first one is folded") {
  static_assert(found([](auto&, auto&, int) {}) == 1);
  static_assert(found([](auto&, auto& groups, int k) { groups.tiles[k].how = partition::tiling::none; }) == 0);
}

TEST_CASE("one pass does not compute the gradients of two convolutions") {
  static_assert(found([](auto& steps, auto& groups, int k) {
                  int const last = groups.first[k + 1] + groups.parts[k + 1] - 1;
                  steps.step[last].source = steps.step[groups.first[k + 1]].source;
                }) == 0);
}

TEST_CASE("one pass does not compute a step that reads what the other one writes") {
  static_assert(found([](auto& steps, auto& groups, int k) {
                  steps.step[groups.first[k + 1]].source = steps.step[groups.first[k]].result;
                }) == 0);
}
