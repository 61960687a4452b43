// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection of benchmarks on the command line.
#pragma once

#include "command_line.hpp"

#include <concepts>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Arguments of a program whose benchmarks have names.
struct filter_arguments : common_arguments {
  std::string filter;
  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name != "--filter") return common_arguments::take(name, next);
    filter = next();
    return true;
  }
};

/// The elements of `all` whose `name` matches the regular expression somewhere; an empty expression matches all. Throws
/// std::invalid_argument if none matches, or if the expression is invalid.
template <class T>
std::vector<T const*> filtered(std::vector<T> const& all, std::string const& expression) try {
  std::regex const pattern(expression);
  std::vector<T const*> chosen;
  for (T const& x : all)
    if (std::regex_search(x.name, pattern)) chosen.push_back(&x);
  if (chosen.empty()) throw std::invalid_argument("no name matches '" + expression + "'");
  return chosen;
} catch (std::regex_error const& e) {
  throw std::invalid_argument("'" + expression + "' is not a regular expression: " + e.what());
}

}  // namespace bench
