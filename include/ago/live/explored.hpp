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

/// `Program`: made of the program that runs a plan with kernels of the menu, or this itself.
template <auto const& Net, options_for Options, class Program = tuner::live_program<tuner::live_plan<Net, Options>>>
class explored {
  static_assert(Options.device.threads == 1,
                "ago: a live model runs on one thread; a model for several threads is tuned beforehand (ago::tune)");

 public:
  using plan_type = tuner::live_plan<Net, Options>;

  /// Begins with the default schedules and these weights.
  explicit explored(std::span<float const> weights)
      : runner_(std::make_unique<Program>(std::move(*tuner::live_program<plan_type>::make(
            std::make_shared<plan_type const>(tuner::schedule_list()), kernels(), weights)))) {}

  void start(std::string name, tuner::samples const& with, exploration const& how) {
    explorer_.reset();
    explorer_.emplace(runner_, std::move(name), with, how, kernels());
  }
  void stop() {
    if (explorer_) explorer_->stop();
  }
  void write_header(std::string const& path, std::string const& name) {
    if (!explorer_) throw tuner::failure(path + " is not written, because start() has not been called");
    explorer_->write_header(path, name);
  }
  exploration_progress progress() const { return explorer_ ? explorer_->progress() : exploration_progress{}; }

  /// Calls once(program) with the one whose turn it is.
  void run(auto const& once) noexcept { runner_.run(once); }

 private:
  static tuner::menu_view const& kernels() { return tuner::menu<Net, Options>::view(); }

  runner<Program> runner_;
  std::optional<explorer<Net, Options, Program>> explorer_;
};

}  // namespace ago::live
