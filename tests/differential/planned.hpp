// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks that are traced, planned and packed at run time, and run with the kernels of other, compiled networks.
#pragma once

#include <ago/runtime/run_time_program.hpp>
#include <ago/tuner/menu.hpp>
#include <ago/tuner/schedule_list.hpp>

#include <tools/inspect/graph_plan.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "guarded.hpp"
#include "subject.hpp"

namespace differential {

using traced_graph = ago::ir::graph<128, 256, 8>;

/// The graph of a network with other inputs; null if its layers do not suit them.
inline std::unique_ptr<traced_graph const> trace(subject const& s, larger const& by) {
  ago::tracing::recorder made;
  s.record(made, by);
  if (made.bad.what != ago::ir::fault::none) return nullptr;
  if (made.nodes.size > traced_graph::node_capacity || made.edges.size > traced_graph::edge_capacity) return nullptr;
  auto g = std::make_unique<traced_graph>();
  ago::lowering::copy_to(*g, made);
  return g;
}

/// The same graph with room to spare.
inline std::unique_ptr<traced_graph const> copy_of(reference::graph_view const& from) {
  auto g = std::make_unique<traced_graph>();
  for (ago::ir::node const& n : from.nodes) {
    g->nodes[g->node_count++] = n;
    g->edge_count = std::max(g->edge_count, n.input_first + n.input_count);
  }
  for (int v = 0; v < from.size(); ++v)
    for (int k = 0; k < from.nodes[std::size_t(v)].input_count; ++k)
      g->edges[from.nodes[std::size_t(v)].input_first + k] = from.operand(v, k);
  for (int const v : from.outputs) g->outputs[g->output_count++] = v;
  g->input_count = from.input_count;
  g->parameters = from.parameters;
  return g;
}

/// A program for a network known at run time, for an instruction set known at run time.
class planned_program : public ago::runtime::run_time_program<ago::tools::graph_plan<128, 256, 8>> {
 public:
  /// `whole`: the traced graph.
  planned_program(traced_graph const& whole, ago::options const& how, ago::tuner::schedule_list const& schedules,
                  ago::tuner::menu_view const& kernels)
      : run_time_program(ago::tools::plan_of(ago::passes::optimize(whole, how.algebra), how, schedules),
                         [&](auto const& key) { return kernels.find(key); }),
        target_(how.target) {}

  bool uses_winograd() const {
    for (int i = 0; i < plan().part_count; ++i)
      if (ago::kernel::winograd_tile(plan().part(i).key.what) > 0) return true;
    return false;
  }
  /// Is there as much scratch as each kernel needs, and no more?
  bool has_scratch() const {
    for (int i = 0; i < plan().part_count; ++i) {
      ago::plan::planned_step const& p = plan().part(i);
      if (ago::kernel::scratch_floats(p.key, p.data) != plan().convolutions.step[i].scratch_floats) return false;
    }
    return true;
  }
  /// The number of steps that are divided into several work items.
  int cut_steps() const {
    int n = 0;
    for (int k = 0; k < plan().steps(); ++k) n += pieces(k) > 1;
    return n;
  }

  void pack(float const* weights, float* packed) const {
    using enum ago::isa;
    bool const done = pack_for<scalar>(weights, packed) || pack_for<sse42>(weights, packed) ||
                      pack_for<avx2>(weights, packed) || pack_for<ago::native_isa>(weights, packed);
    if (!done) throw std::logic_error("no packing for this instruction set");
  }

 private:
  template <ago::isa I>
  bool pack_for(float const* weights, float* packed) const {
    if (I != target_) return false;
    if constexpr (ago::available(I)) run_time_program::pack<I>(weights, packed);
    return true;
  }

  ago::isa target_;
};

/// Runs work items on the calling thread, the last one first.
struct last_first {
  void run(int pieces, auto const& piece) const {
    while (pieces > 0) piece(--pieces);
  }
};

}  // namespace differential
