// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuner from command line to exit code: searches, and writes the results.
#pragma once

#include <ago/tune/command_line.hpp>
#include <ago/tune/compiler.hpp>
#include <ago/tune/header_reader.hpp>
#include <ago/tune/recorded_referee.hpp>
#include <ago/tune/reformer.hpp>
#include <ago/tune/report.hpp>
#include <ago/tune/share.hpp>
#include <ago/version.hpp>

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

inline std::string version_text() { return print("%d.%d.%d", version.major, version.minor, version.patch); }

/// Changes with the choices and their options, since a log of other choices has another meaning.
inline std::string fingerprint(problem const& p) {
  std::uint64_t h = 0;
  auto const mix = [&h](std::string const& text) {
    for (char const c : text + '\n') h = generator(h ^ static_cast<unsigned char>(c))();
  };
  for (choice const& c : p.choices()) {
    mix(c.name);
    for (std::string const& option : c.options) mix(option);
  }
  return print("%016llx", static_cast<unsigned long long>(h));
}

/// "ago", "ago, share 2 of 3", or "ago, 3 shares" if these are combined.
inline std::string variant_text(flags const& f) {
  std::string const name = name_of(f.search.what), share = text_of(f.search.share);
  if (!f.combined.empty()) return name + print(", %zu shares", f.combined.size());
  return share.empty() ? name : name + ", " + share;
}

