// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tuner may choose, and what it may ask: searches know nothing of networks, so that they can be tested on
// functions with a known optimum.
#pragma once

#include <ago/graph/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ago::tuner {

/// One choice among a few.
struct choice {
  std::string name;           ///< "block 3: expand 24>144: register tile"
  std::vector<std::string> options;  ///< as a person reads them
  std::size_t usual = 0;      ///< the option that the analytic default takes
  static constexpr std::size_t none = std::size_t(-1);
  std::size_t apart = none;   ///< of a choice on joining: the option that leaves the parts apart, as SPLIT tunes them
};

/// The option taken of every choice, in the order of problem::choices().
using candidate = std::vector<std::uint8_t>;

/// Their order in sets: lexicographical, like std::less, of which g++ 12 makes a comparison that it warns of (-O3).
struct earlier {
  bool operator()(std::vector<std::uint8_t> const& a, std::vector<std::uint8_t> const& b) const {
    auto const [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return y != b.end() && (x == a.end() || *x < *y);
  }
};

/// Choices that are searched together: a mini-subgraph (at most one complex operator), or a joined subgraph.
struct region {
  std::string name;
  std::vector<std::size_t> choices;   ///< minis: disjoint; joined: those of its minis and those on joining them
  std::vector<std::size_t> minis;     ///< joined: indices of the minis it is made of
  double weight = 1;                  ///< share of the budget before anything is known: Eq. (1)
};

/// Two candidates timed in turns.
struct comparison {
  double contender = 0, incumbent = 0;  ///< seconds, median
  double contender_least = 0, incumbent_least = 0;
  double confidence = 0;                ///< that the contender is the faster one: 0 ... 1
  int runs = 0;                         ///< of each
  double running = 0;                   ///< seconds in which one of them ran, warming up included
};

/// A thing to be tuned.
class problem {
 public:
  virtual ~problem() = default;
  virtual std::vector<choice> const& choices() const = 0;
  /// SPLIT: mini-subgraphs. They cover all choices but those on joining.
  virtual std::vector<region> const& minis() const = 0;
  /// JOIN: the subgraphs, made of minis.
  virtual std::vector<region> const& subgraphs() const = 0;
  /// Can it be run as it stands (the kernels are in the menu, tiles fit)?
  virtual bool feasible(candidate const&) = 0;
  /// Seconds by the analytic cost model, to rank candidates before anything is measured.
  virtual double predicted(candidate const&) = 0;
  /// Times `contender` against `incumbent` in the whole network, interleaved, until the confidence is clear or `runs`
  /// of each are done.
  virtual comparison measure(candidate const& contender, candidate const& incumbent, int runs) = 0;
};

}  // namespace ago::tuner
