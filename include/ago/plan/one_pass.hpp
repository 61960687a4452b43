// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two steps in one pass: the gradients of a convolution with a window for each channel, of its input, which is folded
// as it comes, and of its weights. Apollo's parallelism stitching of independent groups, on one core.
#pragma once

#include <ago/kernel/contraction/window_gradients_schedule.hpp>
#include <ago/kernel/units.hpp>
#include <ago/plan/convolution_schedule.hpp>
#include <ago/plan/fusion.hpp>
#include <ago/plan/in_place.hpp>
#include <ago/plan/step_split.hpp>

namespace ago::plan {

/// Finds those of one core's steps.
template <int S, int V, int E, int O>
class one_pass_finder {
 public:
  constexpr one_pass_finder(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                            concat_views<V> const& views, channel_layouts<V> const& layouts, options const& o)
      : g_(g), steps_(steps), groups_(groups), views_(views), layouts_(layouts), o_(o) {}

  /// What one pass computes of groups k and k + 1, if it does. Both must read the same gradient of a result, and the
  /// second one nothing that the first one writes.
  constexpr kernel::window_gradients of(int k) const {
    int const i = groups_.first[k], sums = last_of(k + 1);
    if (groups_.tiles[k].how != tiling::fold || groups_.parts[k] != 2 || !is_product(i) || groups_.parts[k + 1] > 2 ||
        groups_.tiles[k + 1].how == tiling::fold || !is_product(sums) || has_parameters(k + 1) || !is_free(k))
      return {};
    kernel::one_pass_key const key{key_of(i, k), key_of(i + 1, k), key_of(sums, k + 1)};
    if ((key.sums.made_operand >= 0) != (groups_.parts[k + 1] == 2)) return {};
    kernel::window_gradients const both = kernel::gradients_in_one_pass(key);
    bool const share = both.are_there() && operand_of(steps_.step[i], both.result_operand) ==
                                               operand_of(steps_.step[sums], both.other_result_operand);
    return share ? both : kernel::window_gradients{};
  }

 private:
  constexpr int last_of(int k) const { return groups_.first[k] + groups_.parts[k] - 1; }
  constexpr node const& main_of(int i) const { return g_.nodes[steps_.step[i].main]; }
  /// Nothing but a product?
  constexpr bool is_product(int i) const {
    step_nodes const& s = steps_.step[i];
    return s.main >= 0 && main_of(i).kind == op::contraction && s.stage_count == 0 && s.bias < 0;
  }
  /// Which would have to be packed before group k - 1 runs.
  constexpr bool has_parameters(int k) const {
    bool r = false;
    for (int i = groups_.first[k]; i <= last_of(k); ++i)
      for (int j = 0; j < steps_.step[i].stage_count; ++j)
        r = r || is_parametric(g_.nodes[steps_.step[i].stages[j]].kind);
    return r;
  }
  /// The value of operand k of an expression without weights.
  static constexpr int operand_of(step_nodes const& s, int k) { return k == 0 ? s.source : s.inputs[k - 1]; }
  /// Does group k + 1 read nothing that group k writes?
  constexpr bool is_free(int k) const {
    bool r = true;
    for (int i = groups_.first[k + 1]; i <= last_of(k + 1); ++i)
      for_each_read(steps_.step[i], [&](int v, int) {
        for_each_owner(v, views_, layouts_, [&](int u) {
          for (int j = groups_.first[k]; j <= last_of(k); ++j) r = r && u != root_of(views_, steps_.step[j].result);
        });
      });
    return r;
  }
  /// What the key of step i of group k will say of an expression.
  constexpr kernel_key key_of(int i, int k) const {
    bool const is_first = i == groups_.first[k];
    kernel_key key{.target = o_.target, .described = main_of(i).described};
    key.what = kernel::structure_of(main_of(i).kind);
    key.weight_operand = std::int8_t(main_of(i).weight_operand);
    key.made_operand = made_operand(g_, steps_.step[i], groups_.tiles[k], is_first, o_);
    key.folded_operand = folded_operand(g_, steps_.step[i], groups_.tiles[k], is_first);
    key.factors = o_.factors;
    key.in_order = has_in_order_loops(key.what, key.target, o_.device);
    return key;
  }

  graph<V, E, O> const& g_;
  step_list<S> const& steps_;
  fusion_list<S> const& groups_;
  concat_views<V> const& views_;
  channel_layouts<V> const& layouts_;
  options const& o_;
};

/// How the steps of one core are divided: not. Those that one pass computes with the step before do not wait for it, so
/// that memory is placed for both. And the scratch of these, which is that of the pass. For several threads, nothing is
/// found.
template <int S>
struct one_pass_list {
  split_list<S> splits{};
  convolution_list<S> convolutions{};
};
template <int S, int V, int E, int O>
constexpr one_pass_list<S> find_one_pass(graph<V, E, O> const& g, step_list<S> const& steps,
                                         fusion_list<S> const& groups, concat_views<V> const& views,
                                         channel_layouts<V> const& layouts, convolution_list<S> const& convolutions,
                                         options const& o) {
  one_pass_list<S> r{{}, convolutions};
  if (o.device.threads > 1) return r;
  one_pass_finder const found(g, steps, groups, views, layouts, o);
  for (int k = 0; k + 1 < groups.count; ++k) {
    if (r.splits.waits_for[k] != waits::all) continue;
    kernel::window_gradients const both = found.of(k);
    if (!both.are_there()) continue;
    r.splits.waits_for[k + 1] = waits::nothing;
    int const first = groups.first[k];
    for (int i = first; i < groups.first[k + 1] + groups.parts[k + 1]; ++i)
      r.convolutions.step[i].scratch_floats = i == first ? both.scratch_floats(o.target) : 0;
  }
  return r;
}

}  // namespace ago::plan
