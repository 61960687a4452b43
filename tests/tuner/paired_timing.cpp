// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/tuner/noise.hpp>
#include <ago/tuner/paired_timing.hpp>

#include <doctest/doctest.h>

#include <random>
#include <thread>

using ago::tuner::comparison;
using ago::tuner::confidence_of;

TEST_CASE("the confidence is the share of all combinations of signs that give a smaller sum of ranks") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> value(-2, 3);
  for (int n = 1; n <= 9; ++n) {
    std::vector<double> x;
    for (int i = 0; i < n; ++i) x.push_back(value(random));
    std::vector<double> sorted;
    for (double v : x) sorted.push_back(std::abs(v));
    std::sort(sorted.begin(), sorted.end());
    auto const rank_sum = [&](auto const& positive) {
      long sum = 0;
      for (int i = 0; i < n; ++i) sum += positive(i) ? i + 1 : 0;
      return sum;
    };
    long const seen = rank_sum([&](int i) { return std::find(x.begin(), x.end(), sorted[std::size_t(i)]) != x.end(); });
    double below = 0;
    for (int signs = 0; signs < 1 << n; ++signs) {
      long const sum = rank_sum([&](int i) { return signs >> i & 1; });
      below += sum < seen ? 1 : sum == seen ? .5 : 0;
    }
    CHECK(confidence_of(x) == doctest::Approx(below / (1 << n)));
  }
}

TEST_CASE("no difference is no evidence") {
  CHECK(confidence_of({}) == .5);
  CHECK(confidence_of({0, 0, 0}) == .5);
  CHECK(confidence_of({1, -1, 2, -2}) > .3);
  CHECK(confidence_of({1, -1, 2, -2}) < .7);
}

TEST_CASE("the candidate that sleeps less is faster, and a few runs show it") {
  using namespace std::chrono_literals;
  auto const quick = [] { std::this_thread::sleep_for(300us); };
  auto const slow = [] { std::this_thread::sleep_for(1500us); };
  comparison const faster = ago::tuner::compare(quick, slow, 30);
  CHECK(faster.confidence > .95);
  CHECK(faster.contender < faster.incumbent);
  CHECK(faster.runs >= 8);
  comparison const slower = ago::tuner::compare(slow, quick, 30);
  CHECK(slower.confidence < .05);
  CHECK(slower.contender_least >= 1.5e-3);
  CHECK(slower.incumbent_least >= .3e-3);
}

TEST_CASE("the number of runs is a limit") {
  int contender = 0, incumbent = 0;
  auto const run = [](int& count) {
    ++count;
    std::this_thread::sleep_for(std::chrono::microseconds(250));
  };
  comparison const c = ago::tuner::compare([&] { run(contender); }, [&] { run(incumbent); }, 5);
  CHECK(c.runs == 5);
  CHECK(contender == 7);  // one to warm up, one after an exchange
  CHECK(incumbent == 7);
}

TEST_CASE("both candidates swap places, so that each is equally often in either") {
  using namespace std::chrono_literals;
  // Equal candidates, but place 0 is slower: without exchanges the contender would seem to lose.
  int place = 0, exchanges = 0;
  auto const in = [](int where) { std::this_thread::sleep_for(where == 0 ? 1500us : 300us); };
  comparison const c = ago::tuner::compare([&] { in(place); }, [&] { in(1 - place); }, 16,
                                           [&] {
                                             place = 1 - place;
                                             ++exchanges;
                                           });
  CHECK(c.runs == 16);
  CHECK(exchanges == 2);
  CHECK(c.confidence > .05);
  CHECK(c.confidence < .95);
}

TEST_CASE("noise is the time that the same program takes beyond its fastest run") {
  ago::tuner::noise_meter meter;
  CHECK(meter.level().usual == 0);
  auto const add = [&](std::uint8_t program, double median, double least) {
    comparison c;
    c.incumbent = median, c.incumbent_least = least;
    meter.add({program}, c);
  };
  add(1, 1.1, 1.05);
  add(1, 1.2, 1.);  // relative to it, 1.1 was a tenth too long
  for (int i = 0; i < 17; ++i) add(2, 5.5, 5);
  CHECK(meter.level().usual == doctest::Approx(.1));
  CHECK(meter.level().often == doctest::Approx(.1));
  CHECK(!meter.level().is_large());
  for (int i = 0; i < 3; ++i) add(3, 9, 5);
  CHECK(meter.trials() == 22);
  CHECK(meter.level().usual == doctest::Approx(.1));
  CHECK(meter.level().often == doctest::Approx(.8));
  CHECK(meter.level().is_large());
  CHECK(in_words(meter.level()) ==
        "the same program took 10 % longer than at its fastest in the median trial, 80 % in one of ten");
}
