// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trainer whose steps get faster while it trains.
#include "../tuner/process.hpp"

#include <ago/live.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace ago;
using namespace ago::plan;
using testing::scratch_folder;

inline constexpr auto net = input{.c = 6} | linear{20} | relu{} | dropout{.1f} | linear{3};
inline constexpr training how{.batch = 4};
using fixed_trainer = trainer<net, cross_entropy, sgd, how>;
using moving_trainer = live_trainer<net, cross_entropy, sgd, how>;
using step = learning::training_step<net, cross_entropy, how>;
constexpr auto in_place = with_storage(how.program, storage::trained);
using program = live::training_program<step, in_place>;

exploration const quick{.trials = 10, .only_idle_time = false};

struct examples {
  std::array<float, fixed_trainer::input_size()> x;
  std::array<int, 4> classes;
  explicit examples(std::uint64_t seed) {
    philox const random(seed);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 2 * philox::uniform(random(i).of[0]) - 1;
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = int(random(100 + i).of[0] % 3);
  }
};

/// Trains both side by side while `more(step)`. Returns the largest difference of losses and parameters.
template <class Other, class More>
float largest_difference(fixed_trainer& a, Other& b, More const& more) {
  a.rate = b.rate = 1e-3f;
  float worst = 0;
  for (int i = 0; more(i); ++i) {
    examples const e{std::uint64_t(i)};
    worst = std::max(worst, std::fabs(a.step(e.x, e.classes) - b.step(e.x, e.classes)));
  }
  for (std::size_t i = 0; i < fixed_trainer::parameter_count; ++i)
    worst = std::max(worst, std::fabs(a.parameters()[i] - b.parameters()[i]));
  return worst;
}

/// Every step runs by another schedule.
class changing_step {
 public:
  using program = ago::program<step::network>;

  changing_step() {
    std::mt19937 random(5);
    while (programs_.size() < 20) {
      tuner::candidate c;
      for (tuner::choice const& x : problem_.choices()) c.push_back(std::uint8_t(random() % x.options.size()));
      if (!problem_.feasible(c)) continue;
      auto p = problem_.verified(c);
      REQUIRE(p != nullptr);
      programs_.push_back(std::make_unique<::program>(std::move(*p)));
    }
  }
  std::span<float, program::parameter_count> parameters() { return parameters_; }
  void run(float const* const* inputs, float* const* outputs) {
    programs_[++runs_ % programs_.size()]->run(inputs, outputs);
  }
  void run_and_update(float const* const* inputs, float** outputs, auto const& update) {
    programs_[++runs_ % programs_.size()]->run_and_update(inputs, outputs, update);
  }

 private:
  std::atomic<bool> never_ = false;
  live::verified_problem<step::network, in_place> problem_{
      "changing",
      {tuner::sample_parameters<step::network>(), live::sample_inputs_of_step<step>()},
      exploration().tolerance,
      never_,
      tuner::menu<step::network, in_place>::view()};
  std::vector<std::unique_ptr<::program>> programs_;
  std::size_t runs_ = 0;
  std::array<float, program::parameter_count> parameters_{};
};
/// The first layer by a register tile of one pixel and one vector.
inline constexpr schedule_table first_layer{{
    {fixed_trainer::program::plan.steps[0].signature, {.pixels = 1, .vectors = 1}},
}};

// [train]
using classifier_trainer = ago::live_trainer<net, cross_entropy, sgd, training{.batch = 4}>;

void train(classifier_trainer& t, std::string const& folder, auto next_batch) {
  t.start({.log = folder + "/my_board.jsonl", .trials = 20});  // a second thread looks for faster schedules
  for (int i = 0; i < 200; ++i) {
    auto const [images, classes] = next_batch();
    t.step(images, classes);  // from the first step on
  }
  t.write_header(folder + "/my_board.hpp");  // ends the search
}
// [/train]

}  // namespace

