// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step does: multiply-adds, and the bytes that pass through memory for it.
#pragma once

#include <ago/plan/packing.hpp>
#include <ago/plan/plan.hpp>

namespace ago {

/// Of a kernel or of a pipeline: values that only pass from part to part of it count no bytes, all others count once.
struct step_account {
  long multiply_adds{};  ///< as the direct algorithm takes them
  long bytes_read{};     ///< values and packed parameters
  long bytes_written{};

  constexpr long bytes() const { return bytes_read + bytes_written; }
};

/// Products that one element of the result of complex operator v is the sum of. `Graph`: a graph, or a view of one.
template <class Graph>
constexpr long fan_in(Graph const& g, int v) {
  node const& n = g.nodes[v];
  shape const& in = g.nodes[g.operand(v)].out;
  switch (n.kind) {
    case op::matmul:
    case op::attention_values: return in.c;            // a row of the first operand, or of the scores
    case op::attention_scores: return in.c / n.groups;  // what a head has of the channels
    case op::depthwise: return long(n.win.kernel_h) * n.win.kernel_w;
    case op::conv2d:
    case op::pointwise:
    case op::linear: return long(n.win.kernel_h) * n.win.kernel_w * (in.c / n.groups);
    default: break;  // not complex, or forgotten
  }
  detail::no_case_for_this_value();
}

/// Multiply-adds of operator v; only complex operators have some.
template <class Graph>
constexpr long multiply_adds(Graph const& g, int v) {
  return is_complex(g.nodes[v].kind) ? g.nodes[v].out.count() * fan_in(g, v) : 0;
}

namespace detail {

/// An attention that is computed in one pass is two products.
template <class Graph>
constexpr long multiply_adds_of(Graph const& g, planned_step const& p) {
  int const main = p.nodes.main;
  if (main < 0 || !is_complex(g.nodes[main].kind)) return 0;
  long const values = p.data.out.count() * fan_in(g, main);  // not of the whole node, if the step is a piece of it
  return p.nodes.attention ? values + multiply_adds(g, g.operand(g.operand(main))) : values;
}

/// Packed parameters, once.
constexpr long parameter_floats(planned_step const& p) {
  long sum = packed_floats(p.key, p.data);
  for (int k = 0; k < p.nodes.stage_count; ++k)
    sum += packed_floats(p.key.after.stages[k], p.key.target, p.data.out);
  return sum;
}

/// What a part reads, but for the result of the part before it.
template <class Graph>
constexpr long floats_read(Graph const& g, planned_step const& p, int before) {
  bool const copies = p.key.what == structure::copy;
  long sum = p.nodes.source == before ? 0 : copies ? p.data.out.count() : p.data.in.count();
  for (int const v : p.nodes.inputs)
    if (v >= 0 && v != p.nodes.source) sum += g.nodes[v].out.count();
  for (int k = 0; k < p.nodes.stage_count; ++k)
    if (int const v = p.nodes.others[k]; v >= 0) sum += g.nodes[v].out.count();
  return sum;
}

}  // namespace detail

/// The account of a step: of its parts, `count` of them from `parts` on.
template <class Graph>
constexpr step_account account_of(Graph const& g, planned_step const* parts, int count) {
  step_account a;
  int before = -1;
  for (int i = 0; i < count; ++i) {
    planned_step const& p = parts[i];
    a.multiply_adds += detail::multiply_adds_of(g, p);
    a.bytes_read += 4 * (detail::parameter_floats(p) + detail::floats_read(g, p, before));
    before = p.nodes.result;
  }
  a.bytes_written = 4 * parts[count - 1].data.out.count();
  return a;
}

}  // namespace ago
