// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps in turns: two products that read the same value, for which L3 has no room, are computed together, a part of
// each after the other, so that it comes from memory once. Apollo's parallelism stitching of independent groups, on one
// core. So are the two gradients of a convolution, of its input and of its weights.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/kernel/units.hpp>
#include <ago/plan/fusion.hpp>
#include <ago/plan/in_place.hpp>
#include <ago/plan/step_split.hpp>

namespace ago::plan {

/// Finds those of one core's steps.
template <int S, int V, int E, int O>
class turn_finder {
 public:
  constexpr turn_finder(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                        concat_views<V> const& views, channel_layouts<V> const& layouts, options const& o)
      : g_(g), steps_(steps), groups_(groups), views_(views), layouts_(layouts), o_(o) {}

  /// Does it pay to compute group k + 1 in turns with group k? The first one must be a product whose pixels are folded
  /// as they come, the second one a sum of products of values, which reads nothing that the first one writes. And what
  /// both read must take at least half as long to come from memory as the second one multiplies, which is so if it
  /// multiplies few times with each element: otherwise, prefetching hides it.
  constexpr bool pays(int k) const {
    if (groups_.tiles[k].how != tiling::fold || groups_.parts[k] != 2 || !is_product(last_of(k) - 1) ||
        groups_.tiles[k + 1].how == tiling::fold || !is_product(last_of(k + 1)))
      return false;
    bool exceeds = false, is_free = true;
    std::int64_t shared = 0;
    for_each_read_of(k + 1, [&](int u) {
      std::int64_t const size = 4 * g_.nodes[u].out.count();
      bool shares = false;
      for_each_read_of(k, [&](int v) { shares = shares || u == v; });
      for (int i = groups_.first[k]; i <= last_of(k); ++i)
        is_free = is_free && u != root_of(views_, steps_.step[i].result);
      if (!shares) return;
      shared += size;
      exceeds = exceeds || partition::exceeds_l3(size, o_.device);
    });
    std::int64_t const reading = shared / 64 * o_.device.line_from_memory / 4,
                       multiply_adds = expression::multiply_adds(*main_of(last_of(k + 1)).described),
                       multiplying = multiply_adds / o_.device.multiply_adds;
    return exceeds && is_free && reading >= multiplying / 2;
  }
  /// Can their kernels do so? The first one's pixels must come in order, and the second one's sum go on where it was.
  constexpr bool can(int k) const {
    node const& fold = main_of(last_of(k));
    return kernel::has_pixels_in_order(layout_of(groups_.first[k], k), *main_of(groups_.first[k]).described) &&
           kernel::adds_pixels(kernel::layout_of_nest(*fold.described, o_.target, true), *fold.described) &&
           layout_of(last_of(k + 1), k + 1).is_resumable();
  }

 private:
  constexpr int last_of(int k) const { return groups_.first[k] + groups_.parts[k] - 1; }
  constexpr node const& main_of(int i) const { return g_.nodes[steps_.step[i].main]; }
  /// That of step i of group k.
  constexpr kernel::contraction_layout layout_of(int i, int k) const {
    kernel_key key{.what = structure::contraction, .target = o_.target, .described = main_of(i).described};
    key.weight_operand = std::int8_t(main_of(i).weight_operand);
    key.made_operand = made_operand(g_, steps_.step[i], groups_.tiles[k], i == groups_.first[k], o_);
    key.factors = o_.factors;
    key.in_order = has_in_order_loops(key.what, key.target, o_.device);
    return kernel::layout_of_contraction(key);
  }
  constexpr bool is_product(int i) const { return steps_.step[i].main >= 0 && main_of(i).kind == op::contraction; }
  constexpr void for_each_read_of(int k, auto const& visit) const {
    for (int i = groups_.first[k]; i <= last_of(k); ++i)
      for_each_read(steps_.step[i], [&](int v, int) { for_each_owner(v, views_, layouts_, visit); });
  }

  graph<V, E, O> const& g_;
  step_list<S> const& steps_;
  fusion_list<S> const& groups_;
  concat_views<V> const& views_;
  channel_layouts<V> const& layouts_;
  options const& o_;
};

/// How the steps of one core are divided: not. Those that are computed in turns with the step before do not wait for
/// it, so that memory is placed for both.
template <int S, int V, int E, int O>
constexpr split_list<S> find_turns(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                   concat_views<V> const& views, channel_layouts<V> const& layouts, options const& o) {
  split_list<S> r;
  turn_finder const found(g, steps, groups, views, layouts, o);
  for (int k = 0; k + 1 < groups.count; ++k)
    if (r.waits_for[k] == waits::all && found.pays(k) && found.can(k)) r.waits_for[k + 1] = waits::nothing;
  return r;
}

}  // namespace ago::plan
