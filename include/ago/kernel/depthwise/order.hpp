// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions in the loop of a depthwise convolution on cores where a load of 128 bits issues alone and
// takes two cycles, while one of 64 bits issues beside a multiply-add (Cortex-A53, A55); half_order.hpp is the same for
// matrix products. One iteration is a tile of one vector of channels.
#pragma once

#include <ago/kernel/depthwise/sequence.hpp>

namespace ago::kernel {

/// Instructions that only execute if a bit of depthwise_order's mask is set: cycles begin ... end - 1, or always if the
/// bit is negative. What issues beside them always executes.
struct guarded_cycles {
  int begin = 0, end = 0, bit = -1;
};

/// Gives each load the last cycle that is early enough for the first use of its value and has room, possibly in the
/// iteration before: modulo scheduling, backwards.
template <depthwise_shape D>
class depthwise_order : public depthwise_sequence<D> {
  using base = depthwise_sequence<D>;
  using base::length_, base::sequence_, base::none, base::most_main;
  using typename base::guarded;

 public:
  using action = depthwise_action;
  using kind = action::kind;
  using base::columns, base::groups, base::group_columns, base::group_of, base::has_side_distances, base::in_columns,
      base::in_rows, base::is_input, base::is_side, base::keeps_bounds, base::rows, base::sh, base::shift,
      base::side_columns, base::streams, base::taps, base::values;

  static constexpr int weight_bytes = 16 * (taps + 1);  ///< of an iteration
  /// Lines of weights that an iteration prefetches, 200 cycles ahead: the tile covers a small image, so that they are
  /// hardly used again, and an iteration reads them in an order that no prefetcher takes for a run.
  static constexpr int fetched_lines = columns <= 4 ? (weight_bytes + 63) / 64 : 0;
  constexpr int bytes_ahead() const { return (200 + cycles - 1) / cycles * weight_bytes; }

 private:
  static constexpr int most_beside =
      values * (has_side_distances ? 3 : 4) + streams * (groups + 1) + rows + 2 + fetched_lines;
  static constexpr int most_cycles = most_main + most_beside;

 public:
  bool found = false;
  int cycles = 0;
  action main[most_cycles]{};
  action beside[most_beside]{};
  int begin[most_cycles + 1]{};  ///< of what issues beside the action of every cycle
  guarded_cycles outer[3 * in_rows + 3]{}, inner_guard[in_rows * (2 * side_columns + 3)]{};
  int outer_count = 0, inner_count = 0;
  int registers = 0;  ///< of vectors, that are occupied at the same time, at most

  constexpr depthwise_order() {
    base::write_main();
    count_beside();
    int all = 0, left = 0;
    for (int r = 0; r < in_rows; ++r) all += share(r), left += beside_[r] - main_[r];
    int more = left <= 0 ? 0 : sh > 1 ? left / 2 + length_ / 10 : left / 2;
    for (int tries = 0; tries < (length_ < 128 ? 24 : 12) && !found; ++tries, more += 1 + tries / 4)
      found = place_all(more, all) && registers <= vector_registers_;
  }

 private:
  static constexpr int vector_registers_ = sh > 1 ? 30 : 31;  // compilers do not find the best allocation

  /// Counts the actions of each row, and what issues beside others, for the inputs of each row and the taps that it is
  /// the first to use; with branches and the loop's own.
  constexpr void count_beside() {
    bool used[values]{};
    int outer = -1, inner = -1;
    for (int i = 0; i < length_; ++i) {
      guarded const& g = sequence_[i];
      int& n = beside_[g.row];
      if (main_[g.row]++ == 0) n += groups + (g.row == 0 ? 5 + rows + fetched_lines : 0);
      n += (g.outer != outer && g.outer >= 0) + (g.inner != inner && g.inner >= 0 && g.inner != none);
      outer = g.outer;
      inner = g.inner;
      if (g.a.what == kind::nothing) n -= 1;
      if (g.a.what != kind::multiply) continue;
      int const both[] = {g.a.value, g.a.tap};
      for (int const v : both) {
        if (used[v]) continue;
        used[v] = true;
        n += 3 + (!has_side_distances && is_input(v) && is_side(v % in_columns));
      }
    }
  }
  int main_[in_rows]{}, beside_[in_rows]{};

