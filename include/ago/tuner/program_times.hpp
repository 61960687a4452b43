// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times programs of one network in turns: whole inferences, and every step. `ago-inspect --measure` compiles it.
#pragma once

#include <ago/requirements.hpp>

#include <ago/runtime/any_program.hpp>
#include <ago/runtime/program.hpp>
#include <ago/tuner/claim_core.hpp>
#include <ago/tuner/json.hpp>
#include <ago/tuner/machine.hpp>
#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/program_memory.hpp>
#include <ago/tuner/sample_data.hpp>
#include <ago/tuner/step_text.hpp>
#include <ago/tuner/step_times.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace ago::tuner {

/// A program with its steps.
struct timed_program : any_program {
  std::vector<std::string> steps;  ///< the kernels of each, in_words()
  void (*run_step)(int step, run_memory const&) noexcept;

  template <class Program>
  static timed_program of() {
    timed_program r{
        any_program::of<Program>(), {}, [](int step, run_memory const& m) noexcept { Program::run_step(step, m); }};
    for (int k = 0; k < Program::steps; ++k) {
      std::string& text = r.steps.emplace_back();
      for (int i = Program::first_part(k); i < Program::first_part(k + 1); ++i) {
        planned_step const& p = Program::plan.steps[i];
        text += (text.empty() ? "" : "; ") + in_words(p.key.what, p.key.tile, p.data.in, p.data.out);
      }
    }
    return r;
  }
};

/// The seconds of all runs: whole ones, without a clock inside, and those of each step.
struct program_times {
  std::vector<double> whole;
  std::vector<std::vector<double>> steps;
};

/// Times all programs `rounds` times in turns, beginning with another one in each round. In its turn, a program runs
/// once to find the caches as it leaves them itself, then whole inferences are timed (as many as 200 us take), then the
/// steps of another one. The programs exchange their places in memory so that each runs equally often in every place:
/// which values conflict in the caches is a matter of the place.
inline std::vector<program_times> time_programs(std::vector<timed_program> const& programs,
                                                std::vector<float> const& parameters,
                                                std::vector<std::vector<float>> const& inputs,
                                                std::vector<std::vector<float>>& outputs, int rounds) {
  std::vector<float const*> in;
  std::vector<float*> out;
  for (std::vector<float> const& x : inputs) in.push_back(x.data());
  for (std::vector<float>& x : outputs) out.push_back(x.data());
  std::size_t const count = programs.size();
  auto const arena_of = [](timed_program const& p) { return (p.packed_floats + 15) / 16 * 16; };  // in floats
  std::size_t room = 0;
  for (timed_program const& p : programs) room = std::max(room, arena_of(p) + p.arena_floats);
  std::vector<program_memory> places;
  for (std::size_t i = 0; i < count; ++i) places.emplace_back(room);

  std::vector<program_times> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i].steps.resize(programs[i].steps.size());
  std::vector<int> in_a_row(count, 1);
  int const turns = (rounds + int(count) - 1) / int(count);
  for (std::size_t placement = 0; placement < count; ++placement) {
    std::vector<run_memory> memory;
    for (std::size_t i = 0; i < count; ++i) {
      timed_program const& p = programs[i];
      float* const packed = places[(i + placement) % count].data();
      p.pack(parameters.data(), packed);
      memory.push_back({packed, packed + arena_of(p), in.data(), out.data()});
      auto const run = [&] { p.run(memory[i]); };
      run();
      int& times = in_a_row[i];
      while (seconds_of(run, times) * times < least_timing && times < most_repetitions) times *= 2;
    }
    for (int turn = 0; turn < turns; ++turn)
      for (std::size_t k = 0; k < count; ++k) {
        std::size_t const i = (k + std::size_t(turn)) % count;
        auto const run = [&] { programs[i].run(memory[i]); };
        run();
        all[i].whole.push_back(seconds_of(run, in_a_row[i]));
        time_steps([&](int step) { programs[i].run_step(step, memory[i]); }, all[i].steps);
      }
  }
  return all;
}

/// `"median_us":2879.1,"least_us":2775`
inline std::string summary_of(std::vector<double> const& seconds) {
  return print("\"median_us\":%.7g,\"least_us\":%.7g", 1e6 * median(seconds),
               1e6 * *std::min_element(seconds.begin(), seconds.end()));
}

/// One JSON object, with an element for each program and each of its steps.
inline std::string json_of(std::vector<timed_program> const& programs, std::vector<program_times> const& times) {
  std::string text = "{\"programs\":[";
  for (std::size_t i = 0; i < programs.size(); ++i) {
    timed_program const& p = programs[i];
    text += print("%s\n{%s,\"weight_bytes\":%zu,\"arena_bytes\":%zu,\"steps\":[", i ? "," : "",
                  summary_of(times[i].whole).c_str(), 4 * p.packed_floats, 4 * p.arena_floats);
    for (std::size_t k = 0; k < p.steps.size(); ++k)
      text += (k ? ",\n{\"kernels\":" : "\n{\"kernels\":") + json::quoted(p.steps[k]) + ',' +
              summary_of(times[i].steps[k]) + '}';
    text += "]}";
  }
  return text += "]}\n";
}

/// The main function of a program that times `Net` with each of the options, with seeded parameters and inputs, and
/// prints json_of() them. `words`: the number of rounds, and the core to claim, if any.
template <auto const& Net, options_for First, options_for... Others>
int print_times(int count, char const* const* words) try {
  std::vector<timed_program> const programs{timed_program::of<program<Net, untuned, First>>(),
                                            timed_program::of<program<Net, untuned, Others>>()...};
  std::vector<std::vector<float>> outputs(programs[0].outputs.begin(), programs[0].outputs.end());
  int const rounds = count > 1 ? std::max(1, std::atoi(words[1])) : 60;
  if (count > 2) std::fprintf(stderr, "%s\n", claim_core(std::atoi(words[2])).c_str());
  warn_of_misfit(First.device, First.target);
  auto const times = time_programs(programs, sample_parameters<Net>(),
                                   sample_inputs(program<Net, untuned, First>::graph), outputs, rounds);
  return std::fputs(json_of(programs, times).c_str(), stdout) < 0 || std::fflush(stdout) != 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return EXIT_FAILURE;
}

}  // namespace ago::tuner
