// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tuner may choose and query. Searches know nothing about networks, so they can be tested on functions with a
// known optimum.
#pragma once

#include <ago/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ago::tuner {

/// One choice among a few.
struct choice {
  std::string name;                  ///< "block 3: expand 24>144: register tile"
  std::vector<std::string> options;  ///< names for readers
  std::size_t usual = 0;             ///< the option of the analytic default
  static constexpr std::size_t none = std::size_t(-1);
  std::size_t apart = none;  ///< for choices on joining: the option that leaves the parts apart, for SPLIT
};

/// The chosen option of every choice, in the order of problem::choices().
using candidate = std::vector<std::uint8_t>;

/// Their order in sets: lexicographical, like std::less, which g++ 12 turns into a comparison that it warns about
/// (-O3).
struct earlier {
  bool operator()(std::vector<std::uint8_t> const& a, std::vector<std::uint8_t> const& b) const {
    auto const [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return y != b.end() && (x == a.end() || *x < *y);
  }
};

/// Choices that are searched together: a mini-subgraph (at most one complex operator), or a joined subgraph.
struct region {
  std::string name;
  std::vector<std::size_t> choices;  ///< mini: disjoint; joined subgraph: those of its minis, and those on joining
  std::vector<std::size_t> minis;    ///< joined subgraph: indices of its minis
  double weight = 1;                 ///< initial share of the budget: Eq. (1)
};

/// The result of timing two candidates in turns.
struct comparison {
  double contender = 0, incumbent = 0;  ///< seconds, median
  double contender_least = 0, incumbent_least = 0;
  double confidence = 0;  ///< that the contender is faster: 0 ... 1
  int runs = 0;           ///< of each
  double running = 0;     ///< seconds in which one of them ran, including warm-up
};

/// A problem to be tuned.
class problem {
 public:
  virtual ~problem() = default;
  virtual std::vector<choice> const& choices() const = 0;
  /// SPLIT: mini-subgraphs. They cover all choices except those on joining.
  virtual std::vector<region> const& minis() const = 0;
  /// JOIN: the subgraphs, made of minis.
  virtual std::vector<region> const& subgraphs() const = 0;
  /// Can this candidate run (the kernels are in the menu, tiles fit)?
  virtual bool feasible(candidate const&) = 0;
  /// Seconds by the analytic cost model, to rank candidates before anything is measured.
  virtual double predicted(candidate const&) = 0;
  /// Times `contender` against `incumbent` in the whole network, interleaved, until the confidence is clear or `runs`
  /// of each are done.
  virtual comparison measure(candidate const& contender, candidate const& incumbent, int runs) = 0;
};

}  // namespace ago::tuner
