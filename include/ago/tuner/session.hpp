// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner from command line to exit code: searches, and writes the results.
#pragma once

#include <ago/tuner/command_line.hpp>
#include <ago/tuner/finding.hpp>
#include <ago/tuner/report.hpp>

#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace ago::tuner {

/// Creates the subject to tune, after the command line has been validated.
using subject_maker = std::function<std::unique_ptr<subject>(flags const&)>;

namespace detail {

/// my_board.hpp -> my_board.networks_mobilenet_v2_224.jsonl
inline std::string usual_log(flags const& f, std::string const& network) {
  std::string name;
  for (char const c : network)
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  if (name.ends_with('_')) name.pop_back();
  return std::filesystem::path(f.output).replace_extension("." + name + ".jsonl").string();
}

/// The first signal ends the search as if its budget were spent; a second one ends the program.
inline void obey_signals() {
  interrupted = false;
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = SA_RESETHAND;
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

/// One tuning, from a valid command line on.
class tuning {
 public:
  tuning(subject& what, flags f) : what_(what), f_(std::move(f)), shown_(stderr) {
    if (f_.log.empty()) f_.log = usual_log(f_, what.network());
    check_files_differ(f_);
  }

  int run() {
    check_files();
    log_file log(f_.log, identity_of(what_, f_.search, f_.device, f_.combined.size()), f_.resume, warn_);
    if (f_.resume) shown_.say(print("%s has %zu measurements", f_.log.c_str(), log.found().size()));
    recorded_referee referee(what_, log, shown_, f_.search.budget, f_.time_limit);
    finding found(what_, f_.search, referee, f_.combined.size());
    auto const start = std::chrono::steady_clock::now();
    bool const discarded = f_.combined.empty() ? found.search() : confirm_combination(found);
    if (discarded)
      shown_.say("The result is not clearly faster than the default in the last trial; the default stays.");
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    shown_.finish();
    found.write(f_.output, f_.name, f_.device);
    report(found, referee);
    if (referee.noise().level().is_large())
      shown_.say(
          "warning: this machine was busy or not at full speed: times may be off by as much as the reported "
          "noise, and small gains are not found. Tune again while nothing else runs.");
    return 0;
  }

 private:
  /// File errors should appear before hours of measurements.
  void check_files() {
    if (std::optional<header> const there = read_header(f_.output); there && there->name != f_.name)
      throw failure(f_.output + " contains the table tuned::" + there->name + "; use --name " + there->name +
                    " to add to it");
    check_writable(f_.output);
    if (!f_.plot.empty()) check_writable(f_.plot);
  }

  /// The results of all shares together, which have no choice in common, against the default.
  bool confirm_combination(finding& found) {
    int trials = 0;
    candidate const unchanged = usual(what_.choices());
    candidate all = unchanged;
    for (std::size_t k = 0; k < f_.combined.size(); ++k) {
      std::string const& path = f_.combined[k];
      if (!read_file(path)) throw failure(path + " does not exist");
      settings part = f_.search;
      part.share = {int(k + 1), int(f_.combined.size())};
      log_file const log(path, identity_of(what_, part, f_.device), true, warn_);
      candidate const result = result_in(log.found(), what_, f_.search, path);
      trials += int(log.found().size());
      candidate more = all;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (result[i] != unchanged[i]) more[i] = result[i];
      if (what_.feasible(more)) all = std::move(more);
      else warn_("the result of " + path + " does not fit together with the others and is left out");
    }
    return found.confirm(all, trials);
  }

  void report(finding const& found, recorded_referee const& referee) {
    if (!f_.plot.empty())
      replacement(f_.plot).commit(plot(what_.network() + ", " + what_.instruction_set(), referee.curve()).svg());
    if (!interrupted && found.best() != usual(what_.choices()))
      std::printf("%s", report_of(what_.steps(found.best(), f_.search.runs)).c_str());
    std::printf("%s: %s\n", what_.network().c_str(), found.result_text().c_str());
    if (referee.noise().trials() > 0) std::printf("%s\n", found.noise_text().c_str());
    std::printf("%d trials, %d of them from the log; %s, %.0f %% of it spent running candidates\n", referee.trials(),
                referee.resumed(), clock_time(seconds_).c_str(), seconds_ > 0 ? 100 * referee.running() / seconds_ : 0);
    std::printf("%s: tuned::%s, for ago::model<network, tuned::%s>\n", f_.output.c_str(), f_.name.c_str(),
                f_.name.c_str());
    if (interrupted) std::printf("The search was interrupted; --resume continues it.\n");
    std::fflush(stdout);
  }

  subject& what_;
  flags f_;
  progress shown_;
  std::function<void(std::string const&)> warn_ = [this](std::string const& w) { shown_.say("warning: " + w); };
  double seconds_ = 0;  ///< of the search
};

}  // namespace detail

/// The main function of a tuner. Returns 0: tuned, or --help or --version was answered; 1: failed, and no header was
/// written; 2: invalid command line.
inline int session(int count, char const* const* words, subject_maker const& make) {
  std::string const program = count > 0 ? std::filesystem::path(words[0]).filename().string() : "tune";
  try {
    flags const f = parse(count, words);
    if (f.help) return std::printf("usage: %s --output FILE.hpp [flags]\n%s", program.c_str(), usage), 0;
    if (f.version) return std::printf("ago %s\n", version_text().c_str()), 0;
    detail::obey_signals();
    return detail::tuning(*make(f), f).run();
  } catch (usage_error const& e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 2;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), e.what());
    return 1;
  }
}

}  // namespace ago::tuner
