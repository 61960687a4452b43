// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How each convolution is computed: directly, by im2col or by Winograd; and which matrix products gather their input.
#pragma once

#include <ago/kernel/matrix/gather_schedule.hpp>
#include <ago/kernel/units.hpp>
#include <ago/plan/fusion.hpp>

namespace ago::plan {

/// The choice of choose_convolution(), with threads as they are.
constexpr void choose_algorithm(kernel_key& key, step_data& s, schedule const& wish, options const& o) {
  auto const become = [&](structure what, kernel_key& to_key, step_data& to) {
    return facts_of(what).become(what, to_key, to, wish, o.device, o.storage == storage::trained);
  };
  kernel_key const direct_key = key;
  step_data const direct = s;
  long least = wish.winograd > 0 ? -1 : become(key.what, key, s);
  for (int i = 0; i < structure_count; ++i) {
    structure const what{std::uint8_t(i)};
    int const algorithm = kernel::algorithm_of(what);
    if (algorithm <= 0 || (wish.winograd > 0 && wish.winograd != algorithm)) continue;
    if (winograd_tile(what) > 0 && o.winograd == winograd::off) continue;
    kernel_key candidate_key = direct_key;
    step_data candidate = direct;
    long const cost = become(what, candidate_key, candidate);
    if (cost < 0 || (least >= 0 && cost >= least)) continue;
    key = candidate_key;
    s = candidate;
    least = cost;
  }
}

/// Chooses between the direct convolution that `key` and `s` describe, whose schedule is chosen elsewhere, and the
/// alternatives. `wish.winograd` decides if it is not 0 and its choice is possible.
constexpr void choose_convolution(kernel_key& key, step_data& s, schedule const& wish, options const& o) {
  if (wish.winograd < 0 || s.groups > 1) return;
  if (o.device.threads == 1 || wish.winograd != 0) return choose_algorithm(key, s, wish, o);
  // Winograd's sums are others, so it is chosen as for one thread: results have the same bits for any number.
  kernel_key alone_key = key;
  step_data alone = s;
  options one_thread = o, others = o;
  one_thread.device.threads = one_thread.threads.count = 1;
  choose_algorithm(alone_key, alone, wish, one_thread);
  schedule as_alone = wish;
  as_alone.winograd = winograd_tile(alone_key.what);
  if (as_alone.winograd == 0) others.winograd = winograd::off;
  choose_algorithm(key, s, as_alone, others);
}

/// Is the same chosen for both, unless a schedule differs?
constexpr bool equal_operators(graph_view g, step_nodes const& a, step_nodes const& b) {
  node const &x = g.nodes[a.main], &y = g.nodes[b.main];
  return x.kind == y.kind && g.nodes[a.source].out == g.nodes[b.source].out && x.out == y.out && x.win == y.win &&
         x.groups == y.groups && x.patch == y.patch && x.described == y.described &&
         x.weight_operand == y.weight_operand;
}

/// The choice for one step.
struct convolution_step {
  structure what{};
  register_tile tile{};
  int block{};
  long scratch_floats{};
  int portion{};  ///< of a matrix product that gathers its input
  bool points_first{};
  bool transposed{};  ///< that gathers

