// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The second thread: the tuner's search, whose intermediate results are offered to the first.
#pragma once

#include <ago/live/exploration.hpp>
#include <ago/live/runner.hpp>
#include <ago/live/verified_problem.hpp>
#include <ago/runtime/bind_threads.hpp>
#include <ago/tuner/command_line.hpp>
#include <ago/tuner/finding.hpp>

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace ago::live {

/// Gives this thread only time that no other thread wants, where the system can do that (Linux).
inline void take_idle_time_only() noexcept {
#if defined(__linux__)
  sched_param const none{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
#endif
}

/// Calls `found` with every candidate that has replaced the best one.
class reporting_referee : public tuner::recorded_referee {
 public:
  reporting_referee(tuner::problem& p, tuner::log_file& log, tuner::progress& shown, int budget,
                    std::atomic<bool> const& stop, std::function<void(tuner::candidate const&)> found)
      : recorded_referee(p, log, shown, budget, 0), stop_(stop), found_(std::move(found)) {}

  std::optional<tuner::comparison> compare(std::string const& region, tuner::candidate const& contender,
                                           tuner::candidate const& incumbent, int runs) override {
    contender_ = contender;
    auto const r = recorded_referee::compare(region, contender, incumbent, runs);
    shown_trials_.store(trials(), std::memory_order_relaxed);
    return r;
  }
  void improved(double gain) override {
    recorded_referee::improved(gain);
    found_(contender_);
  }
  bool stopped() const override { return stop_; }
  /// trials(), for other threads.
  int shown_trials() const { return shown_trials_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> const& stop_;
  std::function<void(tuner::candidate const&)> found_;
  tuner::candidate contender_;
  std::atomic<int> shown_trials_ = 0;
};

/// One exploration, from construction on. `Program`: made of the problem's programs that are found.
template <auto const& Net, options_for Options, class Program>
class explorer {
 public:
  using problem_type = verified_problem<Net, Options>;

  /// Throws a tuner::failure if the log cannot be used.
  explorer(runner<Program>& where, std::string name, tuner::samples const& with, exploration const& how,
           tuner::menu_view const& kernels)
      : where_(where), how_(how), search_(settings_of(how)),
        problem_(std::move(name), with, how.tolerance, stop_, kernels),
        log_(how.log.empty() ? "/dev/null" : how.log, tuner::identity_of(problem_, search_, how.device), true,
             [](std::string const&) {}),
        referee_(problem_, log_, silent_, search_.budget, stop_, [this](tuner::candidate const& c) { offer(c); }),
        finding_(problem_, search_, referee_), offered_(finding_.best()), thread_([this] { explore(); }) {
    placed_.wait(false);  // it may share this processor until then, and never run if this thread has real-time priority
  }
  explorer(explorer const&) = delete;
  explorer& operator=(explorer const&) = delete;
  ~explorer() { stop(); }

  /// Ends the search, after the run that is being timed at the latest.
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Stops, and writes the tuner's header. Throws a tuner::failure if the search or a file has failed.
  void write_header(std::string const& path, std::string name) {
    stop();
    if (!failure_.empty()) throw tuner::failure(failure_);
    if (name.empty()) name = std::filesystem::path(path).stem().string();
    if (!tuner::is_identifier(name)) throw tuner::failure("'" + name + "' is not a valid C++ name for a table");
    finding_.write(path, name, how_.device);
  }
  exploration_progress progress() const {
    return {running_.load(), referee_.shown_trials(), problem_.wrong(), where_.entered(), where_.sent_back()};
  }

 private:
  /// Without the reformer's SPLIT, what is found for a subgraph can enter at once.
  static tuner::settings settings_of(exploration const& how) {
    tuner::settings s;
    s.what = tuner::variant::ago_nr;
    s.seed = how.seed;
    s.budget = how.trials;
    return s;
  }
  void explore() noexcept {
    try {
      if (how_.processor >= 0) bind_this_thread(how_.processor);
      placed_ = true;
      placed_.notify_one();
      if (how_.only_idle_time) take_idle_time_only();
      finding_.search();
      if (!stop_) offer_result();
    } catch (std::exception const& e) { failure_ = e.what(); }
    running_ = false;
  }
  void offer(tuner::candidate const& c) {
    where_.programs.collect();
    auto const p = problem_.verified(c);
    if (!p || stop_) return;
    where_.programs.offer(std::make_unique<Program>(std::move(*p)));
    offered_ = c;
  }
  /// What the header will say, unless it is what runs already: it may have been sent back in a bad moment.
  void offer_result() {
    if (finding_.best() != offered_ || where_.sent_back() > 0) offer(finding_.best());
  }

  runner<Program>& where_;
  exploration how_;
  tuner::settings search_;
  std::atomic<bool> stop_ = false, running_ = true, placed_ = false;
  std::string failure_;  ///< of the search; to be read when the thread has ended
  problem_type problem_;
  tuner::log_file log_;
  tuner::progress silent_{nullptr};
  reporting_referee referee_;
  tuner::finding finding_;
  tuner::candidate offered_;  ///< what was offered last
  std::thread thread_;
};

}  // namespace ago::live
