// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times a network with default schedules, and with a table of tuned schedules.
#pragma once

#include <ago/ago.hpp>
#include <ago/tuner/machine.hpp>
#include <ago/tuner/paired_timing.hpp>
#include <ago/tuner/sample_data.hpp>
#include <ago/tuner/text.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A model with weights, inputs and outputs, for repeated runs.
template <auto const& Net, auto const& Table, ago::options_for Options>
class timed_model {
 public:
  using model = ago::model<Net, Table, Options>;

  explicit timed_model(std::vector<float> const& weights)
      : net_(std::make_unique<model>(std::span<float const, model::parameter_count>(weights))),
        inputs_(ago::tuner::sample_inputs(program::graph)) {
    for (int k = 0; k < program::outputs; ++k) outputs_.emplace_back(model::output_size(k));
  }
  void operator()() { run(std::make_index_sequence<program::inputs>(), std::make_index_sequence<program::outputs>()); }
  std::vector<std::vector<float>> const& outputs() const { return outputs_; }

 private:
  using program = typename model::program;

  template <std::size_t... I, std::size_t... O>
  void run(std::index_sequence<I...>, std::index_sequence<O...>) {
    (*net_)(std::span<float const, model::input_size(I)>(inputs_[I])...,
            std::span<float, model::output_size(O)>(outputs_[O])...);
  }

  std::unique_ptr<model> net_;
  std::vector<std::vector<float>> inputs_, outputs_;
};

/// The largest difference, relative to the largest value.
inline double difference(std::vector<std::vector<float>> const& a, std::vector<std::vector<float>> const& b) {
  double most = 0, largest = 1e-30;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      most = std::fmax(most, std::abs(double(a[k][i]) - double(b[k][i])));
      largest = std::fmax(largest, std::abs(double(a[k][i])));
    }
  return most / largest;
}

/// A row of a table like that of docs/arm.md: network, size, core, median and least time in milliseconds.
inline void print_row(std::string network, double median, double least) {
  if (std::size_t const end = network.rfind('_'); end != std::string::npos) network.replace(end, 1, " | ");
  std::printf("| %s | %s | %.2f (%.2f) |\n", network.c_str(), ago::tuner::cores_of(ago::tuner::processors()).c_str(),
              1e3 * median, 1e3 * least);
}

/// The main function. 1: the outputs differ by more than the order of additions explains.
template <auto const& Net, auto const& Table, ago::options_for Options>
int time_network(char const* network, char const* table) {
  constexpr int runs = 101;
  using ago::tuner::duration;
  ago::tuner::warn_of_misfit(Options.device, Options.target);
  std::vector<float> const weights = ago::tuner::sample_parameters<Net>();
  timed_model<Net, ago::untuned, Options> usual(weights);
  timed_model<Net, Table, Options> tuned(weights);
  using model = typename timed_model<Net, Table, Options>::model;

  ago::tuner::comparison const c = ago::tuner::compare([&] { tuned(); }, [&] { usual(); }, runs);
  std::printf("%-26s %10s %10s  %s\n", network, "median", "least", name_of(model::target));
  std::printf("%-26s %10s %10s\n", "default", duration(c.incumbent).c_str(), duration(c.incumbent_least).c_str());
  print_row(network, c.incumbent, c.incumbent_least);
  if (model::tuned_steps == 0) {
    std::printf("%s has no schedule for it\n", table);
    return 0;
  }
  std::printf("%-26s %10s %10s  %s, confidence %.3f, %d schedules found, %d runs\n", table,
              duration(c.contender).c_str(), duration(c.contender_least).c_str(),
              ago::tuner::change(c.incumbent, c.contender).c_str(), c.confidence, model::tuned_steps, c.runs);
  double const apart = difference(usual.outputs(), tuned.outputs());
  std::printf("outputs differ by %.1e of the largest\n", apart);
  return apart < 1e-4 ? 0 : 1;
}
