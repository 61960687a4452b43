// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command lines of the benchmark programs: their common arguments and exit codes.
#pragma once

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

namespace bench {

inline int to_number(std::string const& name, std::string const& text, int least) {
  std::size_t read = 0;
  int number = 0;
  try {
    number = std::stoi(text, &read);
  } catch (std::exception const&) {}
  if (read == 0 || read != text.size() || number < least)
    throw std::invalid_argument(name + " needs a number from " + std::to_string(least) + ", not '" + text + "'");
  return number;
}

/// Arguments that every program accepts.
struct common_arguments {
  bool json = false, help = false;
  int repetitions = 60;
  std::optional<int> core;

  /// Whether `name` is one of them; `next` returns the word that follows it.
  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--json") json = true;
    else if (name == "--help") help = true;
    else if (name == "--repetitions") repetitions = to_number(name, next(), 1);
    else if (name == "--core") core = to_number(name, next(), 0);
    else return false;
    return true;
  }
};

/// Passes every word to `arguments.take(name, next)`. Throws std::invalid_argument with a sentence.
template <class Arguments>
Arguments parse(int count, char const* const* words) {
  Arguments result;
  for (int i = 1; i < count; ++i) {
    std::string const name = words[i];
    auto const next = [&]() -> std::string {
      if (i + 1 == count) throw std::invalid_argument(name + " needs a value");
      return words[++i];
    };
    if (!result.take(name, next)) throw std::invalid_argument("unknown argument '" + name + "'");
  }
  return result;
}

/// The exit code of `run(arguments)`: 2 if the command line is invalid.
template <class Arguments, class Run>
int run_program(char const* program, char const* usage, int count, char const* const* words, Run const& run) try {
  auto const arguments = parse<Arguments>(count, words);
  if (arguments.help) return std::fputs(usage, stdout), EXIT_SUCCESS;
  return run(arguments);
} catch (std::invalid_argument const& e) {
  std::fprintf(stderr, "%s: %s\n%s", program, e.what(), usage);
  return 2;
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s: %s\n", program, e.what());
  return EXIT_FAILURE;
}

}  // namespace bench
