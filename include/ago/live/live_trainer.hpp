// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trainer whose steps get faster while it trains.
#pragma once

#include <ago/learning/trainer.hpp>
#include <ago/learning/update_plan.hpp>
#include <ago/live/explored.hpp>

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ago {

namespace live {

/// A program of a training_step, whose plan says when parameters can be updated.
template <class Step, options_for Options>
class training_program : public tuner::live_program<tuner::live_plan<Step::network, Options>> {
  using base = tuner::live_program<tuner::live_plan<Step::network, Options>>;

 public:
  explicit training_program(base&& p)
      : base(std::move(p)), updates_(learning::plan_updates(this->plan(), Step::table, Step::rows)) {}

  /// As learning::compiled_step.
  void run_and_update(float const* const* inputs, float** outputs, auto const& update) const {
    updates_.run(this->plan().steps(), outputs, [&](int k) { this->run_step(k, inputs, outputs); }, update);
  }

 private:
  learning::update_plan<Step::table.size()> updates_;
};

/// Runs forward and backward, by the best program so far. Has the parameters, of which each step packs those that it
/// does not use as they are.
template <class Step, options_for Options, options_for Trained = with_storage(Options, storage::trained)>
class explored_step : public explored<Step::network, Trained, training_program<Step, Trained>> {
  using base = explored<Step::network, Trained, training_program<Step, Trained>>;

 public:
  using program = ago::program<Step::network, untuned, Trained>;
  explored_step() : base(std::span<float const>()) {}

  std::span<float, program::parameter_count> parameters() noexcept { return parameters_; }
  /// As learning::compiled_step.
  void run(float const* const* inputs, float* const* outputs) noexcept {
    base::run([&](auto const& p) { p.run(inputs, outputs); });
  }
  void run_and_update(float const* const* inputs, float** outputs, auto const& update) noexcept {
    base::run([&](auto const& p) { p.run_and_update(inputs, outputs, update); });
  }

 private:
  alignas(64) float parameters_[program::parameter_count];
};

/// Inputs of a training step: examples, targets, the gradient of the loss, and masks of dropouts.
template <class Step>
std::vector<std::vector<float>> sample_inputs_of_step() {
  auto all = tuner::sample_inputs(Step::graph);
  auto const draw = [&](shape const& s, float low, float high) {
    std::vector<float> values(std::size_t(s.count()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = tuner::uniform(2 + std::uint64_t(all.size()), i, low, high);
    return values;
  };
  auto const map = [](std::vector<float> values, auto const& f) {
    for (float& x : values) x = f(x);
    return values;
  };
  if (Step::takes_classes)
    all.push_back(map(draw(Step::target_shape, 0, float(Step::result.c)), [](float x) { return std::floor(x); }));
  else all.push_back(draw(Step::target_shape, -1, 1));
  all.push_back({1});
  for (int v = 0; v < Step::graph.node_count; ++v) {
    ir::node const& n = Step::graph.nodes[v];
    if (!tracing::is_dropout(n)) continue;
    float const dropped = n.alpha;
    all.push_back(map(draw(n.out, 0, 1), [=](float x) { return x < dropped ? 0 : 1 / (1 - dropped); }));
  }
  return all;
}

/// Replaces the trainer of a network with a misfit, so that no further errors hide the one that is reported.
struct no_trainer : learning::no_trainer {
  using learning::no_trainer::no_trainer;

 protected:
  struct {
    void start(std::string const&, tuner::samples const&, exploration const&) {}
    void stop() {}
    void write_header(std::string const&, std::string const&) {}
    exploration_progress progress() const { return {}; }
  } runner_;
};

/// How a live trainer runs its steps.
struct exploring {
  template <class Step, options_for Options>
  using runner = explored_step<Step, Options>;
  using none = no_trainer;
};

}  // namespace live

/// A trainer that begins at once, with the default schedules, while a second thread looks for faster ones for forward
/// and backward. They enter between two steps; if one is slower here than the one before, that one returns. Steps
/// neither allocate nor wait. Their last bits depend on when schedules enter, unless exploration::tolerance is 0.
template <auto const& Net, auto const& Loss = cross_entropy, class Optimizer = sgd, training How = training{}>
class live_trainer : public learning::trainer_for<Net, Loss, Optimizer, How, live::exploring> {
  using base = learning::trainer_for<Net, Loss, Optimizer, How, live::exploring>;
  static constexpr lowering::network_fits<Net, learning::training_misfit<Net, Loss, How>()> layers_fit{};
  static constexpr learning::trains_something<(learning::rows_to_train(parameters<Net>, How).trained > 0)> trains{};
  static constexpr learning::memory_suffices<How.activation_bytes, learning::bytes_above_limit<Net, Loss, How>()>
      fits{};
  using step_type = learning::training_step<Net, Loss, How>;

 public:
  using base::base;

  /// Begins to look for faster schedules, in a second thread, and continues the log if there is one. The parameters are
  /// copied to try them. Throws a tuner::failure if the log cannot be used.
  void start(exploration const& how = {}) {
    tuner::samples with{{this->parameters().begin(), this->parameters().end()},
                        live::sample_inputs_of_step<step_type>()};
    this->runner_.start("training of " + tuner::network_name<Net>() + ", batch " + std::to_string(How.batch),
                        std::move(with), how);
  }
  /// Ends it, within a step. What has been found stays in use.
  void stop() { this->runner_.stop(); }
  /// Stops, and writes what has been found as the tuner does: the table tuned::<name>, by default that of the file, for
  /// ago::trainer. Throws a tuner::failure if that is not possible.
  void write_header(std::string const& path, std::string const& name = "") { this->runner_.write_header(path, name); }
  /// Can be called by any thread.
  exploration_progress progress() const { return this->runner_.progress(); }
};

}  // namespace ago