  /// What cycles without an action are divided by: what does not issue beside the actions of row r. With a stride
  /// everything is waiting for loads.
  constexpr int share(int r) const {
    return sh > 1 || main_[r] == 0 ? main_[r] : beside_[r] > main_[r] ? beside_[r] - main_[r] : 1;
  }
  /// Cycles without an action that row r gets of `more`.
  constexpr int extra(int r, int more, int all) const {
    int before = 0;
    for (int k = 0; k < r; ++k) before += share(k);
    return more * (before + share(r)) / all - more * before / all;
  }

  // Cycles are counted from the start of an iteration; negative ones are in the iteration before.

  struct placed {
    action a;
    int cycle;
  };
  placed placed_[most_beside]{};
  int count_ = 0;
  std::int8_t room_[most_cycles]{};
  bool loads_[most_cycles]{};

  constexpr int index(int cycle) const { return cycle < 0 ? cycle + cycles : cycle >= cycles ? cycle - cycles : cycle; }
  static constexpr bool is_load(kind what) { return what == kind::high || what == kind::low || what == kind::fetch; }

  /// The last cycle up to `latest` that has room, and takes it; -none if there is none after `after`. One load issues
  /// in a cycle; anything else rather takes a place beside one, where no load could be.
  constexpr int put(action a, int latest, int after) {
    int found = -none;
    for (int t = latest; t > after && t > -cycles && (found == -none || t > found - 8); --t) {
      int const k = index(t);
      if (room_[k] == 0 || (is_load(a.what) && loads_[k])) continue;
      if (found == -none || loads_[k]) found = t;
      if (is_load(a.what) || loads_[k]) break;
    }
    if (found == -none) return found;
    int const k = index(found);
    --room_[k];
    loads_[k] = loads_[k] || is_load(a.what);
    a.next = found < 0;
    placed_[count_++] = {a, found};
    return found;
  }

  constexpr void lay_out(int more, int all) {
    int done[in_rows]{};
    cycles = 0;
    outer_count = inner_count = count_ = 0;
    int outer = -1, inner = -1;
    auto const branch = [&] {
      int const before = cycles - 1;
      if (before >= 0 && room_[before] > 0) --room_[before];
    };
    for (int i = 0; i < length_; ++i) {
      guarded const& g = sequence_[i];
      int const within = g.inner == none ? inner : g.inner;
      if (i == 0 || g.outer != outer) {
        outer = g.outer;
        if (outer >= 0) branch();
        outer_[outer_count] = cycles;
        this->outer[outer_count++] = {cycles, cycles, outer};
        inner = -2;
      }
      if (within != inner) {
        inner = within < -1 ? -1 : within;
        if (inner >= 0) branch();
        inner_guard[inner_count++] = {cycles, cycles, inner};
      }
      int const r = g.row, k0 = done[r]++, n = extra(r, more, all);
      int const copies = 1 + (k0 + 1) * n / main_[r] - k0 * n / main_[r];
      for (int k = 0; k < copies; ++k) {
        bool const empty = k > 0 || g.a.what == kind::nothing;
        main[cycles] = k > 0 ? action{} : g.a;
        room_[cycles] = empty ? 2 : 1;
        loads_[cycles] = false;
        ++cycles;
      }
      this->outer[outer_count - 1].end = inner_guard[inner_count - 1].end = cycles;
    }
    room_[cycles - 1] = std::int8_t(room_[cycles - 1] > 0 ? room_[cycles - 1] - 1 : 0);  // the loop's branch
  }
  int outer_[3 * in_rows + 3]{};

