// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Google Benchmark as the clock: its random interleaving shuffles the repetitions of all candidates.
#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

namespace bench {
namespace {

/// Prints nothing.
class silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const&) override {}
};

double seconds_of(candidate const& c) {
  if (c.clock) return c.clock();
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  c.run();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// The seconds of a run before and after which the candidate was undisturbed; none if it never was.
std::optional<double> undisturbed_seconds(candidate const& c) {
  using clock = std::chrono::steady_clock;
  auto const undisturbed = [&] { return !c.undisturbed || c.undisturbed(); };
  for (auto const end = clock::now() + std::chrono::seconds(2); clock::now() < end;) {
    if (!undisturbed()) continue;
    seconds_of(c);
    double const seconds = seconds_of(c);
    if (undisturbed()) return seconds;
  }
  return {};
}

void one_turn(benchmark::State& state, candidate const& c, std::vector<double>& results) {
  for (auto _ : state) {
    std::optional<double> const seconds = undisturbed_seconds(c);
    if (seconds) results.push_back(*seconds);
    state.SetIterationTime(seconds.value_or(0));
  }
}

void initialise_once() {
  static bool const done = [] {
    char program[] = "networks", interleave[] = "--benchmark_enable_random_interleaving=true";
    char* arguments[] = {program, interleave, nullptr};
    int count = 2;
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  (void)done;
}

}  // namespace

timing summarise(std::vector<double> seconds) {
  if (seconds.empty()) throw std::runtime_error("other programs had the cores all the time");
  std::sort(seconds.begin(), seconds.end());
  std::size_t const n = seconds.size();
  return {.median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2, .minimum = seconds.front()};
}

std::vector<std::vector<double>> sample(std::vector<candidate> const& candidates, int repetitions) {
  initialise_once();
  benchmark::ClearRegisteredBenchmarks();
  std::vector<std::vector<double>> seconds(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidate const& c = candidates[i];
    for (int warm_up = 0; warm_up < 3; ++warm_up) seconds_of(c);
    benchmark::RegisterBenchmark(std::to_string(i).c_str(),
                                 [&c, &to = seconds[i]](benchmark::State& state) { one_turn(state, c, to); })
        ->Iterations(1)
        ->Repetitions(repetitions)
        ->UseManualTime();
  }
  silent reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return seconds;
}

std::vector<timing> measure(std::vector<candidate> const& candidates, int repetitions) {
  std::vector<timing> timings;
  for (std::vector<double>& seconds : sample(candidates, repetitions)) timings.push_back(summarise(std::move(seconds)));
  return timings;
}

}  // namespace bench
