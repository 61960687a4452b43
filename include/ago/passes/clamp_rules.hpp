// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about elementwise functions: clamps of clamps, and clamps moved from before a maximum to after it.
#pragma once

#include <ago/passes/rewriter.hpp>

namespace ago::passes {

/// Removes a clamp or leaky_relu that changes no element.
constexpr bool clamp_within_bounds(auto& w, int v) {
  node const& n = w[v];
  value_bounds const& x = w.bounds[w.operand(v)];
  bool const idle = n.kind == op::leaky_relu ? n.alpha == 1 || x.positive() : x.within(bounds_of_clamp(n));
  if (idle) w.become_copy(v, w.operand(v));
  return idle;
}

/// Only where nothing else reads the inner clamp: otherwise its operand would have two readers, and each clamp its own
/// step.
constexpr bool clamp_of_clamp(auto& w, int v) {
  int const u = w.operand(v);
  if (!is_clamp(w[v].kind) || !is_clamp(w[u].kind) || !w.uses.is_private(u)) return false;
  value_bounds const both = clamped(bounds_of_clamp(w[u]), bounds_of_clamp(w[v]));
  node n{.kind = op::clip, .alpha = both.lower, .beta = both.upper};
  if (both == not_negative) n = {.kind = op::relu};
  if (both == value_bounds{0, 6}) n = {.kind = op::relu6};
  w.become(v, n, w.operand(u));
  return true;
}

/// Does a < b imply f(a) <= f(b), also in floating point?
constexpr bool never_falls(node const& f) {
  return is_clamp(f.kind) || f.kind == op::hard_sigmoid || (f.kind == op::leaky_relu && f.alpha >= 0);
}

/// v: a maximum. After it the function has fewer elements to compute. It stays before it where it is free, in the
/// epilogue of the kernel that computes its operand.
constexpr bool clamp_after_pool(auto& w, int v) {
  int const u = w.operand(v);
  if (!never_falls(w[u]) || !w.uses.is_private(u) || w[v].out.pixels() >= w[u].out.pixels()) return false;
  int const x = w.operand(u);
  if (w.takes_only_reader(x)) return false;
  w[u].out = w[v].out;
  exchange_operators(w[u], w[v]);
  w.bounds[u] = w.bounds[x];
  return true;
}

}  // namespace ago::passes
