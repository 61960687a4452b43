// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which benchmarks are chosen on the command line.
#pragma once

#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Those of `all` in whose `name` the regular expression is found; an empty one is found in all. Throws
/// std::invalid_argument where there are none, or where it is no regular expression.
template <class T>
std::vector<T const*> filtered(std::vector<T> const& all, std::string const& expression) try {
  std::regex const pattern(expression);
  std::vector<T const*> chosen;
  for (T const& x : all)
    if (std::regex_search(x.name, pattern)) chosen.push_back(&x);
  if (chosen.empty()) throw std::invalid_argument("no name matches '" + expression + "'");
  return chosen;
} catch (std::regex_error const& e) {
  throw std::invalid_argument("'" + expression + "' is no regular expression: " + e.what());
}

}  // namespace bench