  constexpr bool place_all(int more, int all) {
    lay_out(more, all);
    int first_use[values], last_use[values];
    for (int v = 0; v < values; ++v) first_use[v] = none, last_use[v] = -none;
    auto const use = [&](int v, int t) {
      if (t < first_use[v]) first_use[v] = t;
      if (t > last_use[v]) last_use[v] = t;
    };
    for (int t = 0; t < cycles; ++t) {
      if (main[t].what == kind::multiply) use(main[t].value, t), use(main[t].tap, t);
      if (main[t].what == kind::start) use(shift, main[t].next ? t - cycles : t);
    }
    if (!place_rest() || !place_loads(first_use, last_use)) return false;
    sort();
    occupy(last_use);
    return true;
  }

  constexpr bool place_loads(int const (&first_use)[values], int const (&last_use)[values]) {
    int order[values]{}, by[values]{}, left[streams][groups]{}, count = 0;
    for (int v = 0; v < values; ++v) {
      if (first_use[v] == none) continue;
      by[v] = first_use[v];
      if (is_input(v))  // before the pointer moves on
        for (int c = 0; c < in_columns; ++c) {
          int const other = v / in_columns * in_columns + c;
          if (group_of(c) > group_of(v % in_columns) && first_use[other] - 1 < by[v]) by[v] = first_use[other] - 1;
        }
      ++left[stream_of(v)][group_in(v)];
      int k = count++;
      for (; k > 0 && by[order[k - 1]] < by[v]; --k) order[k] = order[k - 1];
      order[k] = v;
    }
    int earliest[streams], latest[streams], until[streams];
    for (int s = 0; s < streams; ++s) earliest[s] = until[s] = none, latest[s] = -none;
    for (int i = 0; i < count; ++i) {
      int const v = order[i], s = stream_of(v);
      auto const what = [&](kind k) { return action{k, 0, 0, std::int16_t(v)}; };
      int const after = last_use[v] - cycles;
      int const joined = put(what(kind::join), (by[v] < until[s] ? by[v] : until[s]) - 2, after);
      int const latest_load = joined - 3 < until[s] - 1 ? joined - 3 : until[s] - 1;
      // What is loaded first occupies a register for longer: now a general one, now one of vectors.
      kind const loads[] = {v % 2 ? kind::low : kind::high, v % 2 ? kind::high : kind::low};
      int const later = put(what(loads[0]), latest_load, after), earlier = put(what(loads[1]), latest_load, after);
      int const low = v % 2 ? later : earlier, high = v % 2 ? earlier : later;
      if (joined == -none || low == -none || high == -none) return false;
      int begins = low < high ? low : high;
      if (latest[s] < low) latest[s] = low;
      if (latest[s] < high) latest[s] = high;
      if (!has_side_distances && is_input(v) && is_side(v % in_columns)) {
        begins = put(what(kind::point), begins - 1, begins - cycles);
        if (begins == -none) return false;
      }
      if (begins < earliest[s]) earliest[s] = begins;
      if (int const g = group_in(v); --left[s][g] == 0 && !move(s, g, earliest[s], latest[s], until[s])) return false;
    }
    for (int line = 0; line < fetched_lines; ++line)
      if (put({kind::fetch, 0, 0, std::int16_t(line)}, cycles - 1, -1) == -none) return false;
    return true;
  }
  static constexpr int stream_of(int v) { return is_input(v) ? v / in_columns : in_rows; }
  static constexpr int group_in(int v) { return is_input(v) ? group_of(v % in_columns) : 0; }

  /// Moves stream s to group g before its first load; `latest`: the last load of the stream in an iteration.
  constexpr bool move(int s, int g, int earliest, int latest, int& until) {
    action const a{kind::move, 0, 0, std::int16_t(s), std::int16_t(g)};
    if (g > 0) {
      until = put(a, earliest - 1, earliest - cycles);
      return until != -none;
    }
    int at = put(a, earliest - 1, -1);
    if (at >= 0) return at > latest - cycles;
    at = earliest;
    {  // in the iteration before
      int const bytes = s == in_rows ? weight_bytes : 16;
      for (int bit = 0; bit < 16; ++bit)
        if (bytes >> bit & 1) {
          at = put({kind::unmove, 0, 0, std::int16_t(s), std::int16_t(bit)}, at - 1 < -1 ? at - 1 : -1, at - cycles);
          if (at == -none || at + cycles <= last_known_) return false;
        }
    }
    at = put(a, at - 1, at - cycles);
    return at != -none && at > latest - cycles;
  }

