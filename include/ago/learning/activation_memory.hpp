// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the memory of a training step would be if some values were computed again: a model of the arena, which decides
// what to compute again without planning every attempt.
#pragma once

#include <ago/learning/computed_again.hpp>
#include <ago/partition/neoflow.hpp>
#include <ago/plan/memory.hpp>

#include <cstdint>

namespace ago::learning {

/// From one time to another, inclusive. The time of step i is 2 * i; what is computed again for it is so at 2 * i - 1.
struct lifetime {
  int first, last;

  constexpr void extend(int to) {
    if (last < to) last = to;
  }
};

/// The memory of a training step some of whose buffers are computed again. The forward part has F nodes.
template <int F>
struct activation_use {
  bool dropped[slots<F>]{};    ///< of each node of the forward part: its value is not kept for the backward part
  later_needs<F> needs;        ///< in steps
  int kept_until[slots<F>]{};  ///< of each buffer, in times
  int first_need[slots<F>]{};  ///< of each buffer that is kept, in steps, by the backward part; -1: none
  long floats = 0;             ///< the most that are in use at a time,
  int at = 0;                  ///< and that time
};

/// The buffers of a planned training step that values of its forward part are in, which are its first `F` nodes.
/// `Steps`: of the plan.
template <int V, int E, int O, int F, int Steps>
class activation_memory {
 public:
  /// `parts`: of the plan; those of step i are first_part(i) ... first_part(i + 1) - 1.
  constexpr activation_memory(graph<V, E, O> const& g, channel_layouts<V> const& layouts, concat_views<V> const& views,
                              auto const* parts, auto const& first_part, memory_plan<V> const& m, device const& on)
      : g_(g), layouts_(layouts), views_(views), on_(on) {
    find_times(parts, first_part);
    needs_ = {g, begin_, end_};
    bool has_values[slots<V>]{};
    for (int& b : buffer_of_) b = -1;
    for (int v = 0; v < F; ++v) {
      is_given_[v] =
          m.at[v].in == place::area::input || m.at[v].in == place::area::output || m.at[v].in == place::area::weights;
      if (!layouts.is_view[v]) has_values[root_of(views, v)] = true;
    }
    for (int i = 0; i < m.buffer_count; ++i) enter(m.buffers[i], has_values[m.buffers[i].value]);
    for (int v = F; v-- > g.input_count;) {
      operations_[v] = is_given_[v] || layouts.is_view[v] ? 0 : operations_of(g, v, on);
      for (int k = 0; k < g.nodes[v].input_count; ++k)
        each_buffer(g.operand(v, k), [&](int b) { used_[b].extend(2 * end_[v]); });
      if (layouts.is_view[v] || buffer(v) < 0) continue;
      next_in_[v] = first_in_[buffer(v)];
      first_in_[buffer(v)] = v;
    }
  }

  /// `again`: of each buffer, whether it is computed again.
  constexpr activation_use<F> use(bool const (&again)[slots<F>]) const {
    activation_use<F> r;
    for (int v = g_.input_count; v < F; ++v) {
      if (is_given_[v]) continue;
      bool is_kept = layouts_.is_view[v] || buffer(v) >= 0;
      each_buffer(v, [&](int b) { is_kept = is_kept && !again[b]; });
      r.dropped[v] = !is_kept;
    }
    r.needs = needs_;
    r.needs.add_operands(g_, r.dropped);
    lifetime copied[slots<F>]{};
    for (int b = 0; b < count_; ++b) {
      r.kept_until[b] = used_[b].last;
      r.first_need[b] = -1;
      copied[b] = {2 * Steps, -1};
    }
    for (int v = g_.input_count; v < F; ++v) {
      int const first = r.needs.first[v], last = 2 * r.needs.last[v];
      if (first < 0 || is_given_[v]) continue;
      each_buffer(v, [&](int b) {
        if (again[b]) {
          copied[b] = {2 * first - 1 < copied[b].first ? 2 * first - 1 : copied[b].first,
                       last > copied[b].last ? last : copied[b].last};
          return;
        }
        if (r.kept_until[b] < last) r.kept_until[b] = last;
        if (r.first_need[b] < 0 || first < r.first_need[b]) r.first_need[b] = first;
      });
    }
    find_peak(r, copied);
    return r;
  }

