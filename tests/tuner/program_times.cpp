// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of programs and their steps, with programs that only record that they run.
#include <ago/tuner/program_times.hpp>

#include <ago/network/network.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace ago::tuner;

namespace {

/// What happened, in order: the program that was packed (negative, minus 1), or that ran (2 n), or ran step by step.
std::vector<int> happened;
std::vector<void const*> places_of[2];
std::vector<int> steps_run;

template <int N>
timed_program recording_program(std::vector<std::string> steps) {
  return {{{1},
           {1},
           1,
           16 * (N + 1),
           3,
           [](float const* weights, float* packed) noexcept {
             happened.push_back(-1 - N);
             places_of[N].push_back(packed);
             packed[0] = weights[0];
           },
           [](ago::plan::run_memory const& m) noexcept {
             happened.push_back(N);
             m.outputs[0][0] = m.weights[0] + m.inputs[0][0];
             std::this_thread::sleep_for(std::chrono::microseconds(300));
           }},
          std::move(steps),
          [](int step, ago::plan::run_memory const&) noexcept {
            if (N == 1) steps_run.push_back(step);
            if (step == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }};
}

inline constexpr auto net =
    ago::input{.h = 3, .w = 5, .c = 16} | ago::pointwise{32} | ago::relu{} | ago::global_avg_pool{};

}  // namespace

TEST_CASE("programs are timed in turns, in each other's places, and every step in order") {
  std::vector<std::vector<float>> outputs(1, std::vector<float>(1));
  auto const times =
      time_programs({recording_program<0>({"a"}), recording_program<1>({"b", "c", "d"})}, {2}, {{3}}, outputs, 6);
  CHECK(outputs[0][0] == 5);
  REQUIRE((times.size() == 2 && times[0].steps.size() == 1 && times[1].steps.size() == 3));
  for (program_times const& t : times) {
    CHECK(t.whole.size() == 6);
    for (double const s : t.whole) CHECK(s >= 300e-6);
    for (auto const& step : t.steps) CHECK(step.size() == 6);
  }
  for (double const s : times[1].steps[1]) CHECK(s >= 1e-3);  // the step that sleeps
  REQUIRE(steps_run.size() == 18);
  for (std::size_t i = 0; i < 18; ++i) CHECK(steps_run[i] == int(i % 3));
  REQUIRE((places_of[0].size() == 2 && places_of[1].size() == 2));
  CHECK(
      (places_of[0][0] == places_of[1][1] && places_of[0][1] == places_of[1][0] && places_of[0][0] != places_of[0][1]));
  // Two runs in each turn: 0 0 1 1, 1 1 0 0, 0 0 1 1, after each has been packed and warmed up.
  auto const packed_again = std::find(happened.begin() + 2, happened.end(), -1);
  std::vector<int> const first(happened.begin(), packed_again);
  REQUIRE(first.size() > 12);
  CHECK(std::vector(first.end() - 12, first.end()) == std::vector{0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("a program is described by its steps, and its times are JSON") {
  timed_program const p = timed_program::of<ago::program<net>>();
  CHECK((p.inputs == std::vector<std::size_t>{3 * 5 * 16} && p.outputs == std::vector<std::size_t>{32}));
  REQUIRE(p.steps.size() == 2);
  CHECK((p.steps[0].starts_with("pointwise ") && p.steps[0].ends_with(" 3x5x16 > 3x5x32")));
  CHECK(p.steps[1] == "global_avg_pool 1x1 3x5x32 > 1x1x32");
  std::string const text = json_of({p}, {{{2e-6, 1e-6, 4e-6}, {{1e-6}, {3e-6, 5e-6}}}});
  CHECK(text.starts_with("{\"programs\":[\n{\"median_us\":2,\"least_us\":1,\"weight_bytes\":"));
  CHECK(text.find("\"kernels\":\"global_avg_pool 1x1 3x5x32 > 1x1x32\",\"median_us\":4,\"least_us\":3}]}]}\n") !=
        text.npos);
}
