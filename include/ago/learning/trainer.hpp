// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training in static memory: forward, backward and update of a network, planned at compile time.
#pragma once

#include <ago/learning/compiled_step.hpp>
#include <ago/learning/initialise.hpp>
#include <ago/learning/optimizers.hpp>
#include <ago/learning/training_network.hpp>
#include <ago/learning/update.hpp>
#include <ago/runtime/large_pages.hpp>
#include <ago/simd/flush_denormals.hpp>

#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

namespace ago::learning {

/// Outcome of a step. If it is not `ok`, parameters and states are as before.
enum class training_status {
  ok,
  label_out_of_range,
  loss_is_not_finite,
  gradient_is_not_finite,
};

constexpr char const* name_of(training_status s) {
  switch (s) {
    case training_status::ok: return "ok";
    case training_status::label_out_of_range: return "a label is not the number of a class";
    case training_status::loss_is_not_finite: return "the loss is infinite or not a number";
    case training_status::gradient_is_not_finite: return "a gradient is infinite or not a number";
  }
  return "?";
}

template <bool Some>
struct trains_something {
  static_assert(Some, "ago: no parameter of the network matches training::train and not training::freeze");
};

/// `Least`: the bytes that were found to be needed, if they are more than the limit; otherwise 0.
template <std::size_t Limit, std::size_t Least>
struct memory_suffices {
  static_assert(Least == 0,
                "ago: a training step does not fit into training::activation_bytes (the first number), even if values "
                "are computed again; the second number is the least that was found");
};

/// `Runner`: has the parameters, and runs forward and backward, as compiled_step does.
template <auto const& Net, auto const& Loss, class Optimizer, training How, class Runner, class Inputs>
class trainer_of;

template <auto const& Net, auto const& Loss, class Optimizer, training How, class Runner, std::size_t... I>
class trainer_of<Net, Loss, Optimizer, How, Runner, std::index_sequence<I...>> {
  using planned_step = training_step<Net, Loss, How>;
  static constexpr auto const& rows = planned_step::rows;
  static constexpr auto const& table = planned_step::table;

 public:
  /// The compiled step.
  using program = typename Runner::program;

  static constexpr isa target = program::target;
  static constexpr int batch = How.batch, steps = program::steps;
  /// Floats of the network's parameters; of the gradients, which are those of the parameters that are trained.
  static constexpr std::size_t parameter_count = program::parameter_count, gradient_count = std::size_t(rows.floats);
  /// Bytes of activations and scratch memory; of parameters and packed weights.
  static constexpr std::size_t arena_bytes = program::arena_bytes,
                               weight_bytes = sizeof(float) * parameter_count + program::weight_bytes;
  static constexpr std::size_t input_size(int k = 0) { return program::input_size(k); }
  static constexpr std::size_t target_size = program::input_size(planned_step::target);
  static constexpr int classes = planned_step::result.c;  ///< channels of the result
  /// What targets are: numbers of classes, or values.
  using target_type = std::conditional_t<planned_step::takes_classes, int, float>;

  /// Starts from parameters in order of declaration.
  explicit trainer_of(std::span<float const, parameter_count> parameters, Optimizer o = {}) noexcept
      : optimizer(in_large_pages(o)) {
    for (std::size_t i = 0; i < parameter_count; ++i) this->parameters()[i] = parameters[i];
  }
  /// Starts from random parameters (initialise()).
  explicit trainer_of(std::uint64_t seed, Optimizer o = {}) noexcept : optimizer(in_large_pages(o)) {
    initialise(table, parameters(), seed);
  }
  trainer_of(trainer_of const&) = delete;
  trainer_of& operator=(trainer_of const&) = delete;

  Optimizer optimizer;
  float rate = 1e-2f;      ///< learning rate
  float clip_norm = 0;     ///< the largest norm of all gradients together, to which they are scaled; 0: any
  float momentum = .1f;    ///< how much of the running statistics of batch norm a step replaces
  std::uint64_t seed = 0;  ///< of dropouts, whose masks depend on it and on the number of the step only

