// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks that are traced, planned and packed at run time, and run with the kernels of other, compiled networks.
#pragma once

#include <ago/plan/step_table.hpp>
#include <ago/tuner/menu.hpp>
#include <ago/tuner/schedule_list.hpp>

#include <tools/inspect/run_time_program.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "guarded.hpp"
#include "subject.hpp"

namespace differential {

using traced_graph = ago::ir::graph<128, 256, 8>;

/// The graph of a network with other inputs; null if its layers do not suit them.
inline std::unique_ptr<traced_graph const> trace(subject const& s, larger const& by) {
  ago::detail::recorder made;
  s.record(made, by);
  if (made.bad.what != ago::ir::fault::none) return nullptr;
  if (made.nodes.size > traced_graph::node_capacity || made.edges.size > traced_graph::edge_capacity) return nullptr;
  auto g = std::make_unique<traced_graph>();
  ago::detail::copy_to(*g, made);
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

/// The counterpart of ago::program for a network known at run time.
class planned_program {
  using plan_type = ago::tools::run_time_program<128, 256, 8>;

 public:
  /// `whole`: the traced graph, which must outlive this.
  planned_program(traced_graph const& whole, ago::options const& how, ago::tuner::schedule_list const& schedules,
                  ago::tuner::menu_view const& kernels)
      : target_(how.target), plan_(ago::passes::optimize(whole, how.algebra), how, schedules),
        table_(plan_.groups, plan_.splits, plan_.memory, plan_.plan, plan_.runs) {
    for (int k = 0; k < plan_.steps(); ++k) {
      kernels_.push_back(kernels.find(key(k)));
      complete_ = complete_ && kernels_.back();
    }
  }
  planned_program(planned_program const&) = delete;

  /// Whether every step has a compiled kernel.
  bool is_complete() const { return complete_; }
  plan_type const& plan() const { return plan_; }
  ago::plan::fused_key key(int step) const { return key_of(plan_.groups, plan_.plan, step); }
  std::vector<ago::plan::kernel_function> const& kernels() const { return kernels_; }
  std::size_t packed_floats() const { return std::size_t(plan_.plan.packed_floats); }
  std::size_t arena_floats() const { return std::size_t(plan_.memory.arena_floats); }
  bool uses_winograd() const {
    for (int i = 0; i < plan_.parts->count; ++i)
      if (ago::kernel::winograd_tile(plan_.plan.steps[i].key.what) > 0) return true;
    return false;
  }
  /// The number of steps that are divided into several work items.
  int cut_steps() const {
    int n = 0;
    for (int k = 0; k < plan_.steps(); ++k) n += table_.pieces(k) > 1;
    return n;
  }

  void pack(float const* weights, float* packed) const {
    using enum ago::isa;
    bool const done = pack_for<scalar>(weights, packed) || pack_for<sse42>(weights, packed) ||
                      pack_for<avx2>(weights, packed) || pack_for<ago::native_isa>(weights, packed);
    if (!done) throw std::logic_error("no packing for this instruction set");
  }

  /// Runs the work items of every step in order, or in reverse order.
  void run(ago::plan::run_memory const& memory, bool backwards = false) const {
    ago::plan::kernel_memory const m{memory, table_.tables()};
    for (int k = 0; k < plan_.steps(); ++k) {
      int const count = table_.pieces(k);
      for (int i = 0; i < count; ++i) kernels_[std::size_t(k)](table_.piece(k, backwards ? count - 1 - i : i), m);
    }
  }

 private:
  static constexpr int most_merged = 256;
  template <class T, int>
  using growing_list = std::vector<T>;

  template <ago::isa I>
  bool pack_for(float const* weights, float* packed) const {
    if (I != target_) return false;
    if constexpr (ago::available(I)) {
      int const count = count_merged(plan_.graph, *plan_.parts);
      if (count > most_merged) throw std::length_error("more merged operators than there is room for");
      auto merged = ago::plan::merged_packings_of<most_merged>(plan_.graph, *plan_.parts);
      merged.count = count;
      std::memset(packed, 0, packed_floats() * sizeof(float));
      ago::runtime::pack_constants(plan_.graph, plan_.memory, weights, packed);
      for (int i = 0; i < plan_.parts->count; ++i) {
        ago::plan::planned_data data = plan_.plan.steps[i].data;
        if (plan_.runs.count[i] > 0) data.runs = plan_.runs.run + plan_.runs.first[i];
        ago::runtime::pack_part<I, true>(i, plan_.plan.steps[i], data, merged, weights, packed);
      }
    }
    return true;
  }

  ago::isa target_;
  plan_type plan_;
  ago::plan::step_table<ago::plan::step_table_size{}, growing_list> table_;
  std::vector<ago::plan::kernel_function> kernels_;
  bool complete_ = true;
};

}  // namespace differential