inline identity identity_of(subject const& s, flags const& f) {
  return {{"ago", version_text()},
          {"network", s.network()},
          {"instruction set", s.instruction_set()},
          {"search space", fingerprint(s)},
          {"compiler", compiler()},
          {"compiler flags", compiler_flags()},
          {"device", f.device},
          {"method", name_of(f.search.how)},
          {"variant", variant_text(f)},
          {"seed", std::to_string(f.search.seed)}};
}

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
  struct sigaction action {};
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
    log_file log(f_.log, identity_of(what_, f_), f_.resume, warn_);
    if (f_.resume) shown_.say(print("%s has %zu measurements", f_.log.c_str(), log.found().size()));
    recorded_referee referee(what_, log, shown_, f_.search.budget, f_.time_limit);
    auto const start = std::chrono::steady_clock::now();
    candidate const best = f_.combined.empty() ? search(referee) : confirmed(combination(), referee);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    shown_.finish();
    write(best, referee);
    report(best, referee);
    if (referee.noise().level().is_large())
      shown_.say("warning: this machine was busy or not at full speed: times may be off by as much as the reported "
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

  /// The last trial is reserved for comparing the result with the default.
  candidate search(recorded_referee& referee) {
    referee.keep_back(f_.search.budget > 1, double(f_.search.final_runs) / f_.search.runs);
    reformer r(what_, f_.search, referee);
    candidate best = r.run();
    referee.keep_back(0);
    if (best != r.start() || f_.search.what == variant::ago_ni) return confirmed(std::move(best), referee);
    settled_ = !interrupted;
    return best;
  }

  /// The results of all shares together. Shares have no choice in common.
  candidate combination() {
    candidate const unchanged = usual(what_.choices());
    candidate all = unchanged;
    for (std::size_t k = 0; k < f_.combined.size(); ++k) {
      std::string const& path = f_.combined[k];
      if (!read_file(path)) throw failure(path + " does not exist");
      flags part = f_;
      part.combined.clear();
      part.search.share = {int(k + 1), int(f_.combined.size())};
      log_file const log(path, identity_of(what_, part), true, warn_);
      candidate const found = result_in(log.found(), what_, f_.search, path);
      trials_of_shares_ += int(log.found().size());
      candidate more = all;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (found[i] != unchanged[i]) more[i] = found[i];
      if (what_.feasible(more)) all = std::move(more);
      else warn_("the result of " + path + " does not fit together with the others and is left out");
    }
    return all;
  }

  /// `best` if it is faster than the default in the last trial, else the default.
  candidate confirmed(candidate best, recorded_referee& referee) {
    settled_ = !interrupted;
    candidate const unchanged = usual(what_.choices());
    if (best == unchanged) return best;
    last_ = referee.compare(result_region, best, unchanged, f_.search.final_runs);
    settled_ = last_.has_value();
    if (!last_ || last_->runs == 0 || f_.search.what == variant::ago_ni || is_faster(*last_, f_.search.confidence))
      return best;
    stays_ = true;
    shown_.say("The result is not clearly faster than the default in the last trial; the default stays.");
    return unchanged;
  }

  std::string result_text() const {
    if (!last_) return settled_ ? "the default, which nothing has beaten" : "not yet measured against the default";
    if (last_->runs == 0) return "the same program as the default";
    if (stays_) return "the default, " + duration(last_->incumbent) + "; the best found: " + duration(last_->contender);
    return "default " + duration(last_->incumbent) + ", tuned " + duration(last_->contender) + " (" +
           change(last_->incumbent, last_->contender) + print(", confidence %.3f)", last_->confidence);
  }

  /// What is tuned: the network, or a share of it.
  std::string scope() const {
    std::string const share = text_of(f_.search.share);
    return what_.network() + (share.empty() ? "" : ", " + share);
  }

  std::string search_text(int trials) const {
    int const shares = int(f_.combined.size());
    return print("search: %s, variant %s, seed %llu, %d of %lld trials", name_of(f_.search.how),
                 variant_text(f_).c_str(), static_cast<unsigned long long>(f_.search.seed), trials_of_shares_ + trials,
                 shares == 0 ? f_.search.budget : (long long)shares * f_.search.budget + 1);
  }

  static std::string noise_text(recorded_referee const& referee) {
    noise_level const level = referee.noise().level();
    return "noise: " + in_words(level) + (level.is_large() ? ", a busy machine" : "");
  }

  void write(candidate const& best, recorded_referee const& referee) {
    header found{f_.name, {}, what_.table(best)};
    std::ranges::sort(found.entries, {}, [](entry const& e) { return e.found.signature; });
    for (entry& e : found.entries) e.comment = comment_text(scope() + ", " + e.comment);
    banner_part part{scope() + ", " + what_.instruction_set() + ", device: " + f_.device, {}};
    part.lines = {
        "ago " + version_text() + ", " + compiler() + ", flags: " + compiler_flags(),
        search_text(referee.trials()),
        "result: " + result_text()};
    if (referee.noise().trials() > 0) part.lines.push_back(noise_text(referee));
    part.title = comment_text(part.title);
    for (std::string& line : part.lines) line = comment_text(line);
    found.banner.push_back(std::move(part));
    // Another tuner may have written the file in the meantime.
    header there = read_header(f_.output).value_or(header{});
    // Entries of an earlier search for this network stay until this search is complete; then only confirmed ones stay.
    std::string const mark = comment_text(scope() + ", ");
    if (settled_) {
      if (f_.search.share.count == 1)
        std::erase_if(there.banner, [&](banner_part const& b) { return b.title.starts_with(mark + "share "); });
      std::erase_if(there.entries, [&](entry const& e) {
        return e.comment.starts_with(mark) && what_.has_signature(e.found.signature);
      });
    }
    replacement(f_.output).commit(text_of(merged(std::move(there), found)));
  }

  void report(candidate const& best, recorded_referee const& referee) {
    if (!f_.plot.empty())
      replacement(f_.plot).commit(plot(what_.network() + ", " + what_.instruction_set(), referee.curve()).svg());
    if (!interrupted && best != usual(what_.choices()))
      std::printf("%s", report_of(what_.steps(best, f_.search.runs)).c_str());
    std::printf("%s: %s\n", what_.network().c_str(), result_text().c_str());
    if (referee.noise().trials() > 0) std::printf("%s\n", noise_text(referee).c_str());
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
  std::optional<comparison> last_;
  bool stays_ = false;  ///< the default stays, since it was not clearly beaten in the last trial
  bool settled_ = false;  ///< is the result final, not only what was found before an interrupt?
  double seconds_ = 0;  ///< of the search
  int trials_of_shares_ = 0;  ///< if they are combined
};

}  // namespace detail

/// The main function of a tuner. Returns 0: tuned, or --help or --version was answered; 1: failed, and no header was
/// written; 2: invalid command line.
inline int session(int count, char const* const* words, subject_maker const& make) {
  std::string const program = count > 0 ? std::filesystem::path(words[0]).filename().string() : "tune";
  try {
    flags const f = parse(count, words);
    if (f.help) return std::printf("usage: %s --output FILE.hpp [flags]\n%s", program.c_str(), usage), 0;
    if (f.version) return std::printf("ago %s\n", detail::version_text().c_str()), 0;
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
