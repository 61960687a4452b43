// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings of a search: method, variant, and when it ends.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <cstdint>

namespace ago::tuner {

enum class method : std::uint8_t { evolutionary, random, exhaustive };

/// Variants of AGO (section VI.C): complete, without reformer, without intensive fusion.
enum class variant : std::uint8_t { ago, ago_nr, ago_ni };

inline constexpr char const* method_names[] = {"evolutionary", "random", "exhaustive"};
inline constexpr char const* variant_names[] = {"ago", "ago-nr", "ago-ni"};
constexpr char const* name_of(method m) { return method_names[int(m)]; }
constexpr char const* name_of(variant v) { return variant_names[int(v)]; }

/// One of several searches that divide the subgraphs of a network among them: 1 <= number <= count.
struct share_of_search {
  int number = 1, count = 1;
};

struct settings {
  method how = method::evolutionary;
  variant what = variant::ago;
  std::uint64_t seed = 1;
  share_of_search share{};
  int budget = 300;  ///< trials: measurements of a contender against an incumbent

  int runs = 16;            ///< maximum number of runs of both in a trial
  int final_runs = 64;      ///< in the last trial, the result against the default
  double confidence = .95;  ///< required in two trials for a contender to replace the incumbent
  double split_share = .3;  ///< of a subgraph's share of the budget, for its mini-subgraphs
};

/// Trials without a replacement after which a region has settled.
constexpr int patience(std::size_t choices) { return 4 + 2 * int(choices < 10 ? choices : 10); }
/// Likewise, for the structure of a subgraph: trials for each place where minis can be joined.
inline constexpr int patience_with_structure = 2;

}  // namespace ago::tuner
