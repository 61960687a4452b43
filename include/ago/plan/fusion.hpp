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
  int ring[Capacity]{};  ///< rows that each step's result keeps; 0: the whole value is kept, a later group may read it
};

static_assert(max_chain <= max_parts);

namespace detail {

/// Does b read nothing but what a writes, and nothing else read it?
template <int V, int E, int O>
constexpr bool feeds(graph<V, E, O> const& g, value_uses<V> const& uses, step_nodes const& a, step_nodes const& b) {
  return a.main >= 0 && b.main >= 0 && b.source == a.result && uses.readers[a.result] == 1 &&
         leads_by_rows(g.nodes[a.main]) && follows_by_rows(g.nodes[b.main]);
}

}  // namespace detail

/// Groups consecutive steps into row pipelines: where `table` says so, within a subgraph, or else the partition's
/// chains.
template <int V, int E, int O>
constexpr fusion_list<V + E + O> fuse_steps(graph<V, E, O> const& g, step_list<V + E + O> const& steps,
                                            partitions<V> const& parts, options const& o, auto const& table) {
  fusion_list<V + E + O> r;
  value_uses<V> const uses = uses_of(g);
  for (int i = 0; i < steps.count; ++i) {
    step_nodes const &b = steps.step[i], &a = steps.step[i > 0 ? i - 1 : 0];
    bool joins = i > 0 && o.policy != policy::ago_ni && r.parts[r.count - 1] < max_parts &&
                 detail::feeds(g, uses, a, b) && parts.subgraphs.of[a.main] == parts.subgraphs.of[b.main];
    if (joins) {
      schedule const* const wish = table.find(signature_of(g, b, o.target));
      joins = wish && wish->join ? wish->join > 0 : parts.chain_of[a.main] == parts.chain_of[b.main];
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
