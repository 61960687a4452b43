// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statistics of MobileViT's subgraphs in the paper, section VI.B.
#pragma once

namespace bench {

/// Weights are in whole units of a definition whose parameters (c, b, base, limit, variant of the network) the paper
/// does not give.
struct published_row {
  char const* name;
  int groups, trivial;  ///< trivial: weight below 20; -1: not given
  int mean, median;
  double jain;
};

inline constexpr published_row published[] = {
    {"Relay (published)", 259, 105, 138, 23, .19},
    {"AGO (published)", 82, -1, 437, 350, .55},
};

}  // namespace bench
