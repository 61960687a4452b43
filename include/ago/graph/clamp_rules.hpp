// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about functions of single elements: clamps within clamps, and behind a maximum rather than before it.
#pragma once

#include <ago/graph/rewriter.hpp>

namespace ago::detail {

/// A clamp that never clamps, and a leaky_relu that never leaks.
constexpr bool clamp_within_bounds(auto& w, int v) {
  node const& n = w[v];
  value_bounds const& x = w.bounds[w.operand(v)];
  bool const idle = n.kind == op::leaky_relu ? n.alpha == 1 || x.positive() : x.within(bounds_of_clamp(n));
  if (idle) w.become_copy(v, w.operand(v));
  return idle;
}

/// Only where nothing else reads the value between: else its operand would have two readers, and each of the clamps
/// a step of its own.
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

/// Is it certain, in floating point too, that a < b makes f(a) <= f(b)?
constexpr bool never_falls(node const& f) {
  return is_clamp(f.kind) || f.kind == op::hard_sigmoid || (f.kind == op::leaky_relu && f.alpha >= 0);
}

/// v: a maximum. The function behind it has fewer elements to work on. In front it stays where it is free, in the
/// kernel that computes what it works on.
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

}  // namespace ago::detail