TEST_CASE("the documented training leaves a log and a header") {
  scratch_folder here;
  classifier_trainer t(1);
  train(t, here / "", [seed = std::uint64_t(0)]() mutable {
    examples const e(++seed);
    return std::pair(e.x, e.classes);
  });
  CHECK(t.updates() == 200);
  CHECK(testing::contents(here / "my_board.jsonl").starts_with("{\"log\":\"ago tuner"));
  CHECK(tuner::read_header(here / "my_board.hpp").has_value());
}

TEST_CASE("a program of a live trainer needs the memory of a static one, and updates parameters in the same order") {
  auto const plan = std::make_unique<::program::plan_type>(tuner::schedule_list());
  CHECK(plan->packed_floats() == fixed_trainer::program::packed_floats);
  CHECK(plan->arena_floats() == fixed_trainer::program::arena_floats);
  auto const live = learning::plan_updates(*plan, step::table, step::rows);
  auto const fixed = learning::plan_updates(fixed_trainer::program{}, step::table, step::rows);
  REQUIRE(live.count == step::rows.trained);
  REQUIRE(fixed.count == live.count);
  for (int i = 0; i < live.count; ++i) {
    CHECK(live.all[i].row == fixed.all[i].row);
    CHECK(live.all[i].after == fixed.all[i].after);
    CHECK(live.all[i].at == fixed.all[i].at);
  }
  CHECK(live.all[0].after < plan->steps() - 1);
}

TEST_CASE("every schedule trains like the default, up to rounding") {
  using changing_trainer =
      learning::trainer_of<net, cross_entropy, sgd, how, changing_step, std::make_index_sequence<std::size_t(1)>>;
  static fixed_trainer a(1);
  static changing_trainer b(1);
  CHECK(largest_difference(a, b, [](int i) { return i < 100; }) <= 1e-6f);
  CHECK(b.updates() == 100);
}

TEST_CASE("a live trainer trains from the first step on as a static one does, also while schedules enter") {
  static fixed_trainer a(1);
  moving_trainer b(1);
  b.start(quick);
  CHECK(largest_difference(a, b, [&](int i) { return b.progress().running || i < 200; }) <= 1e-6f);
  CHECK(b.progress().wrong == 0);
}

TEST_CASE("without tolerance, a live trainer keeps the bits of the static one") {
  static fixed_trainer a(1);
  moving_trainer b(1);
  exploration exact = quick;
  exact.tolerance = 0;
  b.start(exact);
  CHECK(largest_difference(a, b, [&](int i) { return b.progress().running || i < 200; }) == 0);
}

TEST_CASE("exploration stops at any time, and writes the header for a static trainer") {
  scratch_folder here;
  moving_trainer t(1);
  exploration endless = quick;
  endless.trials = 1000000;
  examples const e(1);
  for (int i = 0; i < 8; ++i) {
    t.start(endless);
    std::this_thread::sleep_for(std::chrono::microseconds(400 * i * i));
    CHECK(t.step(e.x, e.classes) > 0);
    t.stop();
    CHECK(!t.progress().running);
  }
  t.write_header(here / "board.hpp");
  auto const header = tuner::read_header(here / "board.hpp");
  REQUIRE(header.has_value());
  REQUIRE(header->banner.size() == 1);
  CHECK(header->banner[0].title.find("training of ") != std::string::npos);
  CHECK(header->banner[0].title.find(", batch 4, ") != std::string::npos);
}

TEST_CASE("a static trainer takes a table of schedules") {
  using tuned_trainer = trainer<net, cross_entropy, sgd, how, first_layer>;
  static_assert(fixed_trainer::program::tuned_steps == 0);
  static_assert(tuned_trainer::program::tuned_steps == 1);
  static fixed_trainer a(1);
  static tuned_trainer b(1);
  CHECK(largest_difference(a, b, [](int i) { return i < 20; }) <= 1e-6f);
}
