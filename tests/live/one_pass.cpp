// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A live trainer computes both gradients of a depthwise convolution in one pass, as a trainer does, whatever schedules
// its search tries.
#include <ago/live.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace ago;
using namespace ago::plan;

constexpr auto layers = [](tensor x) {
  return x | pointwise{.out = 20} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{};
};
constexpr auto net = input{.h = 12, .w = 14, .c = 3} | layers | global_avg_pool{} | linear{2};
/// L2 holds a few rows of the values.
constexpr training how{.batch = 2, .program = {.device = {.l1_bytes = 8 << 10, .l2_bytes = 12 << 10}}};
using fixed_trainer = trainer<net, mean_squared_error, sgd, how>;
using moving_trainer = live_trainer<net, mean_squared_error, sgd, how>;
using step = learning::training_step<net, mean_squared_error, how>;
constexpr auto in_place = with_storage(how.program, storage::trained);
using plan_type = live::training_program<step, in_place>::plan_type;

int pairs(plan_type const& p) {
  int n = 0;
  for (int k = 0; k < p.steps(); ++k) n += p.leads(k);
  return n;
}
constexpr int pairs_of_trainer = [] {
  int n = 0;
  for (int k = 0; k < fixed_trainer::program::steps; ++k) n += fixed_trainer::program::leads(k);
  return n;
}();
static_assert(pairs_of_trainer == (ir::lanes(native_isa) > 1));

}  // namespace

TEST_CASE("a live trainer begins with the steps, the memory and the bits of a static one") {
  auto const plan = std::make_unique<plan_type>(tuner::schedule_list());
  CHECK(pairs(*plan) == pairs_of_trainer);
  CHECK(plan->arena_floats() == fixed_trainer::program::arena_floats);
  static fixed_trainer a(1);
  static moving_trainer b(1);
  a.rate = b.rate = .01f;
  for (int i = 0; i < 3; ++i) {
    std::array<float, fixed_trainer::input_size()> x;
    std::array<float, fixed_trainer::target_size> wanted{1, -1, .5f, 0};
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = tuner::uniform(unsigned(i), k, -1, 1);
    CHECK(a.step(x, wanted) == b.step(x, wanted));
  }
  CHECK(std::equal(a.parameters().begin(), a.parameters().end(), b.parameters().begin()));
}

TEST_CASE("all schedules have the kernels for what one pass computes, and are right") {
  std::atomic<bool> never = false;
  tuner::menu_view const& kernels = tuner::menu<step::network, in_place>::view();
  live::verified_problem<step::network, in_place> problem(
      "depthwise", {tuner::sample_parameters<step::network>(), live::sample_inputs_of_step<step>()},
      exploration().tolerance, never, kernels);
  std::mt19937 random(7);
  int in_one_pass = 0, apart = 0;
  for (int i = 0; i < 60; ++i) {
    tuner::candidate c;
    for (tuner::choice const& x : problem.choices()) c.push_back(std::uint8_t(random() % x.options.size()));
    if (!problem.feasible(c)) continue;
    auto const p = problem.verified(c);
    REQUIRE(p != nullptr);
    (pairs(p->plan()) > 0 ? in_one_pass : apart) += 1;
  }
  CHECK(in_one_pass >= 5 * pairs_of_trainer);
  CHECK(apart >= 5);
}

TEST_CASE("without the kernel that computes both, schedules are not feasible") {
  tuner::menu_view const without(tuner::menu<step::network, in_place>::view().entries());
  auto const r = tuner::realise<step::network, in_place>(tuner::schedule_list(), without);
  CHECK(pairs(*r.plan) == pairs_of_trainer);
  CHECK(r.feasible == (pairs_of_trainer == 0));
}
