// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is to be searched, how, and when it is enough.
#pragma once

#include <ago/graph/requirements.hpp>

#include <cstddef>
#include <cstdint>

namespace ago::tuner {

enum class method : std::uint8_t { evolutionary, random, exhaustive };

/// Variants of AGO (section VI.C): whole, without reformer, without intensive fusion.
enum class variant : std::uint8_t { ago, ago_nr, ago_ni };

inline constexpr char const* method_names[] = {"evolutionary", "random", "exhaustive"};
inline constexpr char const* variant_names[] = {"ago", "ago-nr", "ago-ni"};
constexpr char const* name_of(method m) { return method_names[int(m)]; }
constexpr char const* name_of(variant v) { return variant_names[int(v)]; }

struct settings {
  method how = method::evolutionary;
  variant what = variant::ago;
  std::uint64_t seed = 1;
  int budget = 300;  ///< trials: measurements of a contender against an incumbent

  int runs = 16;            ///< of both, at most, in a trial
  int final_runs = 64;      ///< in the last one: the result against the default
  double confidence = .95;  ///< that a contender is the faster one, in two trials, before it replaces the incumbent
  double split_share = .3;  ///< of a subgraph's part of the budget, for its mini-subgraphs
};

/// A region has settled after so many trials without a replacement.
constexpr int patience(std::size_t choices) { return 4 + 2 * int(choices < 10 ? choices : 10); }
/// How the minis of a subgraph are joined has settled after so many for each place where they can be joined.
inline constexpr int patience_with_structure = 2;

}  // namespace ago::tuner
