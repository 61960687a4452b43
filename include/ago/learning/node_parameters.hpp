// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The offsets of a node's parameters, and those of an equal node.
#pragma once

#include <ago/ir/graph.hpp>

namespace ago::learning {

/// The parameters of a node: weight, shift, norm. Each is one or several rows from an offset on; -1: it has none.
inline constexpr int node_parameters = 3;
constexpr int offset_of(node const& n, int which) { return which == 0 ? n.weight : which == 1 ? n.shift : n.norm; }
/// Which of them has an offset, the one that begins last at or before it; node_parameters: none.
constexpr int parameter_at(node const& n, int offset) {
  int r = node_parameters;
  for (int p = 0; p < node_parameters; ++p) {
    int const first = offset_of(n, p);
    if (first >= 0 && first <= offset && (r == node_parameters || first >= offset_of(n, r))) r = p;
  }
  return r;
}
/// The parameters of a node that occurs in the place of an equal one: offsets of one become those of the other.
struct moved_parameters {
  node const *from, *to;

  /// -1 stays.
  constexpr int operator()(int offset) const {
    int const p = parameter_at(*from, offset);
    return p == node_parameters ? offset : offset - offset_of(*from, p) + offset_of(*to, p);
  }
};

}  // namespace ago::learning
