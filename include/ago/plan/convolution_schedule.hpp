// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How each convolution is computed: directly, by im2col or by Winograd; and which matrix products gather their input.
#pragma once

#include <ago/kernel/attention/layout.hpp>
#include <ago/kernel/contraction/layout.hpp>
#include <ago/kernel/matrix/gather_schedule.hpp>
#include <ago/kernel/winograd/schedule.hpp>
#include <ago/plan/fusion.hpp>

namespace ago::plan {

/// Is the convolution small enough for im2col, so that the copied windows stay in L2?
constexpr bool suits_im2col(step_data const& s, device const& machine) {
  return s.groups == 1 && 4L * s.out.pixels() * matrix_depth(s) <= machine.l2_bytes / 4;
}

/// Quarter cycles of the direct convolution: its taps inside the image at the rate of a line, and waiting for the
/// weights.
constexpr long direct_cost(kernel_key const& key, step_data const& s, device const& machine) {
  auto const taps = [](int in, int out, int pad, int kernel, int stride, int dilation) {
    long n = 0;
    for (int k = 0; k < kernel; ++k) {
      int const before = pad - k * dilation, first = before > 0 ? (before + stride - 1) / stride : 0;
      int const room = in - 1 + before, last = room < 0 ? 0 : room / stride + 1;
      n += (last < out ? last : out) - first > 0 ? (last < out ? last : out) - first : 0;
    }
    return n;
  };
  int const vectors = padded(s.out.c, key.target) / lanes(key.target);
  long const line = pixels_in_line(structure::convolution, s);
  window const& w = s.win;
  long const steps = s.out.n * taps(s.in.h, s.out.h, w.pad_top, w.kernel_h, w.stride_h, w.dilation_h) *
                     taps(s.in.w, s.out.w, w.pad_left, w.kernel_w, w.stride_w, w.dilation_w) * s.in.c;
  register_tile const tile = matrix_tile(machine_of(key, machine), {line, s.out.c});
  return matrix_cost(machine_of(key, machine), tile, line, vectors, any_depth, false) * steps / (200 * line) +
         arrival_cost(machine_of(key, machine), long(w.kernel_h) * w.kernel_w * s.in.c * padded(s.out.c, key.target),
                      machine);
}

/// Sets `key` and `s` to im2col, and returns its quarter cycles: copying a tap takes twelve cycles, and two for each
/// register.
constexpr long become_im2col(kernel_key& key, step_data& s, schedule const& wish, device const& machine) {
  int const depth = matrix_depth(s), vectors = padded(s.out.c, key.target) / lanes(key.target);
  int const pixels = int(s.out.pixels());
  long const weights = long(depth) * padded(s.out.c, key.target);
  key.what = structure::im2col;
  key.tile = matrix_tile(machine_of(key, machine), {.pixels = pixels, .channels = s.out.c, .cold = weights >= 1L << 14},
                         wish.winograd == 1 ? wish : schedule{});
  s.block = 0;
  tile_machine const on = machine_of(key, machine);
  return overlapped(on, product_cost(on, key.tile, pixels, vectors, depth), arrival_cost(on, weights, machine)) +
         4L * pixels * (depth / s.in.c) * (12 + 2L * padded(s.in.c, key.target) / lanes(key.target)) + 2000;
}

/// May products of F(4x4, 3x3) be computed point after point? On cores that issue in order, for one thread, unless a
/// schedule says what the register tile is.
constexpr bool may_take_points_first(isa target, schedule const& wish, device const& on) {
  return has_in_order_loops(target, on) && on.threads == 1 && wish.pixels == 0;
}

/// Quarter cycles of transforming weights for Winograd's algorithm, F(tile x tile, 3x3), which a trainer does in every
/// step. (Measured on Zen 4: 300 to 530 cycles for a filter of F(4x4, 3x3), 100 to 190 for one of F(2x2, 3x3).)
constexpr long weights_cost(step_data const& s, int tile, storage where) {
  if (where != storage::trained || tile == 0) return 0;
  return 4L * s.in.c * s.out.c * (tile == 4 ? 400 : 150);
}

/// The choice of choose_convolution(), with threads as they are.
constexpr void choose_algorithm(kernel_key& key, step_data& s, schedule const& wish, options const& o) {
  kernel_key const direct_key = key;
  step_data const direct = s;
  long least = wish.winograd > 0 ? 0 : direct_cost(key, s, o.device);
  constexpr struct {
    structure what;
    bool points_first;
  } candidates[] = {{structure::im2col, false},
                    {structure::winograd_2, false},
                    {structure::winograd_4, false},
                    {structure::winograd_4, true}};
  for (auto const& [what, points_first] : candidates) {
    int const tile = winograd_tile(what), number = tile > 0 ? tile : 1;
    bool const possible =
        tile > 0 ? o.winograd == winograd::on && suits_winograd(direct) : suits_im2col(direct, o.device);
    if (!possible || (wish.winograd > 0 && wish.winograd != number)) continue;
    if (points_first && !may_take_points_first(key.target, wish, o.device)) continue;
    kernel_key candidate_key = direct_key;
    candidate_key.points_first = points_first;
    step_data candidate = direct;
    long const cost = (tile > 0 ? become_winograd(candidate_key, candidate, what, wish, o.device)
                                : become_im2col(candidate_key, candidate, wish, o.device)) +
                      weights_cost(direct, tile, o.storage);
    if (points_first && 4 * layout_of_winograd(candidate_key, candidate).scratch_floats() > 8 * o.device.l2_bytes)
      continue;  // 55x55, 16 channels to 64: another 200 KB of arena for a gain of 1 % (Cortex-A55)
    if (cost >= least && (wish.winograd == 0 || points_first)) continue;
    key = candidate_key;
    s = candidate;
    least = cost;
  }
  if (winograd_tile(key.what) > 0 && wish.winograd > 0 && wish.block > 0) s.block = wish.block;
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

/// Floats of a convolution's scratch.
constexpr long scratch_floats(kernel_key const& key, step_data const& s) {
  if (key.what == structure::im2col) return s.out.pixels() * matrix_depth(s);
  return winograd_tile(key.what) > 0 ? layout_of_winograd(key, s).scratch_floats() : 0;
}

constexpr bool equal_convolutions(graph_view g, step_nodes const& a, step_nodes const& b) {
  node const &x = g.nodes[a.main], &y = g.nodes[b.main];
  return g.nodes[a.source].out == g.nodes[b.source].out && x.out == y.out && x.win == y.win && x.groups == y.groups;
}

constexpr bool equal_contractions(graph_view g, step_nodes const& a, step_nodes const& b) {
  node const &x = g.nodes[a.main], &y = g.nodes[b.main];
  return x.described == y.described && x.weight_operand == y.weight_operand;
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

/// The scratch of a product of two values.
constexpr convolution_step product_step(graph_view g, step_nodes const& s, isa target) {
  node const& n = g.nodes[s.main];
  planned_data data{};
  data.in = g.nodes[s.source].out;
  data.out = n.out;
  data.other_shape = g.nodes[s.inputs[0]].out;
  data.win = n.win;
  data.groups = n.groups;
  structure const what = structure_of(g, s);
  return {what, {}, 0, attention_scratch_floats(what, data, target)};
}

/// The scratch of a contraction.
constexpr convolution_step contraction_step(node const& n, schedule const& wish, options const& o) {
  kernel_key key{.what = structure::contraction, .target = o.target};
  key.in_order = kernel::has_in_order_loops(o.target, o.device);
  choose_contraction(key, wish);
  key.described = n.described;
  key.weight_operand = std::int8_t(n.weight_operand);
  key.factors = o.factors;
  return {key.what, key.tile, 0, layout_of_contraction(key).scratch_floats()};
}

/// The choice for a convolution; none if it is computed directly.
constexpr convolution_step convolution_step_of(shape const& in, shape const& out, window const& win, int groups,
                                               schedule const& wish, options const& o) {
  kernel_key key{};
  key.what = structure::convolution;
  key.target = o.target;
  key.in_order = kernel::has_in_order_loops(o.target, o.device);
  step_data data{};
  data.in = in;
  data.out = out;
  data.win = win;
  data.groups = groups;
  choose_convolution(key, data, wish, o);
  if (key.what == structure::convolution) return {};
  return {key.what, key.tile, data.block, scratch_floats(key, data), 0, key.points_first};
}

/// The choice for a matrix product, whose input has so many segments, unless a schedule says how it is tiled.
constexpr convolution_step gathering_step(shape const& in, int channels, int segments, schedule const& wish,
                                          options const& o) {
  if (wish.pixels != 0 || wish.block != 0 || wish.winograd != 0 || o.device.threads > 1) return {};
  gathering const g = pays_to_gather(o.target, in, channels, segments, o.device);
  if (g.block == 0) return {};
  return {structure::pointwise, g.tile, g.block, long(g.block) * g.portion, g.portion, false, g.transposed};
}

/// The choices for convolutions that are not computed directly and for products that gather, among those that are alone
/// in their group, for products of two values, and for contractions.
template <int S, int V, int E, int O>
constexpr convolution_list<S> convolution_steps(graph<V, E, O> const& g, step_list<S> const& steps,
                                                fusion_list<S> const& groups, channel_layouts<V> const& layouts,
                                                options const& o, auto const& table) {
  convolution_list<S> r;
  // So that the choice is made once for equal layers:
  array_of<int, S> untuned_steps{}, contractions{};
  int count = 0, contraction_count = 0;
  for (int i = 0; i < steps.count; ++i) {
    step_nodes const& s = steps.step[i];
    if (s.main >= 0 && g.nodes[s.main].kind == op::contraction) {
      auto const found = table.find(signature_of(g, s, o));
      int twin = 0;
      while (twin < contraction_count && !equal_contractions(g, steps.step[contractions[twin]], s)) ++twin;
      if (!found && twin < contraction_count) {
        r.step[i] = r.step[contractions[twin]];
      } else {
        if (!found) contractions[contraction_count++] = i;
        r.step[i] = contraction_step(g.nodes[s.main], found ? *found : schedule{}, o);
      }
    }
    if (s.main >= 0 && is_value_product(g.nodes[s.main].kind)) r.step[i] = product_step(g, s, o.target);
    if (s.main < 0 || groups.parts[groups.group_of[i]] > 1) continue;
    node const& n = g.nodes[s.main];
    bool const multiplies = kernel::structure_of(n.kind) == structure::pointwise;
    if (!multiplies && n.kind != op::conv2d) continue;
    auto const found = table.find(signature_of(g, s, o));
    schedule const wish = found ? *found : schedule{};
    shape const &in = g.nodes[s.source].out, &out = g.nodes[s.result].out;
    if (multiplies) {
      r.step[i] = gathering_step(in, out.c, layouts.where(s.source, in.c).count, wish, o);
      continue;
    }
    int twin = 0;
    while (twin < count && !equal_convolutions(g, steps.step[untuned_steps[twin]], s)) ++twin;
    if (!found && twin < count) {
      r.step[i] = r.step[untuned_steps[twin]];
      continue;
    }
    if (!found) untuned_steps[count++] = i;
    r.step[i] = convolution_step_of(in, out, n.win, n.groups, wish, o);
  }
  return r;
}

}  // namespace ago::plan
