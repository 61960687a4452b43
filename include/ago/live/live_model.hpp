// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model that gets faster while it runs.
#pragma once

#include <ago/live/explored.hpp>
#include <ago/runtime/model.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ago {

namespace live {

template <auto const& Net, options_for Options, class Inputs, class Outputs>
class model_of;

template <auto const& Net, options_for Options, std::size_t... I, std::size_t... O>
class model_of<Net, Options, std::index_sequence<I...>, std::index_sequence<O...>> {
  using plan = planned<Net, untuned, Options>;

 public:
  static constexpr isa target = plan::target;
  static constexpr std::size_t parameter_count = plan::parameter_count;
  static constexpr std::size_t input_size(int k = 0) { return plan::input_size(k); }
  static constexpr std::size_t output_size(int k = 0) { return plan::output_size(k); }

  /// Copies the weights.
  explicit model_of(std::span<float const, parameter_count> weights)
      : weights_(weights.begin(), weights.end()), explored_(weights) {}

  /// Runs the network: one span for each input, then one for each output.
  void operator()(std::span<float const, plan::input_size(I)>... in,
                  std::span<float, plan::output_size(O)>... out) noexcept {
    float const* const inputs[] = {in.data()..., nullptr};
    float* const outputs[] = {out.data()..., nullptr};
    explored_.run([&](auto const& program) { program.run(inputs, outputs); });
  }

  /// Begins to look for faster schedules, in a second thread, and continues the log if there is one. Throws a
  /// tuner::failure if the log cannot be used.
  void start(exploration const& how = {}) {
    tuner::samples with = tuner::samples_of<Net, Options>();
    with.weights = weights_;
    explored_.start(tuner::network_name<Net>(), with, how);
  }
  /// Ends it, within a run of the network. What has been found stays in use. Runs can go on meanwhile.
  void stop() { explored_.stop(); }
  /// Stops, and writes what has been found as the tuner does: the table tuned::<name>, by default that of the file, for
  /// ago::model. Throws a tuner::failure if that is not possible.
  void write_header(std::string const& path, std::string const& name = "") { explored_.write_header(path, name); }
  /// Can be called by any thread.
  exploration_progress progress() const { return explored_.progress(); }

 private:
  std::vector<float> weights_;
  explored<Net, Options> explored_;
};

/// Replaces the model of a network with a misfit, so that no further errors hide the one that is reported.
struct no_model : runtime::no_model {
  using runtime::no_model::no_model;
  void start(exploration const& = {}) {}
  void stop() {}
  void write_header(std::string const&, std::string const& = "") {}
  exploration_progress progress() const { return {}; }
};

template <auto const& Net, options_for Options,
          bool Ok = lowering::misfit<Net>.what == ir::fault::none && available(Options.target)>
struct choose_model {
  using type = no_model;
};
template <auto const& Net, options_for Options>
struct choose_model<Net, Options, true> {
  using plan = planned<Net, untuned, Options>;
  using type = model_of<Net, Options, std::make_index_sequence<std::size_t(plan::inputs)>,
                        std::make_index_sequence<std::size_t(plan::outputs)>>;
};

}  // namespace live

/// A network that runs at once, with the default schedules, while a second thread looks for faster ones. They enter
/// between two runs; if one is slower here than the one before, that one returns. The kernels of all schedules are
/// compiled in, as in a tuner. Runs neither allocate nor wait; construction and the second thread use the heap.
template <auto const& Net, options_for Options = options{}>
class live_model : public live::choose_model<Net, Options>::type {
  using base = typename live::choose_model<Net, Options>::type;
  static constexpr lowering::network_fits<Net> layers_fit{};
  static constexpr runtime::can_be_compiled<available(Options.target)> compiled{};

 public:
  using base::base;
};

}  // namespace ago
