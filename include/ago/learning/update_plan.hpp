// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When parameters can be updated within a step: as soon as their gradients are there, and nothing reads the old ones
// any more, while both are in a cache. And where their gradients are until then: memory that others have used, which is
// in a cache, too.
#pragma once

#include <ago/learning/trained_rows.hpp>
#include <ago/plan/step.hpp>
#include <ago/plan/step_split.hpp>

namespace ago::learning {

/// For each trained row of a parameter table, the step of a program after which it is updated, and its gradient's
/// place.
template <int N>
struct update_plan {
  static constexpr int capacity = N > 0 ? N : 1;
  struct update {
    int row{};
    int after{};   ///< the step
    int output{};  ///< of the program: the gradient
    int at{-1};    ///< the float of the largest gradient's memory where this gradient is; -1: it has its own
  };

  update all[capacity]{};  ///< in the order of steps
  int count{};
  int largest{};  ///< the output that is the largest gradient

  /// Makes outputs share memory, calls run_step(k) for each step, and update(row, gradient) in between.
  void run(int steps, float** outputs, auto const& run_step, auto const& update) const {
    for (int i = 0; i < count; ++i)
      if (all[i].at >= 0) outputs[all[i].output] = outputs[largest] + all[i].at;
    for (int k = 0, next = 0; k < steps; ++k) {
      run_step(k);
      for (; next < count && all[next].after <= k; ++next) update(all[next].row, outputs[all[next].output]);
    }
  }
};

/// What a program does with a parameter and its gradient.
struct row_accesses {
  int read{};                ///< the last step that reads or packs the parameter
  int output{};              ///< the gradient
  int first{-1}, written{};  ///< the steps that write it, the first and the last
  int used{};                ///< the last step that writes or reads it
};

/// The accesses to each row, and after which step the loss is known. Of a program, or a plan, whose outputs are the
/// loss and the gradients of all rows that are not frozen, and that reads parameters in place behind its inputs, or
/// packs them for a step right before it (storage::trained).
template <int N>
struct training_accesses {
  row_accesses of[N > 0 ? N : 1]{};
  int loss{};

  constexpr training_accesses(auto const& program, parameter_table<N> const& table, trained_rows<N> const& rows) {
    using area = plan::place::area;
    int row_of[N + 1]{};
    for (int i = 0, k = 1; i < N; ++i)
      if (rows.use[i] != row_use::frozen) row_of[of[i].output = k++] = i;
    auto const row_at = [&](long offset) {  // the first row that ends behind this float
      int low = 0, high = N;
      while (low < high) {
        int const middle = (low + high) / 2;
        if (table[middle].offset + table[middle].count() > offset) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    auto const read = [&](int k, plan::place const& at, shape const& s) {
      if (at.in == area::output && at.index > 0) of[row_of[at.index]].used = k;
      if (at.in != area::input || at.index != program.inputs) return;
      long const end = at.offset + (s.pixels() - 1) * at.pixel_stride + s.c;
      for (int i = row_at(at.offset); i < N && table[i].offset < end; ++i) of[i].read = k;
    };
    auto const packed = [&](int k, plan::parameter_source const& from) {  // whole rows
      if (from.weight >= 0) of[row_at(from.weight)].read = k;
      if (from.shift >= 0) of[row_at(from.shift)].read = k;
      for (int const norm : {from.norm, from.shift_norm})
        for (int i = row_at(norm), end = i + 4; norm >= 0 && i < end; ++i) of[i].read = k;
    };
    auto const written = [&](int k, plan::place const& at) {
      if (at.in != area::output) return;
      if (at.index == 0) {
        loss = k;
        return;
      }
      row_accesses& r = of[row_of[at.index]];
      if (r.first < 0) r.first = k > 0 && program.waits_of(k) == waits::nothing ? k - 1 : k;  // one pass
      r.written = r.used = k;
    };
    program.for_each_access(read, packed, written);
  }
};

/// Places the gradients that are not needed at the same time as the largest one in its memory, as far in front as
/// others that are needed at the same time permit: what was used last is in a cache.
template <int N>
constexpr void place_gradients(update_plan<N>& r, training_accesses<N> const& accesses, parameter_table<N> const& table,
                               int largest) {
  struct lifetime {
    int update{}, first{}, last{};
    long begin{}, end{};  ///< floats
  };
  lifetime all[update_plan<N>::capacity]{}, of_largest{};
  for (int k = 0; k < r.count; ++k) {
    row_accesses const& x = accesses.of[r.all[k].row];
    lifetime const l{k, x.first, x.used > r.all[k].after ? x.used : r.all[k].after};
    if (r.all[k].row == largest) of_largest = l;
    int place = k;  // in the order of first steps
    for (; place > 0 && all[place - 1].first > l.first; --place) all[place] = all[place - 1];
    all[place] = l;
  }
  r.largest = r.all[of_largest.update].output;
  lifetime active[update_plan<N>::capacity]{};  // in the order of places
  int actives = 0;
  for (int k = 0; k < r.count; ++k) {
    lifetime next = all[k];
    if (next.first <= of_largest.last && of_largest.first <= next.last) continue;
    int kept = 0, place = 0;
    for (int i = 0; i < actives; ++i)
      if (active[i].last >= next.first) active[kept++] = active[i];
    actives = kept;
    long const floats = (table[r.all[next.update].row].count() + 15) / 16 * 16;
    while (place < actives && active[place].begin < next.begin + floats) next.begin = active[place++].end;
    next.end = next.begin + floats;
    if (next.end > table[largest].count()) continue;
    r.all[next.update].at = int(next.begin);
    for (int i = actives++; i > place; --i) active[i] = active[i - 1];
    active[place] = next;
  }
}

/// No update precedes the loss.
template <int N>
constexpr update_plan<N> plan_updates(auto const& program, parameter_table<N> const& table,
                                      trained_rows<N> const& rows) {
  training_accesses<N> const accesses(program, table, rows);
  update_plan<N> r;
  int largest = -1;
  for (int i = 0; i < N; ++i) {
    if (rows.use[i] != row_use::trained) continue;
    row_accesses const& x = accesses.of[i];
    int after = x.read < x.written ? x.written : x.read;
    if (after < accesses.loss) after = accesses.loss;
    int place = r.count++;
    for (; place > 0 && r.all[place - 1].after > after; --place) r.all[place] = r.all[place - 1];
    r.all[place] = {i, after, x.output};
    if (largest < 0 || table[i].count() > table[largest].count()) largest = i;
  }
  if (largest >= 0) place_gradients(r, accesses, table, largest);
  return r;
}

}  // namespace ago::learning