  /// The buffer that is best computed again, of those that are only kept for later at the time of most floats; -1:
  /// none. It frees the most floats for the work that it causes (Eq. (4), of what is moved, computed and started
  /// again), so that elementwise operators of one value come before those of many operands.
  constexpr int best_to_drop(activation_use<F> const& u) const {
    int best = -1;
    double best_value = 0;
    long const least = u.floats / 256 + 1;  // less is not worth a step
    cone c(*this, u);
    for (int b = 0; b < count_; ++b) {
      if (floats_[b] < least || !can_drop_[b] || u.first_need[b] < 0) continue;
      if (used_[b].last >= u.at || 2 * u.first_need[b] - 1 <= u.at) continue;
      c.find(b);
      long const freed = floats_[b] - c.kept_longer();
      double const value = double(freed) / double(c.work(on_));
      if (freed < least || value <= best_value) continue;
      best_value = value;
      best = b;
    }
    return best;
  }

 private:
  constexpr void find_times(auto const* parts, auto const& first_part) {
    bool known[slots<V>]{};
    auto const set = [&](int v, int i) {
      if (v < 0 || known[v]) return;
      known[v] = true;
      begin_[v] = end_[v] = i;
    };
    for (int i = 0; i < Steps; ++i)
      for (int k = first_part(i); k < first_part(i + 1); ++k) {
        step_nodes const& s = parts[k].nodes;
        set(s.main, i);
        set(s.bias, i);
        for (int j = 0; j < s.stage_count; ++j) set(s.stages[j], i);
        set(s.result, i);
      }
    bool read[slots<V>]{};
    for (int v = g_.node_count; v-- > g_.input_count;)  // what no step computes has the times of its readers
      for (int k = 0; k < g_.nodes[v].input_count; ++k) {
        int const u = g_.operand(v, k);
        if (known[u]) continue;
        begin_[u] = !read[u] || begin_[v] < begin_[u] ? begin_[v] : begin_[u];
        end_[u] = !read[u] || end_[v] > end_[u] ? end_[v] : end_[u];
        read[u] = true;
      }
  }
  /// Buffers without values of the forward part are always the same. (A value that the backward part concatenates is in
  /// a buffer of that part, which is never computed again.)
  constexpr void enter(ago::plan::buffer const& x, bool has_values) {
    if (x.scratch || !has_values) {
      always_[2 * x.first] += x.floats;
      always_[2 * x.last + 1] -= x.floats;
      return;
    }
    buffer_of_[x.value] = count_;
    first_in_[count_] = -1;
    floats_[count_] = x.floats;
    can_drop_[count_] = x.value < F;
    used_[count_++] = {2 * x.first, 2 * (x.value < F ? x.first : x.last)};
  }
  /// The buffer of value v, which is no view; -1: it is only in registers, or not in the arena.
  constexpr int buffer(int v) const { return buffer_of_[root_of(views_, v)]; }
  /// Calls f for every buffer that value v is in.
  constexpr void each_buffer(int v, auto const& f) const {
    if (!layouts_.is_view[v]) {
      if (int const b = buffer(v); b >= 0) f(b);
      return;
    }
    for (int i = 0; i < layouts_.runs[v].count; ++i)
      if (int const b = buffer(layouts_.runs[v].run[i].value); b >= 0) f(b);
  }
  constexpr void find_peak(activation_use<F>& r, lifetime const* copied) const {
    long change[2 * Steps + 2]{};
    for (int b = 0; b < count_; ++b) {
      change[used_[b].first] += floats_[b];
      change[r.kept_until[b] + 1] -= floats_[b];
      if (copied[b].last < 0) continue;
      change[copied[b].first] += floats_[b];
      change[copied[b].last + 1] -= floats_[b];
    }
    long sum = 0;
    for (int t = 0; t <= 2 * Steps; ++t) {
      sum += change[t] + always_[t];
      if (sum <= r.floats) continue;
      r.floats = sum;
      r.at = t;
    }
  }

