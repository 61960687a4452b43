// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statistics of MobileViT's subgraphs in the paper, section VI.B.
#pragma once

namespace bench {

/// Weights are in whole units of a definition that the paper leaves open: c, b, base, limit and variant of the network.
struct published_row {
  char const* name;
  int groups, trivial;  ///< trivial: lighter than 20; -1: not said
  int mean, median;
  double jain;
};

inline constexpr published_row published[] = {
    {"Relay (published)", 259, 105, 138, 23, .19},
    {"AGO (published)", 82, -1, 437, 350, .55},
};

}  // namespace bench
