// From a partition to steps: each mini-subgraph's complex operator with the elementwise operators behind it.
// Any partition gives a right program; a good one gives few steps.
#pragma once

#include <ago/graph/graph.hpp>
#include <ago/partition/partition.hpp>
#include <ago/plan/step.hpp>

namespace ago {

static_assert(max_followers <= max_stages, "an atom's elementwise operators fit one epilogue");

/// One step in terms of nodes.
struct step_nodes {
  int main = -1;    ///< operator with a kernel of its own; -1: the step only applies its stages (none: it copies)
  int source = -1;  ///< value read
  int bias = -1;    ///< bias that starts the accumulators of a complex operator
  int stages[max_stages]{}, stage_count = 0;
  int others[max_stages]{};  ///< the second operand of a binary stage
  int result = -1;           ///< value written ...
  int copy_to_concat = -1, copy_channel = 0;  ///< ... or, for a copy, the concat and channel where it goes
  int copy_to_output = -1;                    ///< ... or the network output
};

template <int Capacity>
struct step_list {
  step_nodes step[Capacity]{};
  int count = 0;
};

/// How often each value is read, a network output counting as a read, and the last operator that reads it (or -1).
template <int V>
struct value_uses {
  int readers[V]{};
  int reader[V]{};
};

template <int V, int E, int O>
constexpr value_uses<V> uses_of(graph<V, E, O> const& g) {
  value_uses<V> u;
  for (int v = 0; v < g.node_count; ++v) u.reader[v] = -1;
  for (int v = 0; v < g.node_count; ++v)
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      ++u.readers[g.operand(v, k)];
      u.reader[g.operand(v, k)] = v;
    }
  for (int o = 0; o < g.output_count; ++o) ++u.readers[g.outputs[o]];
  return u;
}

/// Where each concatenated value is written: straight into its concat's memory (parent), so that concat costs nothing.
template <int V>
struct concat_views {
  int parent[V]{};
  int channel[V]{};  ///< first channel within the parent
};

template <int V, int E, int O>
constexpr concat_views<V> views_of(graph<V, E, O> const& g) {
  concat_views<V> r{};
  bool fixed[V]{};  // these keep memory of their own
  for (int v = 0; v < g.node_count; ++v) {
    r.parent[v] = -1;
    fixed[v] = fixed[v] || g.nodes[v].kind == op::input;
    if (is_binary(g.nodes[v].kind) && g.source(v, 1).out != g.nodes[v].out) fixed[g.operand(v, 1)] = true;  // broadcast
  }
  for (int o = 0; o < g.output_count; ++o) fixed[g.outputs[o]] = true;
  for (int v = g.node_count - 1; v >= 0; --v) {
    if (g.nodes[v].kind != op::concat) continue;
    int channel = 0;
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      int const u = g.operand(v, k);
      if (!fixed[u]) {  // in several places at once: the last one counts, the others are copied
        r.parent[u] = v;
        r.channel[u] = channel;
      }
      channel += g.nodes[u].out.c;
    }
  }
  return r;
}

namespace detail {

/// Can elementwise operator `r` be computed in the epilogue of a step whose value so far is `v`?
template <int V, int E, int O>
constexpr bool fuses(graph<V, E, O> const& g, bool const* done, step_nodes const& s, int v, int r) {
  node const& n = g.nodes[r];
  if (!is_elementwise(n.kind) || !(n.out == g.nodes[v].out)) return false;
  if (!is_binary(n.kind)) return true;
  int const other = g.operand(r, 0) == v ? g.operand(r, 1) : g.operand(r, 0);
  if (!done[other]) return false;
  bool const broadcast = !(g.nodes[other].out == n.out);
  return !broadcast || n.out.n == 1 || s.main < 0;  // only the elementwise kernel walks images one by one
}

template <int V, int E, int O>
constexpr void add_stage(graph<V, E, O> const& g, step_nodes& s, int r) {
  s.others[s.stage_count] = is_binary(g.nodes[r].kind) ? g.operand(r, g.operand(r, 0) == s.result) : -1;
  s.stages[s.stage_count++] = r;
  s.result = r;
}

constexpr bool takes_epilogue(op kind) { return kind != op::from_nchw && kind != op::to_nchw; }

}  // namespace detail

/// The steps of `g`, in execution order, under partition `minis`. Each operator is computed by exactly one step, except
/// concats, which are computed by their producers, with a copy where a producer cannot.
template <int V, int E, int O>
constexpr step_list<V + E + O> form_steps(graph<V, E, O> const& g, partition<V> const& minis,
                                          concat_views<V> const& views) {
  step_list<V + E + O> steps;
  value_uses<V> const uses = uses_of(g);
  bool done[V]{};
  for (int v = 0; v < g.input_count; ++v) done[v] = true;
  for (int i = 0; i < minis.operators; ++i) {
    int const v = minis.order[i];
    node const& n = g.nodes[v];
    if (done[v]) continue;
    done[v] = true;
    if (n.kind == op::concat) {
      int channel = 0;
      for (int k = 0; k < n.input_count; ++k) {
        int const u = g.operand(v, k);
        if (views.parent[u] != v || views.channel[u] != channel)
          steps.step[steps.count++] = {.source = u, .result = v, .copy_to_concat = v, .copy_channel = channel};
        channel += g.nodes[u].out.c;
      }
      continue;
    }
    step_nodes& s = steps.step[steps.count++];
    s = {.source = g.operand(v), .result = g.operand(v)};
    if (is_elementwise(n.kind)) {
      detail::add_stage(g, s, v);
    } else if (n.kind == op::identity) {
      s.result = v;
    } else {
      s.main = s.result = v;
    }
    while (detail::takes_epilogue(n.kind) && uses.readers[s.result] == 1) {
      int const r = uses.reader[s.result];
      if (r < 0) break;
      bool const starts_accumulators =
          is_complex(n.kind) && g.nodes[r].kind == op::bias && s.bias < 0 && s.stage_count == 0;
      if (minis.of[r] != minis.of[v] || !detail::fuses(g, done, s, s.result, r)) break;
      if (!starts_accumulators && s.stage_count == max_stages) break;
      done[r] = true;
      if (starts_accumulators) {
        s.bias = s.result = r;
      } else {
        detail::add_stage(g, s, r);
      }
    }
  }
  for (int o = 0; o < g.output_count; ++o) {  // an input handed through, or one value given out twice
    bool copy = g.nodes[g.outputs[o]].kind == op::input;
    for (int p = 0; p < o; ++p) copy = copy || g.outputs[p] == g.outputs[o];
    if (copy) steps.step[steps.count++] = {.source = g.outputs[o], .result = g.outputs[o], .copy_to_output = o};
  }
  return steps;
}

}  // namespace ago