  /// What would be computed again for a buffer, beside what is already.
  class cone {
   public:
    constexpr cone(activation_memory const& m, activation_use<F> const& u) : m_(m), u_(u) {}

    constexpr void find(int b) {
      buffer_ = b;
      ++stamp_;
      operations_ = kept_longer_ = 0;
      moved_ = m_.floats_[b];
      bool needed = false;
      for (int v = m_.first_in_[b]; v >= 0; v = m_.next_in_[v]) needed = needed || u_.needs.any(v);
      for (int v = m_.first_in_[b]; v >= 0; v = m_.next_in_[v])
        if (!needed || u_.needs.any(v)) visit(v);  // none is needed: views of them are
      while (waiting_ > 0) {
        int const v = stack_[--waiting_];
        operations_ += m_.operations_[v];
        for (int k = 0; k < m_.g_.nodes[v].input_count; ++k) read(m_.g_.operand(v, k));
      }
    }
    /// The floats of other buffers that must then be kept beyond the time of most floats.
    constexpr long kept_longer() const { return kept_longer_; }
    /// In the unit of reward_of.
    constexpr std::int64_t work(device const& on) const {
      return -reward_of({.bytes = -4 * moved_, .operations = -operations_, .kernels = -1}, on);
    }

   private:
    constexpr void visit(int v) {
      if (seen_[v] == stamp_) return;
      seen_[v] = stamp_;
      stack_[waiting_++] = v;
    }
    constexpr void read(int v) {
      bool const given = m_.is_given_[v], already = u_.dropped[v] && u_.needs.any(v);
      bool const inside = !m_.layouts_.is_view[v] && m_.buffer(v) == buffer_;
      if (!given && !already && (u_.dropped[v] || inside)) return visit(v);
      if (seen_[v] == stamp_) return;
      seen_[v] = stamp_;
      moved_ += m_.g_.nodes[v].out.count();
      if (given || already) return;
      m_.each_buffer(v, [&](int b) {
        if (counted_[b] != stamp_ && u_.kept_until[b] < u_.at) kept_longer_ += m_.floats_[b];
        counted_[b] = stamp_;
      });
    }

    activation_memory const& m_;
    activation_use<F> const& u_;
    int buffer_ = 0, stamp_ = 0, waiting_ = 0;
    int seen_[slots<F>]{}, counted_[slots<F>]{}, stack_[slots<F>]{};
    std::int64_t operations_ = 0, moved_ = 0;
    long kept_longer_ = 0;
  };

  graph<V, E, O> const& g_;
  channel_layouts<V> const& layouts_;
  concat_views<V> const& views_;
  device on_;
  int begin_[slots<V>]{}, end_[slots<V>]{};  // of each node, in steps: the one that computes it, or those that read it
  later_needs<F> needs_;                     // of what is kept
  bool is_given_[slots<F>]{};                // inputs, outputs and constants, which are not in the arena
  std::int64_t operations_[slots<F>]{};
  int buffer_of_[slots<V>]{}, count_ = 0;  // by value
  // Of each buffer:
  long floats_[slots<F>]{};
  bool can_drop_[slots<F>]{};
  lifetime used_[slots<F>]{};                       // in the forward part
  int first_in_[slots<F>]{}, next_in_[slots<F>]{};  // the values in it, but for views; -1: no more
  long always_[2 * Steps + 2]{};                    // what each time adds to the floats of all other buffers
};

template <int F, int Steps, int V, int E, int O>
constexpr activation_memory<V, E, O, F, Steps> activation_memory_of(graph<V, E, O> const& g,
                                                                    channel_layouts<V> const& layouts,
                                                                    concat_views<V> const& views, auto const* parts,
                                                                    auto const& first_part, memory_plan<V> const& m,
                                                                    device const& on) {
  return {g, layouts, views, parts, first_part, m, on};
}

}  // namespace ago::learning
