// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Teams of which each thread has a core.
#pragma once

#include "contention.hpp"

#include <ago/runtime/bind_threads.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bench {

/// So many of the usable logical processors, in cores of their own if there are enough cores; beginning with `first`.
inline std::vector<int> processors_for(int threads, std::optional<int> first) {
  std::vector<int> usable = usable_cores();
  if (first) std::stable_partition(usable.begin(), usable.end(), [&](int core) { return core == *first; });
  std::vector<int> chosen, rest;
  for (int const core : usable) {
    std::vector<int> const siblings = siblings_of(core);
    bool const is_taken = std::any_of(chosen.begin(), chosen.end(), [&](int other) {
      return std::find(siblings.begin(), siblings.end(), other) != siblings.end();
    });
    (is_taken ? rest : chosen).push_back(core);
  }
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  if (int(chosen.size()) > threads) chosen.resize(std::size_t(threads));
  return chosen;
}

/// The team of so many threads that all models of this program use, one after the other.
inline ago::team& team_of(int threads) {
  static std::map<int, std::unique_ptr<ago::team>> teams;
  std::unique_ptr<ago::team>& one = teams[threads];
  if (!one) one = std::make_unique<ago::team>(threads);
  return *one;
}

/// Binds the threads of a team to cores and reports to which.
inline void bind_to_cores(ago::team& workers, std::span<int const> processors) {
  bool const bound = ago::bind_threads(workers, processors);
  std::fprintf(stderr, bound ? "threads bound to processors" : "threads not bound to processors");
  for (int const p : processors) std::fprintf(stderr, " %d", p);
  std::fprintf(stderr, "\n");
}

}  // namespace bench
