// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a partition to steps: each mini-subgraph's complex operator with the elementwise operators after it.
// Any partition gives a correct program; a good one gives few steps.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/kernel/units.hpp>
#include <ago/partition/partition.hpp>
#include <ago/plan/channel_runs.hpp>

namespace ago::plan {

static_assert(max_followers <= max_stages, "an atom's elementwise operators fit one epilogue");

/// One step in terms of nodes.
struct step_nodes {
  int main = -1;  ///< operator with a kernel of its own; -1: the step only applies its stages, or copies without any
  bool attention = false;  ///< `main` is the last product of an attention that is computed in one pass
  int source = -1;         ///< value read
  int inputs[max_inputs - 1]{-1, -1, -1, -1, -1, -1, -1};  ///< further values that `main` reads
  int bias = -1;                                           ///< bias that starts the accumulators of a complex operator
  int stages[max_stages]{}, stage_count = 0;
  int others[max_stages]{};     ///< the second operand of a binary stage
  bool reversed[max_stages]{};  ///< the other value is the operator's first operand
  int result = -1;              ///< value written ...
  int copy_to_output = -1;      ///< ... or, for a copy, the network output
  bool gathers = false;         ///< copies `piece` to the place of its channels in the result
  channel_run piece{};          ///< the part of the source that is read; all of it if the count is 0
  int piece_at = 0;             ///< first channel written, in the result's memory

