// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How steps are divided into work items for several threads, and which steps share a barrier: the analytic default.
#pragma once

#include <ago/plan/form_steps.hpp>
#include <ago/plan/regions.hpp>
#include <ago/plan/split_along.hpp>

namespace ago::plan {

/// Decides step by step, from what the steps before it write. The steps between two barriers are a phase; those of it
/// in which each work item waits only for the same work item of steps before, and which follow one another, a strand.
template <int S, int V, int E, int O, int N>
class step_divider {
 public:
  constexpr step_divider(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                         concat_views<V> const& views, channel_layouts<V> const& layouts, execution_plan<N> const& p,
                         memory_plan<V> const& m, device const& on)
      : g_(g), steps_(steps), groups_(groups), views_(views), layouts_(layouts), plan_(p), on_(on),
        room_(m.arena_floats) {
    for (writing& w : written_) w = {-1, -1, -1};
    for (int b = 0; b < m.buffer_count; ++b) {
      begun_[m.buffers[b].first] += m.buffers[b].floats;
      ended_[m.buffers[b].last] += m.buffers[b].floats;
    }
  }

  constexpr split_list<S> run(auto const& table) {
    for (int k = 0; k < groups_.count; ++k) {
      auto const wish = table.find(parts(k)[groups_.parts[k] > 1 ? 1 : 0].signature);
      divide(k, wish ? wish->split : split::none);
      enter(k);
    }
    return made_;
  }

 private:
  /// The last step that writes a value, and the first ones of its phase and of its strand.
  struct writing {
    int step, phase, strand;
  };
  /// A way to divide a step, and its quarter cycles.
  struct choice {
    step_split how{};
    waits until = waits::all;
    double cycles{};
  };

  constexpr planned_step const* parts(int k) const { return plan_.steps + groups_.first[k]; }
  constexpr bool is_new(int v) const { return written_[v].phase == phase_; }

  /// Calls visit(value, region) for each value of a step that work item `i` of step k reads, divided by `s`.
  constexpr void for_each_read(int k, step_split const& s, int i, auto const& visit) const {
    planned_step const* const own = parts(k);
    int const count = groups_.parts[k];
    for (int j = 0; j < count; ++j) {
      step_nodes const& n = steps_.step[groups_.first[k] + j];
      plan::for_each_read(n, [&](int v, int operand) {
        if (operand != 0) resolve(v, read_beside(own, count, s, i, j, g_.nodes[v].out), visit);
        else if (j == 0) resolve(v, read_by_piece(own, count, s, i), visit);
        else if (v != own[j - 1].nodes.result) resolve(v, whole_of(g_.nodes[v].out), visit);
      });
    }
  }
  /// Finds the values in whose memory region `r` of value v is.
  constexpr void resolve(int v, value_region const& r, auto const& visit) const {
    if (v < 0) return;
    if (layouts_.is_view[v]) {
      for (int i = 0; i < layouts_.runs[v].count; ++i) {
        channel_run const& run = layouts_.runs[v].run[i];
        value_region const all{r.first_pixel, r.last_pixel, run.first, run.first + run.count};
        bool const in_order = layouts_.runs[v].is_plain(g_.nodes[v].out.c);
        value_region const part{r.first_pixel, r.last_pixel, run.first + r.first_channel, run.first + r.last_channel};
        resolve(run.value, in_order ? part : all, visit);
      }
      return;
    }
    node const& n = g_.nodes[v];
    for (int i = 0; i < n.input_count; ++i) {
      int const u = g_.operand(v, i);
      if (views_.parent[u] != v) continue;
      shape const& s = g_.nodes[u].out;
      int const at = views_.channel[u];
      bool const alike = s.pixels() == n.out.pixels();
      value_region const moved{r.first_pixel, r.last_pixel, r.first_channel - at, r.last_channel - at};
      value_region const part = moved.common_with({0, s.pixels(), 0, s.c});
      if (!alike) resolve(u, whole_of(s), visit);
      else if (part.floats() > 0) resolve(u, part, visit);
    }
    if (written_[v].step >= 0) visit(v, r);
  }

  /// What work item `i` of step w writes of value v, at least.
  constexpr value_region written(int w, int v, int i) const {
    step_nodes const& last = steps_.step[groups_.first[w] + groups_.parts[w] - 1];
    if (last.result != v || last.piece_at > 0 || !last.is_whole()) return {};  // a part of it
    return written_by_piece(parts(w), groups_.parts[w], made_.of[w], i);
  }

  /// What step k has to wait for if it is divided by `s` into work items of `cycles` quarter cycles. Nothing that a
  /// phase reads or writes gives its place in the arena to anything else, so the arena may have too little room.
  constexpr waits waits_for(int k, step_split const& s, double cycles) const {
    if (k == 0 || live_ + begun_[k] > room_) return waits::all;
    bool reads_new = false, reads_own = true;
    for (int i = 0; i < s.pieces; ++i)
      for_each_read(k, s, i, [&](int v, value_region const& r) {
        if (!is_new(v)) return;
        writing const from = written_[v];
        bool const alike = from.strand == strand_ && made_.of[from.step].pieces == s.pieces;
        reads_new = true;
        reads_own = reads_own && alike && (s.pieces == 1 || written(from.step, v, i).contains(r));
      });
    // There is no barrier between undivided steps; computing two of them side by side must be worth one.
    bool const alone = s.pieces == 1 && made_.of[strand_].pieces == 1;
    if (alone && (reads_new || cycles < 2 * on_.barrier || strand_cycles_ < 2 * on_.barrier)) return waits::all;
    bool const same_threads = s.pieces > 1 && made_.of[strand_].pieces == s.pieces;
    if (!reads_new) return same_threads ? waits::own : waits::nothing;
    return reads_own ? waits::own : waits::all;
  }

