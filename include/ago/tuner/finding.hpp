// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a search finds: the best candidate, confirmed against the default, and the header with its schedules.
#pragma once

#include <ago/tuner/header_reader.hpp>
#include <ago/tuner/identity.hpp>
#include <ago/tuner/recorded_referee.hpp>
#include <ago/tuner/search/reformer.hpp>

#include <optional>
#include <string>

namespace ago::tuner {

class finding {
 public:
  /// `shares`: the number of searches whose results are combined; 0: one search.
  finding(subject& what, settings const& s, recorded_referee& referee, std::size_t shares = 0)
      : what_(what), search_(s), referee_(referee), shares_(shares), best_(usual(what.choices())) {}

  /// Searches until the budget is spent. The last trial is reserved for comparing the result with the default. Returns
  /// whether the result was discarded there.
  bool search() {
    referee_.keep_back(search_.budget > 1, double(search_.final_runs) / search_.runs);
    reformer r(what_, search_, referee_);
    best_ = r.run();
    referee_.keep_back(0);
    if (best_ != r.start() || search_.what == variant::ago_ni) return confirm(best_);
    settled_ = !referee_.stopped();
    return false;
  }
  /// Compares the result of shares, which took so many trials, with the default. Returns whether it was discarded.
  bool confirm(candidate const& combined, int trials_of_shares) {
    trials_of_shares_ = trials_of_shares;
    return confirm(combined);
  }
  /// The default, if nothing has beaten it.
  candidate const& best() const { return best_; }

  std::string result_text() const {
    if (!last_) return settled_ ? "the default, which nothing has beaten" : "not yet measured against the default";
    if (last_->runs == 0) return "the same program as the default";
    if (stays_) return "the default, " + duration(last_->incumbent) + "; the best found: " + duration(last_->contender);
    return "default " + duration(last_->incumbent) + ", tuned " + duration(last_->contender) + " (" +
           change(last_->incumbent, last_->contender) + print(", confidence %.3f)", last_->confidence);
  }
  std::string noise_text() const {
    noise_level const level = referee_.noise().level();
    return "noise: " + in_words(level) + (level.is_large() ? ", a busy machine" : "");
  }

  /// Writes the table `name` into the header at `path`, merged with what is there.
  void write(std::string const& path, std::string const& name, std::string const& device) {
    header found{name, {}, what_.table(best_)};
    std::ranges::sort(found.entries, {}, [](entry const& e) { return e.found.signature; });
    for (entry& e : found.entries) e.comment = comment_text(scope() + ", " + e.comment);
    found.banner.push_back(banner(device));
    // Another tuner may have written the file in the meantime.
    header there = read_header(path).value_or(header{});
    // Entries of an earlier search for this network stay until this search is complete; then only confirmed ones stay.
    std::string const mark = comment_text(scope() + ", ");
    if (settled_) {
      if (search_.share.count == 1)
        std::erase_if(there.banner, [&](banner_part const& b) { return b.title.starts_with(mark + "share "); });
      std::erase_if(there.entries, [&](entry const& e) {
        return e.comment.starts_with(mark) && what_.has_signature(e.found.signature);
      });
    }
    replacement(path).commit(text_of(merged(std::move(there), found)));
  }

 private:
  /// Keeps `best` if it is faster than the default in the last trial.
  bool confirm(candidate best) {
    settled_ = !referee_.stopped();
    best_ = std::move(best);
    candidate const unchanged = usual(what_.choices());
    if (best_ == unchanged) return false;
    last_ = referee_.compare(result_region, best_, unchanged, search_.final_runs);
    settled_ = last_.has_value();
    stays_ = last_ && last_->runs > 0 && search_.what != variant::ago_ni && !is_faster(*last_, search_.confidence);
    if (stays_) best_ = unchanged;
    return stays_;
  }

  /// What is tuned: the network, or a share of it.
  std::string scope() const {
    std::string const share = text_of(search_.share);
    return what_.network() + (share.empty() ? "" : ", " + share);
  }
  std::string search_text() const {
    return print("search: %s, variant %s, seed %llu, %d of %lld trials", name_of(search_.how),
                 variant_text(search_, shares_).c_str(), static_cast<unsigned long long>(search_.seed),
                 trials_of_shares_ + referee_.trials(),
                 shares_ == 0 ? search_.budget : (long long)shares_ * search_.budget + 1);
  }
  banner_part banner(std::string const& device) const {
    banner_part part{scope() + ", " + what_.instruction_set() + ", device: " + device, {}};
    part.lines = {"ago " + version_text() + ", " + compiler() + ", flags: " + compiler_flags(), search_text(),
                  "result: " + result_text()};
    if (referee_.noise().trials() > 0) part.lines.push_back(noise_text());
    part.title = comment_text(part.title);
    for (std::string& line : part.lines) line = comment_text(line);
    return part;
  }

  subject& what_;
  settings search_;
  recorded_referee& referee_;
  std::size_t shares_;
  int trials_of_shares_ = 0;
  candidate best_;
  std::optional<comparison> last_;
  bool stays_ = false;    ///< the default stays, since it was not clearly beaten in the last trial
  bool settled_ = false;  ///< is the result final, not only what was found before an interrupt?
};

}  // namespace ago::tuner