  /// Forward, backward, update. Returns the loss before the update; if status() is not ok, which is where the loss is
  /// not finite, nothing has changed. With training::accumulate, each so many-th call updates.
  float step(std::span<float const, program::input_size(int(I))>... in,
             std::span<target_type const, target_size> targets) noexcept {
    if constexpr (How.accumulate == 1) {
      if (!(clip_norm > 0)) return run_and_update(in..., targets);
    }
    float const loss = backward(in..., targets);
    if (status_ == training_status::ok && accumulated_ == How.accumulate) update();
    return loss;
  }
  /// Forward and backward: the loss, and gradients() for update().
  float backward(std::span<float const, program::input_size(int(I))>... in,
                 std::span<target_type const, target_size> targets) noexcept {
    return run(in..., targets, [&](auto const& inputs, auto& outputs) { runner_.run(inputs, outputs); });
  }
  /// Changes parameters and states by gradients(), which may have been changed since backward(): averaged over several
  /// processes, for instance.
  void update() noexcept {
    simd::flush_denormals const flushing;
    float scale = 1;
    if (clip_norm > 0) {
      double squares = 0;
      for (int i = 0; i < table.size(); ++i)
        if (rows.use[i] == row_use::trained) squares += sum_of_squares(gradients_ + rows.place[i], table[i].count());
      double const norm = std::sqrt(squares);
      if (!std::isfinite(norm)) {
        status_ = training_status::gradient_is_not_finite;
        return;
      }
      scale = norm > double(clip_norm) ? float(double(clip_norm) / (norm + 1e-6)) : 1.f;
    }
    status_ = training_status::ok;
    auto const change = optimizer(rate, ++updates_);
    for (int i = 0; i < table.size(); ++i)
      if (rows.use[i] == row_use::trained) update_row(i, change, scale, gradients_ + rows.place[i]);
    update_statistics();
  }

  training_status status() const noexcept { return status_; }
  /// The number of updates so far.
  long updates() const noexcept { return updates_; }
  /// In order of declaration, as ago::model takes them. They can be changed between steps.
  std::span<float, parameter_count> parameters() noexcept { return runner_.parameters(); }
  /// Of backward(), for the parameters that are trained, in order of declaration. For running statistics of batch norm:
  /// the batch's. A step() that neither clips nor accumulates overwrites them, and leaves nothing of use.
  std::span<float, gradient_count> gradients() noexcept {
    return std::span<float, gradient_count>(gradients_, gradient_count);
  }
  /// Of the optimizer, for each of gradients(); to be saved and restored with parameters and updates().
  std::span<float, Optimizer::states * gradient_count> states() noexcept {
    return std::span<float, Optimizer::states * gradient_count>(states_, Optimizer::states * gradient_count);
  }

 protected:
  Runner runner_;

 private:
  static constexpr std::size_t mask_floats = [] {
    std::size_t r = 0;
    for (int k = 0; k < planned_step::dropouts; ++k) r += program::input_size(planned_step::first_mask + k);
    return r;
  }();

