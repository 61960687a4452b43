// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The place of an output channel's parameters: those of the operator, or of an operator that was merged into it.
#pragma once

#include <ago/ir/graph.hpp>

namespace reference {

struct channel_parameters {
  int weight, shift, norm;  ///< as in ago::ir::node
  int channel, channels;    ///< the index of the channel in each vector, and the length of these vectors
};

inline channel_parameters parameters_of(ago::ir::node const& n, int channel) {
  int own = n.out.c;
  for (ago::ir::sibling const& s : n.siblings) own -= s.channels;
  channel_parameters p{n.weight, n.shift, n.norm, channel, own};
  for (ago::ir::sibling const& s : n.siblings) {
    if (p.channel < p.channels) break;
    p = {s.weight, s.shift, s.norm, p.channel - p.channels, s.channels};
  }
  return p;
}

}  // namespace reference
