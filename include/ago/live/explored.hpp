// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network that runs while faster schedules are looked for: what models and trainers have in common.
#pragma once

#include <ago/live/explorer.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace ago::live {

template <auto const& Net, options_for Options>
class explored {
  static_assert(Options.device.threads == 1,
                "ago: a live model runs on one thread; a model for several threads is tuned beforehand (ago::tune)");

 public:
  using plan_type = tuner::live_plan<Net, Options>;
  using program_type = tuner::live_program<plan_type>;

  /// Begins with the default schedules and these weights.
  explicit explored(std::span<float const> weights)
      : runner_(program_type::make(std::make_shared<plan_type const>(tuner::schedule_list()), kernels(), weights)) {}

  void start(std::string name, tuner::samples const& with, trial_rules const& rules, exploration const& how) {
    explorer_.reset();
    explorer_.emplace(runner_, std::move(name), with, rules, how, kernels());
  }
  void stop() {
    if (explorer_) explorer_->stop();
  }
  void write_header(std::string const& path, std::string const& name) {
    if (!explorer_) throw tuner::failure(path + " is not written, because start() has not been called");
    explorer_->write_header(path, name);
  }
  exploration_progress progress() const { return explorer_ ? explorer_->progress() : exploration_progress{}; }

  void run(float const* const* inputs, float* const* outputs) noexcept {
    runner_.run([&](program_type const& p) { p.run(inputs, outputs); });
  }
  /// Packs the weights first.
  void run(std::span<float const> weights, float const* const* inputs, float* const* outputs) noexcept {
    runner_.run([&](program_type const& p) {
      p.repack(weights);
      p.run(inputs, outputs);
    });
  }

 private:
  static tuner::menu_view const& kernels() { return tuner::menu<Net, Options>::view(); }

  runner<program_type> runner_;
  std::optional<explorer<Net, Options>> explorer_;
};

}  // namespace ago::live