  /// backward() and update(), but that each parameter is updated as soon as that is possible, not before the loss is
  /// there, and that gradients do not stay.
  float run_and_update(std::span<float const, program::input_size(int(I))>... in,
                       std::span<target_type const, target_size> targets) noexcept {
    auto const change = optimizer(rate, updates_ + 1);
    float const r = run(in..., targets, [&](auto const& inputs, auto& outputs) {
      runner_.run_and_update(inputs, outputs, [&](int row, float const* gradient) {
        if (float const loss = *outputs[0]; std::isfinite(loss)) update_row(row, change, 1, gradient);
      });
    });
    if (status_ != training_status::ok) return r;
    ++updates_;
    update_statistics();
    return r;
  }
  /// Forward and backward, which compute(inputs, outputs) does.
  float run(std::span<float const, program::input_size(int(I))>... in,
            std::span<target_type const, target_size> targets, auto const& compute) noexcept {
    simd::flush_denormals const flushing;
    float const nothing = std::numeric_limits<float>::quiet_NaN();
    float const* const wanted = values_of(targets);
    if (status_ != training_status::ok) return nothing;
    fill_masks();
    bool const adds = accumulated_ > 0 && accumulated_ < How.accumulate;
    float const gradient_of_loss = 1.f / float(How.accumulate);
    float loss = nothing;
    float const* inputs[planned_step::all_inputs + 1] = {in.data()..., wanted, &gradient_of_loss};
    inputs[planned_step::all_inputs] = parameters().data();
    for (int k = 0, at = 0; k < planned_step::dropouts; ++k) {
      inputs[planned_step::first_mask + k] = masks_ + at;
      at += int(program::input_size(planned_step::first_mask + k));
    }
    float* const to = adds ? added_ : gradients_;
    float* outputs[1 + rows.count + 1] = {&loss};
    for (int i = 0, k = 1; i < table.size(); ++i)
      if (rows.use[i] != row_use::frozen) outputs[k++] = to + rows.place[i];
    compute(inputs, outputs);
    if (!std::isfinite(loss)) status_ = training_status::loss_is_not_finite;
    if (status_ != training_status::ok) return loss;
    accumulated_ = adds ? accumulated_ + 1 : 1;
    if (adds)
      for (std::size_t i = 0; i < gradient_count; ++i) gradients_[i] += added_[i];
    return loss;
  }
  /// The optimizer, which is initialised before anything large is written.
  Optimizer in_large_pages(Optimizer o) noexcept {
    prefer_large_pages(this, sizeof *this);
    return o;
  }
  /// The targets as floats.
  float const* values_of(std::span<target_type const, target_size> targets) noexcept {
    status_ = training_status::ok;
    if constexpr (planned_step::takes_classes) {
      for (std::size_t i = 0; i < target_size; ++i) {
        if (targets[i] < 0 || targets[i] >= planned_step::result.c) status_ = training_status::label_out_of_range;
        labels_[i] = float(targets[i]);
      }
      return labels_;
    } else {
      return targets.data();
    }
  }
  void fill_masks() noexcept {
    if constexpr (planned_step::dropouts > 0) {
      philox const random(seed);
      float* to = masks_;
      for (int v = 0, k = 0; v < planned_step::graph.node_count; ++v) {
        node const& n = planned_step::graph.nodes[v];
        if (!tracing::is_dropout(n)) continue;
        float const kept = 1 / (1 - n.alpha);
        long const count = n.out.count();
        for (long i = 0; i < count; i += 4) {
          auto const bits = random(std::uint64_t(i / 4), std::uint64_t(runs_) << 16 | std::uint64_t(k));
          for (long j = i; j < i + 4 && j < count; ++j) to[j] = philox::uniform(bits.of[j - i]) < n.alpha ? 0 : kept;
        }
        to += count;
        ++k;
      }
      ++runs_;
    }
  }
  void update_row(int i, auto const& change, float scale, float const* gradient) noexcept {
    update_range<target, Optimizer::states>(change, parameters().data() + table[i].offset, gradient,
                                            states_ + rows.place[i], long(gradient_count), scale, table[i].count());
  }
  /// Running mean and variance, the latter without bias, as PyTorch's.
  void update_statistics() noexcept {
    for (int i = 0; i < table.size(); ++i) {
      if (rows.use[i] != row_use::statistic) continue;
      float const pixels = float(planned_step::pixels.of_row[i]);
      float const unbias = table[i].role == role::mean || pixels == 1 ? 1 : pixels / (pixels - 1);
      for (int c = 0; c < table[i].count(); ++c) {
        float& running = parameters()[std::size_t(table[i].offset + c)];
        running += momentum * (gradients_[rows.place[i] + c] * unbias - running);
      }
    }
  }

  alignas(64) float gradients_[gradient_count];
  alignas(64) float states_[Optimizer::states > 0 ? Optimizer::states* gradient_count : 1] = {};
  alignas(64) float added_[How.accumulate > 1 ? gradient_count : 1];
  float labels_[planned_step::takes_classes ? target_size : 1];
  float masks_[mask_floats > 0 ? mask_floats : 1];
  long updates_ = 0, runs_ = 0;
  int accumulated_ = 0;
  training_status status_ = training_status::ok;
};

/// Replaces the trainer of a network with a misfit, so that no further errors hide the one that is reported.
struct no_trainer {
  using target_type = float;
  static constexpr isa target = native_isa;
  static constexpr int batch = 1, steps = 0, classes = 1;
  static constexpr std::size_t parameter_count = 1, gradient_count = 1, arena_bytes = 0, weight_bytes = 0;
  static constexpr std::size_t target_size = 1;
  static constexpr std::size_t input_size(int = 0) { return 1; }

