// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of every tuner.
#pragma once

#include <ago/tuner/file.hpp>
#include <ago/tuner/keywords.hpp>
#include <ago/tuner/settings.hpp>
#include <ago/tuner/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ago::tuner {

/// The values of the command line flags.
struct flags {
  settings search;
  std::string output, name, device = "unnamed", log, plot;
  std::vector<std::string> combined;  ///< logs of the shares to be combined; empty: a search
  bool resume = false, help = false, version = false;
  double time_limit = 0;  ///< seconds; 0: none
};

/// The command line is invalid: exit code 2.
struct usage_error : failure {
  using failure::failure;
};

inline constexpr char usage[] = R"(
  --output FILE.hpp       header for the tuned schedules; if it exists, they are merged into it
  --name TABLE            name of the table, tuned::TABLE (default: from the file name)
  --device TEXT           description of this machine, for readers of the header (default: unnamed)
  --budget N              trials, each a measurement of the whole network (default: 300)
  --time-limit SECONDS    limit on measuring time (default: none)
  --method M              evolutionary, random or exhaustive (default: evolutionary)
  --variant V             ago, ago-nr: without reformer, ago-ni: without pipelines (default: ago)
  --seed N                seed of the search (default: 1)
  --log FILE.jsonl        log of all measurements (default: beside the header, one for each network)
  --share K/N             search share K of the N into which the subgraphs are divided
  --combine LOG.jsonl     instead of a search, combine the results of shares: the flag for each of their logs, in order
  --resume                continue the log of an interrupted search; use the same flags
  --plot FILE.svg         plot of the best time over the trials
  --help, --version
)";

/// Can a table have this name?
inline bool is_identifier(std::string const& text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits = "0123456789";
  auto const in = [](std::string_view set) { return [set](char c) { return set.find(c) != set.npos; }; };
  auto const is_word_of = [&](std::string_view list) { return list.find(" " + text + " ") != list.npos; };
  return !text.empty() && in(letters)(text[0]) && text[0] != '_' && text.find("__") == text.npos &&
         std::ranges::all_of(text, [&](char c) { return in(letters)(c) || in(digits)(c); }) && !is_word_of(keywords) &&
         !is_word_of(common_macros);
}

namespace detail {

inline constexpr int most_shares = 1000;

template <class Number>
Number number_from(std::string const& flag, std::string const& text, Number least) {
  Number n{};
  char const *const begin = text.data(), *const all = begin + text.size();
  auto const [end, error] = std::from_chars(begin, all, n);
  if (error != std::errc() || end != all || n < least)
    throw usage_error(flag + " needs a whole number of at least " + std::to_string(least) + ", not '" + text + "'");
  return n;
}
inline double seconds_from(std::string const& flag, std::string const& text) {
  char* end = nullptr;
  double const s = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != 0 || !std::isfinite(s) || s <= 0)
    throw usage_error(flag + " needs a number of seconds above 0, not '" + text + "'");
  return s;
}
/// "2/3"
inline share_of_search share_from(std::string const& flag, std::string const& text) {
  share_of_search s{0, 0};
  char const* const all = text.data() + text.size();
  auto const [slash, error] = std::from_chars(text.data(), all, s.number);
  bool valid = error == std::errc() && slash != all && *slash == '/';
  if (valid) {
    auto const [end, second] = std::from_chars(slash + 1, all, s.count);
    valid = second == std::errc() && end == all && 1 <= s.number && s.number <= s.count;
  }
  if (!valid || s.count > most_shares)
    throw usage_error(flag + " needs K/N, share K of N with 1 <= K <= N <= " + std::to_string(most_shares) + ", not '" +
                      text + "'");
  return s;
}
template <std::size_t N>
std::size_t index_of(std::string const& flag, std::string const& text, char const* const (&names)[N]) {
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    if (text == names[i]) return i;
    all += (i == 0 ? "" : i + 1 < N ? ", " : " or ") + std::string(names[i]);
  }
  throw usage_error(flag + " is " + all + ", not '" + text + "'");
}

/// Takes one flag, and its value from `next()`; false if it is unknown.
template <class Next>
bool take(flags& f, std::string const& flag, Next const& next) {
  if (flag == "--help") f.help = true;
  else if (flag == "--version") f.version = true;
  else if (flag == "--resume") f.resume = true;
  else if (flag == "--output") f.output = next();
  else if (flag == "--name") f.name = next();
  else if (flag == "--device") f.device = next();
  else if (flag == "--log") f.log = next();
  else if (flag == "--plot") f.plot = next();
  else if (flag == "--budget") f.search.budget = number_from<int>(flag, next(), 1);
  else if (flag == "--seed") f.search.seed = number_from<std::uint64_t>(flag, next(), 0);
  else if (flag == "--time-limit") f.time_limit = seconds_from(flag, next());
  else if (flag == "--share") f.search.share = share_from(flag, next());
  else if (flag == "--combine") f.combined.push_back(next());
  else if (flag == "--method") f.search.how = method(index_of(flag, next(), method_names));
  else if (flag == "--variant") f.search.what = variant(index_of(flag, next(), variant_names));
  else return false;
  return true;
}

/// Throws if two flags name the same file, since one would overwrite the other.
inline void check_files_differ(flags const& f) {
  std::vector<std::pair<char const*, std::string const*>> files = {
      {"--output", &f.output}, {"--log", &f.log}, {"--plot", &f.plot}};
  for (std::string const& log : f.combined) files.emplace_back("--combine", &log);
  for (auto const& [flag, path] : files)
    for (auto const& [other, before] : files) {
      if (path == before) break;
      if (!path->empty() && !before->empty() && same_file(*path, *before))
        throw usage_error(std::string(other) + " and " + flag + " are the same file: " + *before +
                          (*path == *before ? "" : " and " + *path));
    }
}

inline void check(flags& f) {
  if (f.output.empty()) throw usage_error("--output FILE.hpp is missing: the header to write the tuned schedules to");
  std::string const stem = std::filesystem::path(f.output).stem().string();
  if (f.name.empty() && !is_identifier(stem))
    throw usage_error("the table needs a --name: '" + stem + "', from the file name, is not a valid C++ name");
  if (f.name.empty()) f.name = stem;
  if (!is_identifier(f.name)) throw usage_error("--name '" + f.name + "' is not a valid C++ name");
  if (f.search.share.count > 1 && !f.combined.empty())
    throw usage_error("--share and --combine exclude each other: what is combined is all shares");
  check_files_differ(f);
}

}  // namespace detail

/// Throws usage_error with a message.
inline flags parse(int count, char const* const* words) {
  flags f;
  for (int i = 1; i < count; ++i) {
    std::string flag = words[i], value;
    bool const joined = flag.starts_with("--") && flag.find('=') != flag.npos;  // --flag=value
    if (joined) value = flag.substr(flag.find('=') + 1), flag.erase(flag.find('='));
    bool used = !joined;
    auto const next = [&] {
      if (joined) return used = true, value;
      if (i + 1 == count) throw usage_error(flag + " needs a value");
      return std::string(words[++i]);
    };
    if (!detail::take(f, flag, next)) throw usage_error("unknown flag '" + flag + "'; --help lists all flags");
    if (!used) throw usage_error(flag + " takes no value");
  }
  if (!f.help && !f.version) detail::check(f);
  return f;
}

}  // namespace ago::tuner
