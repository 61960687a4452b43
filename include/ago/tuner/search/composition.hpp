// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of candidates: extracts a region's options from a candidate, and replaces them.
#pragma once

#include <ago/tuner/problem.hpp>
#include <ago/tuner/search/space.hpp>

#include <algorithm>

namespace ago::tuner {

inline genes genes_of(candidate const& c, std::vector<std::size_t> const& choices) {
  genes result;
  for (std::size_t const i : choices) result.push_back(c[i]);
  return result;
}

inline candidate with(candidate c, std::vector<std::size_t> const& choices, genes const& g) {
  for (std::size_t i = 0; i < choices.size(); ++i) c[choices[i]] = g[i];
  return c;
}

/// The candidate of the analytic default.
inline candidate usual(std::vector<choice> const& choices) {
  candidate result;
  for (choice const& c : choices) result.push_back(std::uint8_t(c.usual));
  return result;
}

/// `c` with the parts of a subgraph left apart, where there is a choice.
inline candidate apart(candidate c, std::vector<choice> const& all, std::vector<std::size_t> const& choices) {
  for (std::size_t const i : choices)
    if (all[i].apart != choice::none) c[i] = std::uint8_t(all[i].apart);
  return c;
}

/// The choices of a subgraph that belong to none of its minis: those on joining them.
inline std::vector<std::size_t> joining(region const& subgraph, std::vector<region> const& minis) {
  std::vector<std::size_t> result = subgraph.choices;
  for (std::size_t const m : subgraph.minis)
    std::erase_if(result, [&](std::size_t i) { return std::ranges::count(minis[m].choices, i) != 0; });
  return result;
}

}  // namespace ago::tuner
