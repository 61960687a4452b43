// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Google Benchmark as the clock: its random interleaving shuffles the repetitions of all candidates.
#include "measure.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#if defined(__linux__)
#include <sched.h>
#endif

namespace bench {
namespace {

/// Keeps the seconds of every repetition, by name; prints nothing.
class collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(Context const&) override { return true; }
  void ReportRuns(std::vector<Run> const& runs) override {
    for (Run const& run : runs)
      if (run.run_type == Run::RT_Iteration)
        seconds[run.run_name.function_name].push_back(run.real_accumulated_time / double(run.iterations));
  }
  std::map<std::string, std::vector<double>> seconds;
};

double seconds_of(candidate const& c) {
  if (c.clock) return c.clock();
  using clock = std::chrono::steady_clock;
  auto const start = clock::now();
  c.run();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(clock::now() - start).count();
}

void one_turn(benchmark::State& state, candidate const& c) {
  for (auto _ : state) {
    seconds_of(c);
    state.SetIterationTime(seconds_of(c));
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
  std::sort(seconds.begin(), seconds.end());
  std::size_t const n = seconds.size();
  return {.median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2, .minimum = seconds.front()};
}

std::vector<std::vector<double>> sample(std::vector<candidate> const& candidates, int repetitions) {
  initialise_once();
  benchmark::ClearRegisteredBenchmarks();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidate const& c = candidates[i];
    for (int warm_up = 0; warm_up < 3; ++warm_up) seconds_of(c);
    benchmark::RegisterBenchmark(std::to_string(i).c_str(), [&c](benchmark::State& state) { one_turn(state, c); })
        ->Iterations(1)
        ->Repetitions(repetitions)
        ->UseManualTime();
  }
  collector results;
  benchmark::RunSpecifiedBenchmarks(&results);
  std::vector<std::vector<double>> seconds;
  for (std::size_t i = 0; i < candidates.size(); ++i) seconds.push_back(results.seconds.at(std::to_string(i)));
  return seconds;
}

std::vector<timing> measure(std::vector<candidate> const& candidates, int repetitions) {
  std::vector<timing> timings;
  for (std::vector<double>& seconds : sample(candidates, repetitions)) timings.push_back(summarise(std::move(seconds)));
  return timings;
}

#if defined(__linux__)
std::string claim_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0 && core < CPU_SETSIZE) CPU_SET(unsigned(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0)
    return "not pinned to core " + std::to_string(core) + ": " + std::strerror(errno);
  sched_param const priority{.sched_priority = 10};
  bool const real_time = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  return "pinned to core " + std::to_string(core) +
         (real_time ? ", real-time class" : std::string(", no real-time class: ") + std::strerror(errno));
}
#else
std::string claim_core(int) { return "not pinned: this works on Linux only"; }
#endif

}  // namespace bench
