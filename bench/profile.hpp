// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time of each step of a network.
#pragma once

#include "buffer.hpp"
#include "entry.hpp"
#include "parameters.hpp"
#include "peak.hpp"
#include "report.hpp"

#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/step_times.hpp>

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace bench {

/// Seconds of each step.
struct step_times {
  std::vector<double> steps;  ///< as ago::tuner::time_steps times them
  std::vector<double> again;  ///< of each step when repeated immediately: it finds the caches as it left them
  double peak;                ///< floating-point operations per second
};

inline step_times profile_steps(variant const& v, std::function<void(int)> const& run_step, int repetitions) {
  using ago::tuner::median, ago::tuner::time_steps;
  using clock = std::chrono::steady_clock;
  std::size_t const count = v.accounts.size();
  std::vector<std::vector<double>> warm_up(count), seconds(count), again(count);
  std::vector<double> peak;
  auto const timed = [](auto const& run) {
    auto const start = clock::now();
    run();
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  for (int r = -3; r < repetitions; ++r) {
    double operations = 0;
    double const loop = timed([&] { operations = peak_loop(); });
    if (r >= 0) peak.push_back(operations / loop);
    time_steps(run_step, r < 0 ? warm_up : seconds);
    for (std::size_t i = 0; i < count; ++i) {
      run_step(int(i));
      double const twice = timed([&] { run_step(int(i)); });
      if (r >= 0) again[i].push_back(twice);
    }
  }
  step_times t;
  for (std::size_t i = 0; i < count; ++i) {
    t.steps.push_back(median(seconds[i]));
    t.again.push_back(median(again[i]));
  }
  t.peak = median(peak);
  return t;
}

/// A row for each step of a variant, and one for their sum.
inline std::vector<record> profile(entry const& e, variant const& v, int repetitions) {
  if (!v.prepare_steps) throw std::invalid_argument(v.name + " cannot be run step by step");
  std::vector<float> const parameters = make_parameters(e.graph, 1);
  buffer const in(std::size_t(e.graph.node(0).out.count())),
      out(std::size_t(e.graph.node(e.graph.outputs[0]).out.count()));
  for (std::size_t i = 0; i < in.span().size(); ++i) in.data()[i] = uniform(2, i, -1, 1);
  step_times const t = profile_steps(v, v.prepare_steps(parameters, in.data(), out.data()), repetitions);
  double const whole = std::accumulate(t.steps.begin(), t.steps.end(), 0.);
  std::vector<record> rows;
  auto const add = [&](std::string const& step, step_account const& a, double seconds, double again) {
    double const rate = 2. * double(a.multiply_adds) / seconds;
    rows.push_back({{"network", e.network},
                    {"size", long(e.size)},
                    {"variant", v.name},
                    {"step", step},
                    {"kernel", a.kernel},
                    {"median_us", seconds * 1e6, "%.2f"},
                    {"again_us", again * 1e6, "%.2f"},
                    {"predicted_us", 1e6 * predicted_seconds(v, a.predicted_cycles, t.peak), "%.2f"},
                    {"percent", 100 * seconds / whole, "%.1f"},
                    a.multiply_adds ? field("gflops", rate * 1e-9, "%.1f") : field("gflops"),
                    a.multiply_adds ? field("percent_of_peak", 100 * rate / t.peak, "%.1f") : field("percent_of_peak"),
                    {"kbytes", double(a.bytes) * 1e-3, "%.1f"},
                    {"layers", a.layers}});
  };
  step_account sum{"sum", "", 0, 0};
  for (std::size_t i = 0; i < t.steps.size(); ++i) {
    add(std::to_string(i), v.accounts[i], t.steps[i], t.again[i]);
    sum.multiply_adds += v.accounts[i].multiply_adds;
    sum.bytes += v.accounts[i].bytes;
    sum.predicted_cycles += v.accounts[i].predicted_cycles;
  }
  add("all", sum, whole, std::accumulate(t.again.begin(), t.again.end(), 0.));
  return rows;
}

/// Prints the profiles of a variant of all `chosen` networks.
inline int profile(std::vector<entry> const& chosen, std::string const& name, int repetitions, bool json) {
  for (entry const& e : chosen) {
    auto const found =
        std::find_if(e.variants.begin(), e.variants.end(), [&](variant const& v) { return v.name == name; });
    if (found == e.variants.end()) throw std::invalid_argument("--profile: there is no variant '" + name + "'");
    printer out(json);
    for (record const& r : profile(e, *found, repetitions)) out.add(r);
    out.finish();
  }
  return EXIT_SUCCESS;
}

}  // namespace bench