  constexpr bool chosen() const { return scratch_floats > 0; }
  constexpr void apply(kernel_key& key, step_data& s) const {
    key.what = what;
    key.tile = tile;
    s.block = block;
    key.points_first = points_first;
    if (portion == 0) return;
    key.gathers = true;
    key.transposed = transposed;
    key.accumulates = portion < s.in.c;
    s.portion.last = portion;
  }
};

/// The choices for all steps.
template <int Capacity>
struct convolution_list {
  array_of<convolution_step, Capacity> step{};
};

/// What was chosen, by what it made of a step.
constexpr convolution_step choice_of(kernel_key const& key, planned_data const& s) {
  return {key.what, key.tile, s.block, kernel::scratch_floats(key, s), 0, key.points_first};
}

/// The scratch of a product of two values.
constexpr convolution_step product_step(graph_view g, step_nodes const& s, isa target) {
  node const& n = g.nodes[s.main];
  planned_data data{};
  data.in = g.nodes[s.source].out;
  data.out = n.out;
  data.other_shape = g.nodes[s.inputs[0]].out;
  data.patch = n.patch;
  data.groups = n.groups;
  kernel_key const key{.what = structure_of(g, s), .target = target};
  return choice_of(key, data);
}

/// The scratch of a contraction, or of a nest.
constexpr convolution_step expression_step(node const& n, int made, schedule const& wish, options const& o) {
  kernel_key key{.what = kernel::structure_of(n.kind), .target = o.target};
  planned_data data{};
  key.in_order = kernel::has_in_order_loops(o.target, o.device);
  key.described = n.described;
  key.weight_operand = std::int8_t(n.weight_operand);
  key.made_operand = std::int8_t(made);
  key.factors = o.factors;
  facts_of(key.what).choose(key, data, wish, {}, o.device);
  return choice_of(key, data);
}

/// The choice for a convolution; none if it is computed directly.
constexpr convolution_step convolution_step_of(shape const& in, node const& n, schedule const& wish, options const& o) {
  kernel_key key{.what = kernel::structure_of(n.kind), .target = o.target};
  key.in_order = kernel::has_in_order_loops(o.target, o.device);
  planned_data data{};
  data.in = in;
  data.out = n.out;
  data.win = n.win;
  data.groups = n.groups;
  choose_convolution(key, data, wish, o);
  return kernel::algorithm_of(key.what) < 0 ? convolution_step{} : choice_of(key, data);
}

/// The choice for a matrix product, whose input has so many segments, unless a schedule says how it is tiled.
constexpr convolution_step gathering_step(shape const& in, node const& n, int segments, schedule const& wish,
                                          options const& o) {
  if (wish.pixels != 0 || wish.block != 0 || wish.winograd != 0 || o.device.threads > 1) return {};
  gathering const g = pays_to_gather(o.target, in, n.out.c, segments, o.device);
  if (g.block == 0) return {};
  return {kernel::structure_of(n.kind), g.tile, g.block, long(g.block) * g.portion, g.portion, false, g.transposed};
}

/// The choice for a step that is alone in its group, if one is made before memory is planned. `made`: see
/// made_operand.
template <int V>
constexpr convolution_step early_choice(graph_view g, step_nodes const& s, channel_layouts<V> const& layouts,
                                        schedule const& wish, options const& o, int made = -1) {
  node const& n = g.nodes[s.main];
  shape const& in = g.nodes[s.source].out;
  if (is_value_product(n.kind)) return product_step(g, s, o.target);
  if (n.kind == op::contraction || n.kind == op::nest) return expression_step(n, made, wish, o);
  if (is_matrix_product(n.kind)) return gathering_step(in, n, layouts.where(s.source, in.c).count, wish, o);
  return n.kind == op::conv2d ? convolution_step_of(in, n, wish, o) : convolution_step{};
}

/// The choices for convolutions that are not computed directly and for products that gather, among those that are alone
/// in their group, for products of two values, for nests, and for contractions, which may be the second in their group.
template <int S, int V, int E, int O>
constexpr convolution_list<S> convolution_steps(graph<V, E, O> const& g, step_list<S> const& steps,
                                                fusion_list<S> const& groups, channel_layouts<V> const& layouts,
                                                options const& o, auto const& table) {
  convolution_list<S> r;
  array_of<int, S> untuned{};  // so that the choice is made once for equal layers
  int count = 0;
  for (int i = 0; i < steps.count; ++i) {
    step_nodes const& s = steps.step[i];
    int const group = groups.group_of[i];
    if (s.main < 0) continue;
    op const kind = g.nodes[s.main].kind;
    int const made = made_operand(g, s, groups.tiles[group], i == groups.first[group], o);
    if (kind == op::nest) r.step[i] = early_choice(g, s, layouts, {}, o, made);
    if (groups.parts[group] > 1 && kind != op::contraction) continue;
    bool const repeats = kind == op::conv2d || kind == op::contraction;
    if (!repeats && !is_matrix_product(kind) && !is_value_product(kind)) continue;
    auto const found = schedule_in(table, g, s, o);
    if (repeats && !found) {
      int twin = 0;
      auto const is_twin = [&](int k) {
        int const of = groups.group_of[k];
        return equal_operators(g, steps.step[k], s) &&
               made_operand(g, steps.step[k], groups.tiles[of], k == groups.first[of], o) == made;
      };
      while (twin < count && !is_twin(untuned[twin])) ++twin;
      if (twin < count) {
        r.step[i] = r.step[untuned[twin]];
        continue;
      }
      untuned[count++] = i;
    }
    r.step[i] = early_choice(g, s, layouts, found ? *found : schedule{}, o, made);
  }
  return r;
}

}  // namespace ago::plan
