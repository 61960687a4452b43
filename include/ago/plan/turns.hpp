// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps in turns: two products that read the same value, for which L3 has no room, are computed together, a part of
// each after the other, so that it comes from memory once. Apollo's parallelism stitching of independent groups, on one
// core. So are the two gradients of a convolution, of its input and of its weights.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/kernel/contraction/window_gradients_schedule.hpp>
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
    if (!are_products(k)) return false;
    bool exceeds = false;
    std::int64_t shared = 0;
    for_each_read_of(k + 1, [&](int u) {
      std::int64_t const size = 4 * g_.nodes[u].out.count();
      bool shares = false;
      for_each_read_of(k, [&](int v) { shares = shares || u == v; });
      if (!shares) return;
      shared += size;
      exceeds = exceeds || partition::exceeds_l3(size, o_.device);
    });
    std::int64_t const reading = shared / 64 * o_.device.line_from_memory / 4,
                       multiply_adds = expression::multiply_adds(*main_of(last_of(k + 1)).described),
                       multiplying = multiply_adds / o_.device.multiply_adds;
    return exceeds && is_free(k) && reading >= multiplying / 2;
  }
  /// Are they the gradients of a convolution with a window for each channel, which one pass computes? The second one
  /// must read nothing that the first one writes.
  constexpr bool take_one_pass(int k) const {
    int const i = groups_.first[k];
    if (!are_products(k) || !kernel::has_windows_of_channels(*main_of(i).described) || !is_free(k)) return false;
    kernel_key const image = key_of(i, k), fold = key_of(i + 1, k), sums = key_of(last_of(k + 1), k + 1);
    return kernel::gradients_in_one_pass(image, kernel::layout_of_contraction(image), fold,
                                         kernel::layout_of_nest(*fold.described, o_.target, true), sums,
                                         kernel::layout_of_contraction(sums))
        .are_there();
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
  /// Is group k a product whose pixels are folded as they come, and the next one a product?
  constexpr bool are_products(int k) const {
    return groups_.tiles[k].how == tiling::fold && groups_.parts[k] == 2 && is_product(last_of(k) - 1) &&
           groups_.tiles[k + 1].how != tiling::fold && is_product(last_of(k + 1));
  }
  /// Does group k + 1 read nothing that group k writes?
  constexpr bool is_free(int k) const {
    bool r = true;
    for_each_read_of(k + 1, [&](int u) {
      for (int i = groups_.first[k]; i <= last_of(k); ++i) r = r && u != root_of(views_, steps_.step[i].result);
    });
    return r;
  }
  /// What the key of step i of group k will say of an expression.
  constexpr kernel_key key_of(int i, int k) const {
    bool const is_first = i == groups_.first[k];
    kernel_key key{.target = o_.target, .described = main_of(i).described};
    key.what = main_of(i).kind == op::nest ? structure::nest : structure::contraction;
    key.weight_operand = std::int8_t(main_of(i).weight_operand);
    key.made_operand = made_operand(g_, steps_.step[i], groups_.tiles[k], is_first, o_);
    key.folded_operand = folded_operand(g_, steps_.step[i], groups_.tiles[k], is_first);
    key.factors = o_.factors;
    key.in_order = has_in_order_loops(key.what, key.target, o_.device);
    return key;
  }
  constexpr kernel::contraction_layout layout_of(int i, int k) const {
    return kernel::layout_of_contraction(key_of(i, k));
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
    if (r.waits_for[k] == waits::all && (found.take_one_pass(k) || (found.pays(k) && found.can(k))))
      r.waits_for[k + 1] = waits::nothing;
  return r;
}

}  // namespace ago::plan
