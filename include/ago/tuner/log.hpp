// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The log of a search: one line of JSON for every measurement, on disk before the result is used.
#pragma once

#include <ago/tuner/file.hpp>
#include <ago/tuner/json.hpp>
#include <ago/tuner/problem.hpp>

#include <sys/file.h>

#include <cmath>
#include <functional>
#include <utility>

namespace ago::tuner {

/// A measurement as logged.
struct record {
  std::string region;
  candidate contender, incumbent;
  int runs_at_most = 0;
  comparison result;
  double seconds = 0;  ///< that the measurement took
};

/// What a log must have in common with the search that continues it: {name, value}.
using identity = std::vector<std::pair<std::string, std::string>>;

class log_file {
 public:
  /// Opens or begins a log. Without `resume` the file must not exist. An incomplete last line is removed, and `warn` is
  /// called. Throws a failure if the log is of another identity, damaged, or in use.
  log_file(std::string path, identity const& id, bool resume, std::function<void(std::string const&)> const& warn)
      : path_(std::move(path)) {
    bool const there = ::access(path_.c_str(), F_OK) == 0;
    if (there && !resume && !is_special(path_))
      throw failure(path_ + " exists: --resume continues it, --log begins another one");
    file_ = open_file(path_, O_RDWR | O_CREAT | O_APPEND, path_);
    if (!is_special(path_) && ::flock(file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      throw failure(path_ + " is being written by another tuner");
    std::string const text = there && resume && !is_special(path_) ? *read_file(path_) : std::string();
    std::string const first = first_line(id);
    std::size_t const whole = text.rfind('\n') + 1;  // 0 if there is none
    // A file that is not a log of this search is never truncated.
    if (whole > 0) read(std::string_view(text).substr(0, whole), id);
    else if (!first.starts_with(text)) complain_of_stranger();
    if (whole < text.size()) {
      warn(path_ + ": the last line is incomplete and is dropped");
      if (::ftruncate(file_.number(), off_t(whole)) != 0) fail_on(path_, "cannot be written");
    }
    if (whole > 0) return;
    write_through(file_, path_, first);
    sync_folder(path_);
  }

  /// The records that the log contained when it was opened, in order.
  std::vector<record> const& found() const { return found_; }

  void append(record const& r) { write_through(file_, path_, line_of(r)); }

 private:
  static std::string first_line(identity const& id) {
    std::string line = "{\"log\":\"ago tuner 2\"";
    for (auto const& [name, value] : id) (line += ',') += json::quoted(name) + ':' + json::quoted(value);
    return line + "}\n";
  }
  [[noreturn]] void complain_of_stranger() const {
    throw failure(path_ + " is not a log of this version of the tuner; it is left unchanged");
  }

  void read(std::string_view text, identity const& id) {
    for (int number = 1; !text.empty(); ++number) {
      std::size_t const end = text.find('\n');
      std::string_view const line = text.substr(0, end);
      text.remove_prefix(end + 1);
      if (number == 1) {
        check(line, id);
        continue;
      }
      if (!record_of(line)) throw failure(path_ + print(":%d is damaged: not a line of a tuner's log", number));
      if (char const* const wrong = impossible(found_.back()))
        throw failure(path_ + print(":%d is damaged: impossible value of %s", number, wrong));
    }
  }
  void check(std::string_view line, identity const& id) const {
    json::scanner in(line);
    if (!in.expect("{\"log\":\"ago tuner 2\"").good()) complain_of_stranger();
    for (auto const& [name, value] : id) {
      std::string theirs;
      if (!in.expect("," + json::quoted(name) + ":").read(theirs).good()) throw failure(path_ + ":1 is damaged");
      if (theirs != value)
        throw failure(path_ + " cannot be resumed: its " + name + " is '" + theirs + "', that of this search is '" +
                      value + "'");
    }
    if (!in.expect("}").at_end()) throw failure(path_ + ":1 is damaged");
  }

  static std::string line_of(record const& r) {
    comparison const& c = r.result;
    return "{\"region\":" + json::quoted(r.region) + ",\"contender\":" + json::list(r.contender) +
           ",\"incumbent\":" + json::list(r.incumbent) + ",\"runs_at_most\":" + std::to_string(r.runs_at_most) +
           ",\"contender_s\":" + json::number(c.contender) + ",\"incumbent_s\":" + json::number(c.incumbent) +
           ",\"contender_least_s\":" + json::number(c.contender_least) +
           ",\"incumbent_least_s\":" + json::number(c.incumbent_least) +
           ",\"confidence\":" + json::number(c.confidence) + ",\"runs\":" + std::to_string(c.runs) +
           ",\"running_s\":" + json::number(c.running) + ",\"took_s\":" + json::number(r.seconds) + "}\n";
  }
  bool record_of(std::string_view line) {
    record r;
    comparison& c = r.result;
    json::scanner in(line);
    in.expect("{\"region\":").read(r.region).expect(",\"contender\":").read(r.contender);
    in.expect(",\"incumbent\":").read(r.incumbent).expect(",\"runs_at_most\":").read(r.runs_at_most);
    in.expect(",\"contender_s\":").read(c.contender).expect(",\"incumbent_s\":").read(c.incumbent);
    in.expect(",\"contender_least_s\":").read(c.contender_least);
    in.expect(",\"incumbent_least_s\":").read(c.incumbent_least).expect(",\"confidence\":").read(c.confidence);
    in.expect(",\"runs\":").read(c.runs).expect(",\"running_s\":").read(c.running);
    in.expect(",\"took_s\":").read(r.seconds);
    if (!in.expect("}").at_end()) return false;
    found_.push_back(std::move(r));
    return true;
  }

  /// The field with a value that cannot have been measured; null: none.
  static char const* impossible(record const& r) {
    comparison const& c = r.result;
    auto const is_time = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
    auto const is_sum = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
    if (!is_time(c.contender)) return "contender_s";
    if (!is_time(c.incumbent)) return "incumbent_s";
    if (!is_time(c.contender_least)) return "contender_least_s";
    if (!is_time(c.incumbent_least)) return "incumbent_least_s";
    if (!(c.confidence >= 0 && c.confidence <= 1)) return "confidence";
    if (c.runs < 1) return "runs";
    if (!is_sum(c.running)) return "running_s";
    return is_sum(r.seconds) ? nullptr : "took_s";
  }

  std::string path_;
  descriptor file_;
  std::vector<record> found_;
};

}  // namespace ago::tuner
