// Intensive fusion: which steps run as one row pipeline.
#pragma once

#include <ago/plan/form_steps.hpp>
#include <ago/plan/options.hpp>
#include <ago/plan/schedule.hpp>
#include <ago/plan/signature.hpp>

namespace ago {

/// Steps grouped into row pipelines of up to max_parts parts. A group of one is an ordinary step.
template <int Capacity>
struct fusion_list {
  int first[Capacity]{}, parts[Capacity]{};
  int count = 0;
  int group_of[Capacity]{};  ///< of each step
  int ring[Capacity]{};      ///< rows that each step's result keeps; 0: the whole value is kept, a later group may read it
};

namespace detail {

/// Operators that read their input row by row: they can follow another one in a pipeline.
constexpr bool reads_rows(op kind) { return kind == op::pointwise || kind == op::depthwise; }
/// Operators that can start a pipeline.
constexpr bool starts_pipeline(node const& n) { return reads_rows(n.kind) || (n.kind == op::conv2d && n.groups == 1); }

template <int V, int E, int O>
constexpr long bytes_of_weights(graph<V, E, O> const& g, int v) {
  node const& n = g.nodes[v];
  return 4L * n.out.c * n.win.kernel_h * n.win.kernel_w * (n.kind == op::depthwise ? 1 : g.source(v).out.c / n.groups);
}

/// Does b read nothing but what a writes, and nothing else read it?
template <int V, int E, int O>
constexpr bool feeds(graph<V, E, O> const& g, value_uses<V> const& uses, partition<V> const& subgraphs, step_nodes const& a,
                     step_nodes const& b) {
  return a.main >= 0 && b.main >= 0 && b.source == a.result && uses.readers[a.result] == 1 &&
         starts_pipeline(g.nodes[a.main]) && reads_rows(g.nodes[b.main].kind) && subgraphs.of[a.main] == subgraphs.of[b.main];
}

/// Is a pipeline of steps a, ..., b likely to be faster than the steps? It saves the intermediate values' way to the next
/// cache and back, which matters when they exceed this one; it reads the matrices once for every few rows, which must
/// therefore stay in the cache, and rows must be long enough for whole register tiles.
template <int V, int E, int O>
constexpr bool pays(graph<V, E, O> const& g, step_nodes const& a, step_nodes const& b, device const& on) {
  shape const& between = g.nodes[a.result].out;
  long const weights = bytes_of_weights(g, a.main) + bytes_of_weights(g, b.main);
  return g.nodes[b.result].out.w >= 7 && weights <= on.l2_bytes / 2 &&
         4 * (between.count() + g.nodes[b.result].out.count()) > on.l2_bytes / 2;
}

}  // namespace detail




/// Groups consecutive steps of one subgraph into row pipelines, where `table` says so or else where it pays.
template <int V, int E, int O>
constexpr fusion_list<V + E + O> fuse_steps(graph<V, E, O> const& g, step_list<V + E + O> const& steps,
                                            partition<V> const& subgraphs, options const& o, auto const& table) {
  fusion_list<V + E + O> r;
  value_uses<V> const uses = uses_of(g);
  for (int i = 0; i < steps.count; ++i) {
    bool joins = i > 0 && o.policy != policy::ago_ni && r.parts[r.count - 1] < max_parts &&
                 detail::feeds(g, uses, subgraphs, steps.step[i - 1], steps.step[i]);
    if (joins) {
      schedule const* const wish = table.find(signature_of(g, steps.step[i], o.target));
      joins = wish && wish->join ? wish->join > 0 : detail::pays(g, steps.step[i - 1], steps.step[i], o.device);
    }
    if (joins) {
      ++r.parts[r.count - 1];
    } else {
      r.first[r.count] = i;
      r.parts[r.count++] = 1;
    }
    r.group_of[i] = r.count - 1;
  }
  for (int k = 0; k < r.count; ++k) {
    int rows = pipeline_rows;
    for (int i = r.first[k] + r.parts[k] - 1; i > r.first[k]; --i) {
      window const& w = g.nodes[steps.step[i].main].win;
      rows = (rows - 1) * w.stride_h + w.span_h();
      int const height = g.nodes[steps.step[i - 1].result].out.h;
      r.ring[i - 1] = rows < height ? rows : height;
    }
  }
  return r;
}

}  // namespace ago
