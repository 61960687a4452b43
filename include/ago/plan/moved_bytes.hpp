// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes that a plan moves into each cache from beyond it, by an analytic model of reuse.
#pragma once

#include <ago/plan/input_runs.hpp>
#include <ago/plan/memory.hpp>
#include <ago/plan/step_reuse.hpp>

namespace ago::plan {

/// Bytes of cache lines that a step moves into L1 from L2 or beyond, and into L2 from beyond: to read them, or to write
/// them.
struct moved_bytes {
  double beyond_l1{}, beyond_l2{};
  double to_products{};  ///< those beyond L1 that matrix products read
  constexpr moved_bytes& operator+=(moved_bytes const& o) {
    beyond_l1 += o.beyond_l1;
    beyond_l2 += o.beyond_l2;
    to_products += o.to_products;
    return *this;
  }
};

/// Those of each of up to S steps.
template <int S>
struct moved_list {
  array_of<moved_bytes, S> of{};
};

/// The share of bytes that a cache of `capacity` bytes has evicted when they are used again after `distance` others.
constexpr double evicted(double distance, long capacity) {
  double const from = double(surely_kept(capacity)), to = double(surely_evicted(capacity));
  return distance <= from ? 0 : distance >= to ? 1 : (distance - from) / (to - from);
}

/// When each part of the memory was last used, on a clock that counts the bytes used: a cache holds those used last.
template <int S>
class reuse_clock {
  static constexpr int chunks = 1024, operands = 16;
  static constexpr double never = -1e30;
  device on_;
  long chunk_floats_;
  double arena_[chunks]{}, inputs_[operands]{}, outputs_[operands]{};
  array_of<double, S> weights_{};
  double now_ = 0;

 public:
  constexpr reuse_clock(long arena_floats, device const& on)
      : on_(on), chunk_floats_(arena_floats < 256 * chunks ? 256 : arena_floats / chunks + 1) {
    for (double& t : arena_) t = never;
    for (double& t : weights_) t = never;
    for (double& t : inputs_) t = never;
    for (double& t : outputs_) t = never;
  }

  constexpr void move(moved_bytes& m, double bytes, double distance, bool to_product = false) const {
    double const near = bytes * evicted(distance, on_.l1_bytes);
    m.beyond_l1 += near;
    m.to_products += to_product ? near : 0;
    m.beyond_l2 += bytes * evicted(distance, on_.l2_bytes);
  }

  /// Uses `bytes` in the `floats` from `at` on, in a step of `length` bytes: the byte at x, in 0 ... 1, for the first
  /// time at first(x), and for the last at last(x), fractions of the step.
  constexpr void use(moved_bytes& m, place const& at, long floats, double bytes, double length, auto const& first,
                     auto const& last, bool to_product = false) {
    auto const touch = [&](double& touched, double x, double part) {
      move(m, bytes * part, now_ + first(x) * length - touched, to_product);
      touched = now_ + last(x) * length;
    };
    switch (at.in) {
      case place::area::none:
      case place::area::weights: return;
      case place::area::input: return touch(inputs_[at.index % operands], .5, 1);
      case place::area::output: return touch(outputs_[at.index % operands], .5, 1);
      case place::area::arena: break;
    }
    long const begin = at.offset / chunk_floats_, last_chunk = (at.offset + floats - 1) / chunk_floats_;
    long const end = last_chunk < chunks ? last_chunk + 1 : chunks;
    for (long c = begin; c < end; ++c)
      touch(arena_[c], (double(c - begin) + .5) / double(end - begin), 1 / double(end - begin));
  }
  /// Uses the weights of step k, which only products have many of.
  constexpr void use_weights(moved_bytes& m, int k, double bytes, double length) {
    move(m, bytes, now_ - weights_[k], true);
    weights_[k] = now_ + length;
  }
  constexpr void advance(double length) { now_ += length; }
};

/// Floats from the first to the last of a value.
constexpr long floats_spanned(place const& at, shape const& s) {
  return at.pixel_stride == 0 ? long(s.c) * s.n : long(s.pixels() - 1) * at.pixel_stride + s.c;
}

/// A step of a plan with its operands.
template <class Graph, class Runs>
struct step_operands {
  Graph const& g;
  Runs const& runs;
  planned_step const* parts;
  int first, count;