  /// The most bytes that a work item reads and that, as far as is known, another thread has written.
  constexpr long bytes_of_others(int k, step_split const& s) const {
    long most = 0;
    for (int i = 0; i < s.pieces; ++i) {
      long floats = 0;
      for_each_read(k, s, i, [&](int v, value_region const& r) {
        int const w = written_[v].step, there = made_.of[w].pieces;
        value_region own{};
        if (there == 1 && i == 0) own = r;
        if (there > 1 && i < there) own = written(w, v, i);
        floats += r.floats() - r.common_with(own).floats();
      });
      if (floats > most) most = floats;
    }
    return 4 * most;
  }
  /// The bytes that a work item writes into lines that the core of another used last: half of them, of two work items,
  /// if they are channels of every pixel, since most values are divided along pixels or rows.
  constexpr long bytes_taken_over(int k, step_split const& s) const {
    if (s.how != split::channels) return 0;
    long const bytes = 4 * long(parts(k)[groups_.parts[k] - 1].data.out.count());
    return bytes / s.pieces * (s.pieces - 1) / s.pieces;
  }
  constexpr choice weigh(int k, step_split const& s) const {
    double const alone = longest_piece(parts(k), groups_.parts[k], groups_.tiles[k], s, on_);
    choice r{s, waits_for(k, s, alone), alone};
    r.cycles += on_.line_from_core * double(bytes_of_others(k, s) + bytes_taken_over(k, s)) / 64;
    if (s.pieces > 1) r.cycles += on_.barrier + (r.until == waits::all ? on_.barrier : 0);
    return r;
  }

  /// The fastest way to divide step k, if it saves twice the cost of a barrier. A wish is obeyed if possible.
  constexpr void divide(int k, split wish) {
    choice best = weigh(k, {});
    split const all[] = {split::images, split::rows, split::pixels, split::channels};
    bool obeyed = wish == split::whole;
    for (int pass = 0; pass < 2 && !obeyed; ++pass)
      for (split const how : all) {
        if (pass == 0 && how != wish) continue;
        step_split const s = split_along(parts(k), groups_.parts[k], groups_.tiles[k], how, on_.threads);
        if (s.pieces == 1) continue;
        for (step_split const& t : {s, aligned(k, s)})
          if (choice const c = weigh(k, t); (pass == 0 && !obeyed) || c.cycles < best.cycles) {
            best = c;
            obeyed = pass == 0;
          }
      }
    made_.of[k] = best.how;
    made_.waits_for[k] = best.until;
    if (best.until != waits::own) strand_cycles_ = best.cycles;
  }

  /// The work items of the step before, if those of step k, which may begin at any pixel, can be the same.
  constexpr step_split aligned(int k, step_split const& s) const {
    if (k == 0 || s.how != split::pixels || groups_.parts[k] > 1 || !cut_of_pixels(*parts(k)).anywhere) return s;
    step_split const& before = made_.of[k - 1];
    shape const& out = parts(k - 1)[groups_.parts[k - 1] - 1].data.out;
    bool const alike = before.how == s.how && before.pieces == s.pieces && out.pixels() == parts(k)->data.out.pixels();
    return alike && !cut_of_pixels(*parts(k - 1)).tiles ? before : s;
  }

  constexpr void enter(int k) {
    waits const until = made_.waits_for[k];
    if (until == waits::all) {
      phase_ = k;
      live_ -= over_;
      over_ = 0;
    }
    if (until != waits::own) strand_ = k;
    live_ += begun_[k];
    over_ += ended_[k];
    for (int i = 0; i < groups_.parts[k]; ++i) {
      step_nodes const& n = steps_.step[groups_.first[k] + i];
      if (n.copy_to_output >= 0) continue;
      int const v = n.result;  // what several steps of a phase write, no strand owns
      written_[v] = {k, phase_, is_new(v) && written_[v].step != k ? -1 : strand_};
    }
  }

  graph<V, E, O> const& g_;
  step_list<S> const& steps_;
  fusion_list<S> const& groups_;
  concat_views<V> const& views_;
  channel_layouts<V> const& layouts_;
  execution_plan<N> const& plan_;
  device const& on_;
  split_list<S> made_{};
  array_of<writing, V> written_{};
  int phase_ = 0, strand_ = 0;  // their first steps
  double strand_cycles_ = 0;
  // Floats of the arena: of values that are first or last used by each step, in use by this phase, and of these not any
  // more after it; all.
  array_of<long, S> begun_{}, ended_{};
  long live_ = 0, over_ = 0, room_;
};

/// How each step is divided: according to `table`, or otherwise where it pays by the analytic model; and what its work
/// items wait for. `m` and `p`: memory and plan of undivided steps.
template <int S, int V, int E, int O, int N>
constexpr split_list<S> divide_steps(graph<V, E, O> const& g, step_list<S> const& steps, fusion_list<S> const& groups,
                                     concat_views<V> const& views, channel_layouts<V> const& layouts,
                                     memory_plan<V> const& m, execution_plan<N> const& p, device const& on,
                                     auto const& table) {
  return plan::step_divider(g, steps, groups, views, layouts, p, m, on).run(table);
}

}  // namespace ago::plan