  explicit no_trainer(auto&&...) {}
  float step(auto&&...) { return 0; }
  float backward(auto&&...) { return 0; }
  void update() {}
  training_status status() const { return training_status::ok; }
  std::span<float> parameters() { return {}; }
  std::span<float> gradients() { return {}; }
  std::span<float> states() { return {}; }
  long updates() const { return 0; }
  float rate = 0, clip_norm = 0, momentum = 0;
  std::uint64_t seed = 0;
};

/// How a trainer runs its steps: compiled with a schedule table.
template <auto const& Schedules>
struct compiled_with {
  template <class Step, options_for Options>
  using runner = compiled_step<Step, ago::program<Step::network, Schedules, with_storage(Options, storage::trained)>>;
  using none = no_trainer;
};

template <auto const& Net, auto const& Loss, class Optimizer, training How, class Mode, bool Ok>
struct choose_trainer {
  using type = typename Mode::none;
};
template <auto const& Net, auto const& Loss, class Optimizer, training How, class Mode>
struct choose_trainer<Net, Loss, Optimizer, How, Mode, true> {
  using step = training_step<Net, Loss, How>;
  using type = trainer_of<Net, Loss, Optimizer, How, typename Mode::template runner<step, How.program>,
                          std::make_index_sequence<std::size_t(step::inputs)>>;
};

/// The first misfit of the network, or of its training.
template <auto const& Net, auto const& Loss, training How>
constexpr diagnostic const& training_misfit() {
  if constexpr (lowering::misfit<Net>.what != fault::none) return lowering::misfit<Net>;
  else return lowering::misfit<training_step<Net, Loss, How>::network>;
}
/// The bytes of the arena, if they are more than training::activation_bytes; otherwise 0. `arena`: with schedules that
/// differ from those for which it was decided what is computed again.
template <auto const& Net, auto const& Loss, training How>
constexpr std::size_t bytes_above_limit(std::size_t arena = 0) {
  if constexpr (How.activation_bytes == 0 || training_misfit<Net, Loss, How>().what != fault::none) {
    return 0;
  } else {
    constexpr std::size_t bytes = sizeof(float) * std::size_t(training_step<Net, Loss, How>::limited::arena_floats);
    if (arena < bytes) arena = bytes;
    return arena > How.activation_bytes ? arena : 0;
  }
}
template <auto const& Net, auto const& Loss, class Optimizer, training How, class Mode>
using trainer_for = typename choose_trainer<Net, Loss, Optimizer, How, Mode,
                                            training_misfit<Net, Loss, How>().what == fault::none &&
                                                bytes_above_limit<Net, Loss, How>() == 0 &&
                                                (rows_to_train(parameters<Net>, How).trained > 0)>::type;

}  // namespace ago::learning

namespace ago {

using learning::name_of;
using learning::training_status;

/// Trains a network. `Loss`: of its first output (train/losses.hpp), or an operation of the user's; `Optimizer`: sgd,
/// adam, ... (train/optimizers.hpp), or the user's; `Schedules`: a table that live_trainer has written. It is large,
/// because it contains parameters, gradients, states and the arena: make it `static`. Nothing allocates or throws, and
/// equal calls give equal bits.
template <auto const& Net, auto const& Loss = cross_entropy, class Optimizer = sgd, training How = training{},
          auto const& Schedules = untuned>
class trainer : public learning::trainer_for<Net, Loss, Optimizer, How, learning::compiled_with<Schedules>> {
  using base = learning::trainer_for<Net, Loss, Optimizer, How, learning::compiled_with<Schedules>>;
  static constexpr lowering::network_fits<Net, learning::training_misfit<Net, Loss, How>()> layers_fit{};
  static constexpr learning::trains_something<(learning::rows_to_train(parameters<Net>, How).trained > 0)> trains{};
  static constexpr learning::memory_suffices<How.activation_bytes,
                                             learning::bytes_above_limit<Net, Loss, How>(base::arena_bytes)>
      memory_fits{};

 public:
  using base::base;
  /// Of everything: parameters, gradients, states, packed weights and arena.
  static constexpr std::size_t bytes = sizeof(base);
};

}  // namespace ago