  constexpr planned_data const& last() const { return parts[count - 1].data; }
  /// Calls visit(place, shape) for each part of the first operand.
  constexpr void for_each_input(auto const& visit) const {
    planned_data const& d = parts[0].data;
    if (d.run_count == 0) visit(d.source, d.in);
    for (int j = 0; j < d.run_count; ++j) {
      input_run const& run = runs.run[runs.first[first] + j];
      visit(run.at, shape{d.in.n, d.in.h, d.in.w, run.count});
    }
  }
  /// Likewise for all operands, but not for values between the parts.
  constexpr void for_each_read(auto const& visit) const {
    for_each_input(visit);
    for (int i = 0; i < count; ++i) {
      planned_step const& p = parts[i];
      int const before = i > 0 ? parts[i - 1].nodes.result : -1;
      if (i > 0 && p.nodes.source != before) visit(p.data.source, p.data.in);
      for (int j = 0; j < max_inputs - 1 && p.nodes.inputs[j] >= 0; ++j)
        if (p.nodes.inputs[j] != before) visit(p.data.other[j], g.nodes[p.nodes.inputs[j]].out);
      for (int j = 0; j < p.nodes.stage_count; ++j)
        if (int const v = p.nodes.others[j]; v >= 0) visit(p.data.after[j].operand, g.nodes[v].out);
    }
  }
  constexpr step_reuse reuse(chain_tiling const& tiles) const {
    step_reuse r;
    long input = 0;
    for_each_input([&](place const& at, shape const& s) { input += 4 * floats_in_lines(at, s); });
    if (count > 1) add_step(r, parts, count, tiles);
    else add_step(r, parts[0], input);
    return r;
  }
};

/// Runs a step on the clock.
template <int S>
constexpr moved_bytes moved_by_step(reuse_clock<S>& clock, auto const& step, chain_tiling const& tiles, int k) {
  moved_bytes moved;
  step_reuse const reuse = step.reuse(tiles);
  place const& to = step.last().destination;
  double const written = 4. * double(floats_in_lines(to, step.last().out));
  planned_data const* const folded = tiles.how == tiling::fold ? &step.parts[step.count - 2].data : nullptr;
  double const kept = folded ? 4. * double(folded->out.count()) : 0;
  double length = double(reuse.weights + reuse.scratch) + written + kept;
  for (long const ring : reuse.rings) length += double(ring);
  step.for_each_read([&](place const& at, shape const& s) { length += 4. * double(floats_in_lines(at, s)); });
  auto const throughout = [&](place const& at, double bytes) {
    clock.use(moved, at, long(bytes / 4), bytes, length, [](double) { return 0.; }, [](double) { return 1.; });
  };
  auto const share = [](auto const& when) {
    return [&when](double x) { return double(when(std::int64_t(x * sweep::whole))) / sweep::whole; };
  };
  auto const first_read = [&](std::int64_t x) { return reuse.order.first_read(x); };
  auto const last_read = [&](std::int64_t x) { return reuse.order.last_read(x); };
  auto const write = [&](std::int64_t x) { return reuse.order.written(x); };
  clock.use_weights(moved, k, double(reuse.weights), length);
  step.for_each_read([&](place const& at, shape const& s) {
    clock.use(moved, at, floats_spanned(at, s), 4. * double(floats_in_lines(at, s)), length, share(first_read),
              share(last_read), reuse.to_product);
  });
  clock.use(moved, to, floats_spanned(to, step.last().out), written, length, share(write), share(write));
  if (folded)
    clock.use(moved, folded->destination, floats_spanned(folded->destination, folded->out), kept, length, share(write),
              share(write));
  for (int i = 0; i + 1 < step.count; ++i)
    if (reuse.rings[i] > 0) throughout(step.parts[i].data.destination, double(reuse.rings[i]));
  if (reuse.scratch > 0) throughout({place::area::arena, 0, step.last().scratch}, double(reuse.scratch));
  for (int i = 0; i < reuse.count; ++i)
    clock.move(moved, double(reuse.again[i].bytes), double(reuse.again[i].distance), reuse.again[i].to_product);
  clock.advance(length);
  return moved;
}

/// The bytes that each step of a plan moves in the caches of `on`, when one inference follows another. Every value is
/// used in the order in which kernels go over it, and moves if more bytes than a cache holds are used in between.
/// Associativity and prefetching are not modelled. (Compared with simulated caches by tests/runtime/moved_bytes.cpp.)
template <int S, int V, int E, int O, int N, int Runs>
constexpr moved_list<N> moved_by(graph<V, E, O> const& g, fusion_list<S> const& groups, memory_plan<V> const& m,
                                 execution_plan<N> const& p, input_run_table<Runs, N> const& runs, device const& on) {
  moved_list<N> r;
  plan::reuse_clock<N> clock(m.arena_floats, on);
  for (int inference = 0; inference < 2; ++inference)
    for (int k = 0; k < groups.count; ++k) {
      step_operands<graph<V, E, O>, input_run_table<Runs, N>> const step{g, runs, p.steps + groups.first[k],
                                                                         groups.first[k], groups.parts[k]};
      r.of[k] = moved_by_step(clock, step, groups.tiles[k], k);
    }
  return r;
}

}  // namespace ago::plan