  constexpr bool is_whole() const { return piece.count == 0; }
  /// The first operator that it computes; -1: it only copies.
  constexpr int first_operator() const { return main >= 0 ? main : stage_count > 0 ? stages[0] : -1; }
};

/// Calls visit(value, operand) for each value that a step reads. `operand`: of the main operator, or of none (-1).
constexpr void for_each_read(step_nodes const& s, auto const& visit) {
  if (s.source >= 0) visit(s.source, 0);
  for (int i = 0; i < max_inputs - 1 && s.inputs[i] >= 0; ++i) visit(s.inputs[i], i + 1);
  for (int j = 0; j < s.stage_count; ++j)
    if (s.others[j] >= 0) visit(s.others[j], -1);
}

/// The kernel of a step's main operator.
constexpr structure structure_of(graph_view g, step_nodes const& s) {
  return s.attention ? structure::attention : kernel::structure_of(g.nodes[s.main].kind);
}

template <int Capacity>
struct step_list {
  static constexpr int capacity = Capacity;
  array_of<step_nodes, Capacity> step{};
  int count = 0;
};

/// The value into whose memory each value is written, so that concatenations of channels and reshapes cost nothing.
template <int V>
struct concat_views {
  array_of<int, V> parent{};
  array_of<int, V> channel{};  ///< first channel within the parent
};

template <int V>
constexpr int root_of(concat_views<V> const& views, int v) {
  while (views.parent[v] >= 0) v = views.parent[v];
  return v;
}

template <int V, int E, int O>
constexpr concat_views<V> views_of(graph<V, E, O> const& g, channel_layouts<V> const& layouts) {
  concat_views<V> r{};
  array_of<bool, V> fixed{};       // these keep memory of their own
  array_of<bool, V> contiguous{};  // these have no gaps between pixels
  for (int v = 0; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    r.parent[v] = -1;
    bool const given = n.kind == op::input || n.kind == op::constant;
    fixed[v] = fixed[v] || given || n.kind == op::reshape || layouts.is_view[v] || layouts.pieces[v];
    if (is_binary(n.kind) && g.source(v, 1).out != n.out) fixed[g.operand(v, 1)] = true;  // broadcast
    if (!is_expression(n.kind)) continue;
    contiguous[v] = true;
    for (int k = 0; k < n.input_count; ++k) contiguous[g.operand(v, k)] = true;
  }
  for (int o = 0; o < g.output_count; ++o) fixed[g.outputs[o]] = true;
  for (int v = g.node_count - 1; v >= 0; --v) {
    node const& n = g.nodes[v];
    if (n.kind == op::reshape && !fixed[g.operand(v)]) {
      r.parent[g.operand(v)] = v;
      r.channel[g.operand(v)] = 0;
      fixed[g.operand(v)] = true;
    }
    if (n.kind != op::concat || n.axis != 3 || layouts.is_view[v]) continue;
    int channel = 0;
    for (int k = 0; k < n.input_count; ++k) {
      int const u = g.operand(v, k);
      if (!fixed[u] && !contiguous[u]) {  // of several parents the last one counts; for the others it is copied
        r.parent[u] = v;
        r.channel[u] = channel;
      }
      channel += g.nodes[u].out.c;
    }
  }
  return r;
}
template <int V, int E, int O>
constexpr concat_views<V> views_of(graph<V, E, O> const& g) {
  return views_of(g, channel_layouts_of(g));
}

/// Can elementwise operator `r` be computed in the epilogue of a step whose value so far is `v`?
constexpr bool fuses(graph_view g, bool const* done, step_nodes const& s, int v, int r) {
  node const& n = g.nodes[r];
  if (!is_elementwise(n.kind) || !(n.out == g.nodes[v].out)) return false;
  if (n.kind == op::positions) return n.out.n == 1 || s.main < 0;
  if (!is_binary(n.kind)) return true;
  int const other = g.operand(r, 0) == v ? g.operand(r, 1) : g.operand(r, 0);
  if (!done[other]) return false;
  shape const& t = g.nodes[other].out;
  bool const pixel_by_pixel = t.n == n.out.n && t.h == n.out.h && t.w == n.out.w;
  return pixel_by_pixel || n.out.n == 1 || s.main < 0;  // only the elementwise kernel processes images one by one
}

constexpr void add_stage(graph_view g, step_nodes& s, int r) {
  bool const binary = is_binary(g.nodes[r].kind), first = g.operand(r) == s.result;
  s.others[s.stage_count] = binary ? g.operand(r, first) : -1;
  s.reversed[s.stage_count] = binary && !commutes(g.nodes[r].kind) && g.nodes[r].exchanged == first;
  s.stages[s.stage_count++] = r;
  s.result = r;
}

/// Adds to step `s` of operator v the elementwise operators after it, as far as kernel and mini-subgraph allow.
template <int V, int E, int O>
constexpr void take_followers(graph<V, E, O> const& g, step_nodes& s, int v, ordered_clusters<V> const& minis,
                              value_uses<V> const& uses, bool* done) {
  for (int r = uses.only_reader(s.result); r >= 0; r = uses.only_reader(s.result)) {
    bool const starts_accumulators =
        has_weights(g.nodes[v].kind) && g.nodes[r].kind == op::bias && s.bias < 0 && s.stage_count == 0;
    if (minis.of[r] != minis.of[v] || !fuses(g, done, s, s.result, r)) return;
    if (!starts_accumulators && s.stage_count == max_stages) return;
    done[r] = true;
    if (starts_accumulators) s.bias = s.result = r;
    else add_stage(g, s, r);
  }
}

/// The scores and the softmax of the attention whose product with the values is v, if all three are in one chain.
struct attention_nodes {
  int scores = -1, weights = -1;
};
constexpr attention_nodes attention_of(graph_view g, int v, int const* chain_of) {
  if (g.nodes[v].kind != op::attention_values) return {};
  int const weights = g.operand(v);
  if (g.nodes[weights].kind != op::softmax || g.source(weights).kind != op::attention_scores) return {};
  int const scores = g.operand(weights);
  bool const joined = chain_of[scores] == chain_of[v] && chain_of[weights] == chain_of[v];
  return joined ? attention_nodes{scores, weights} : attention_nodes{};
}

/// Is v the scores or the softmax of such an attention? It is then computed by the step of the product with the values.
template <int V, int E, int O>
constexpr bool is_inside_attention(graph<V, E, O> const& g, int v, value_uses<V> const& uses, int const* chain_of) {
  int end = v;
  for (int i = 0; i < 2 && end >= 0 && g.nodes[end].kind != op::attention_values; ++i) end = uses.only_reader(end);
  if (end < 0 || end == v) return false;
  attention_nodes const inner = attention_of(g, end, chain_of);
  return inner.scores == v || inner.weights == v;
}

/// Adds step `s` once for each of `runs`, the segments of its source; they are adjacent in its result.
template <int Capacity>
constexpr void cut(step_list<Capacity>& steps, step_nodes s, run_list const& runs) {
  s.piece_at = 0;
  for (int i = 0; i < runs.count; ++i) {
    s.piece = runs.run[i];
    s.source = s.piece.value;
    steps.step[steps.count++] = s;
    s.piece_at += s.piece.count;
  }
}

/// Adds the copies of a concatenation along an axis other than channels.
template <int S, int V, int E, int O>
constexpr void join_operands(step_list<S>& steps, graph<V, E, O> const& g, step_nodes s) {
  int const v = s.main;
  for (int k = 0; k < g.nodes[v].input_count; ++k) {
    s.source = g.operand(v, k);
    steps.step[steps.count++] = s;
    s.piece_at += extent_along(g.source(v, k).out, g.nodes[v].axis);
  }
}

/// Adds a step for each of `runs` that copies it into `result`, from channel `at` on.
template <int Capacity>
constexpr void gather(step_list<Capacity>& steps, run_list const& runs, int result, int at) {
  for (int i = 0; i < runs.count; ++i) {
    channel_run piece = runs.run[i];
    piece.start += at;
    steps.step[steps.count++] = {
        .source = piece.value, .result = result, .gathers = true, .piece = piece, .piece_at = piece.start};
  }
}

/// Adds the copies of the operands of concatenation v, along channels, that are not written in place.
template <int S, int V, int E, int O>
constexpr void gather_operands(step_list<S>& steps, graph<V, E, O> const& g, int v, concat_views<V> const& views,
                               channel_layouts<V> const& layouts) {
  int channel = 0;
  for (int k = 0; k < g.nodes[v].input_count; channel += g.source(v, k).out.c, ++k) {
    int const u = g.operand(v, k);
    if (views.parent[u] != v || views.channel[u] != channel)
      gather(steps, layouts.where(u, g.nodes[u].out.c), v, channel);
  }
}

/// An upper bound of the number of steps of `g`: an operator may need one for each segment of its input.
template <int V, int E, int O>
constexpr int step_capacity(graph<V, E, O> const& g, channel_layouts<V> const& layouts) {
  int sum = g.output_count;
  for (int v = g.input_count; v < g.node_count; ++v) {
    sum += 1 + layouts.runs[v].count;
    if (g.nodes[v].kind != op::concat) continue;
    for (int k = 0; k < g.nodes[v].input_count; ++k) sum += layouts.where(g.operand(v, k), g.source(v, k).out.c).count;
  }
  return sum > 0 ? sum : 1;
}

/// The steps of `g` under partition `minis`, in execution order. Each operator is computed by exactly one step, with
/// two exceptions. Concatenations, slices and shuffles of channels are views, or are computed by their producers, or if
/// neither is possible by copies. Operators whose input has several segments may have one step for each. `chain_of`:
/// for each node, see partitions. `S`: at least step_capacity().
template <int S, int V, int E, int O>
constexpr step_list<S> form_steps(graph<V, E, O> const& g, ordered_clusters<V> const& minis,
                                  concat_views<V> const& views, channel_layouts<V> const& layouts,
                                  int const* chain_of) {
  step_list<S> steps;
  value_uses<V> const uses(g);
  array_of<bool, V> done{};
  for (int v = 0; v < g.node_count; ++v) done[v] = v < g.input_count || g.nodes[v].kind == op::constant;
  for (int i = 0; i < minis.operators; ++i) {
    int const v = minis.order[i];
    node const& n = g.nodes[v];
    if (done[v]) continue;
    done[v] = true;
    if (layouts.is_view[v] || (n.kind == op::reshape && views.parent[g.operand(v)] == v)) continue;
    if (n.kind == op::concat && n.axis == 3) {
      gather_operands(steps, g, v, views, layouts);
      continue;
    }
    bool const one_copy = n.kind == op::channel_shuffle && layouts.where(g.operand(v), n.out.c).is_plain(n.out.c);
    if (layouts.gathered[v] && !layouts.runs[v].too_many && !one_copy) {
      plan::gather(steps, layouts.runs[v], v, 0);
      continue;
    }
    if (is_inside_attention(g, v, uses, chain_of)) continue;  // computed where the attention ends
    step_nodes s{.source = g.operand(v), .result = g.operand(v)};
    if (attention_nodes const inner = attention_of(g, v, chain_of); inner.scores >= 0) {
      s = {.main = v, .attention = true, .source = g.operand(inner.scores), .result = v};
      s.inputs[0] = g.operand(inner.scores, 1);
      s.inputs[1] = g.operand(v, 1);
    } else if (is_elementwise(n.kind)) {
      plan::add_stage(g, s, v);
    } else if (n.kind == op::identity) {
      s.result = v;
    } else {
      s.main = s.result = v;
      for (int k = 1; k < n.input_count && n.kind != op::concat; ++k) s.inputs[k - 1] = g.operand(v, k);
    }
    if (takes_epilogue(n.kind)) take_followers(g, s, v, minis, uses, done);
    if (n.kind == op::concat) join_operands(steps, g, s);
    else if (layouts.pieces[v]) cut(steps, s, layouts.where(g.operand(v), g.source(v).out.c));
    else steps.step[steps.count++] = s;
  }
  for (int o = 0; o < g.output_count; ++o) {  // outputs that are an input, a constant, or the same value as another
    bool copy = g.nodes[g.outputs[o]].kind == op::input || g.nodes[g.outputs[o]].kind == op::constant;
    for (int p = 0; p < o; ++p) copy = copy || g.outputs[p] == g.outputs[o];
    if (copy) steps.step[steps.count++] = {.source = g.outputs[o], .result = g.outputs[o], .copy_to_output = o};
  }
  return steps;
}
/// The same with every node in a chain of its own, so that no attention is computed in one pass.
template <int S, int V, int E, int O>
constexpr step_list<S> form_steps(graph<V, E, O> const& g, ordered_clusters<V> const& minis,
                                  concat_views<V> const& views, channel_layouts<V> const& layouts) {
  array_of<int, V> chain_of{};
  for (int v = 0; v < V; ++v) chain_of[v] = v;
  return form_steps<S>(g, minis, views, layouts, chain_of);
}
template <int V, int E, int O>
constexpr step_list<V + E + O> form_steps(graph<V, E, O> const& g, ordered_clusters<V> const& minis,
                                          concat_views<V> const& views) {
  return form_steps<V + E + O>(g, minis, views, channel_layouts_of(g));
}

}  // namespace ago::plan