  /// The loop's own, before what depends on them.
  constexpr bool place_rest() {
    int t = 0;
    while (t < cycles && put({kind::count}, t, t - 1) == -none) ++t;
    for (last_known_ = t + 1; last_known_ < cycles;)
      if (put({kind::is_last}, last_known_, last_known_ - 1) != -none) break;
      else ++last_known_;
    for (int y = 0; y < rows; ++y) {
      t = 0;
      while (t < cycles && !((main[t].what == kind::store || main[t].what == kind::finish) && main[t].y == y)) ++t;
      if (put({kind::rewind, std::int8_t(y)}, t - 1, -1) == -none) return false;
    }
    return last_known_ < cycles;
  }
  int last_known_ = 0;  ///< the cycle in which it is known whether an iteration is the last

  /// By cycles; those of one cycle do not depend on each other.
  constexpr void sort() {
    for (int t = 0; t <= cycles; ++t) begin[t] = 0;
    for (int i = 0; i < count_; ++i) ++begin[index(placed_[i].cycle) + 1];
    for (int t = 0; t < cycles; ++t) begin[t + 1] += begin[t];
    int filled[most_cycles]{};
    for (int i = 0; i < count_; ++i) {
      int const k = index(placed_[i].cycle);
      beside[begin[k] + filled[k]++] = placed_[i].a;
    }
  }

  constexpr void occupy(int const (&last_use)[values]) {
    int changes[most_cycles + 1]{}, always = D.bounds > 0 && keeps_bounds ? D.bounds : 0;
    auto const live = [&](int from, int to) {  // written at the end of `from`, read at `to`
      if (to < 0) from += cycles, to += cycles;
      if (from < 0) {
        ++changes[from + cycles];
        --changes[cycles];
        from = 0;
      }
      ++changes[from];
      --changes[to];
    };
    for (int i = 0; i < count_; ++i)
      if (placed_[i].a.what == kind::low) live(placed_[i].cycle, last_use[placed_[i].a.value]);
    for (int t = 0; t < cycles; ++t)
      if (main[t].what == kind::start) {
        int const y = main[t].y, z = main[t].z, from = main[t].next ? t - cycles : t;
        int to = 0;
        for (int u = from < 0 ? 0 : from; u < cycles; ++u)
          if ((main[u].what == kind::store && main[u].y == y && main[u].z == z) ||
              (main[u].what == kind::finish && main[u].y == y))
            to = u;
        live(from, to);
      }
    registers = largest_sum(changes, always);
  }
  constexpr int largest_sum(int const (&changes)[most_cycles + 1], int now) const {
    int most = 0;
    for (int t = 0; t < cycles; ++t) {
      now += changes[t];
      if (now > most) most = now;
    }
    return most;
  }
};

template <depthwise_shape D>
inline constexpr depthwise_order<D> depthwise_order_of{};

/// Is there an order? None is looked for if the accumulators, the taps in use and four inputs exceed the registers, or
/// if the tile is so large that it would take compilers too long.
template <depthwise_shape D>
constexpr bool has_depthwise_order() {
  constexpr int taps = D.kernel_h * D.kernel_w, span = (D.rows - 1) * D.stride_h + 1;
  constexpr int used = D.rows * D.columns + (span < D.kernel_h ? span : D.kernel_h) * D.kernel_w + 4;
  constexpr bool small = used <= 32 && taps <= 25 && D.rows * D.columns * (taps + 4) <= 420;
  if constexpr (small) return depthwise_order_of<D>.found;
  else return false;
}

}  // namespace ago::kernel
