// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When parameters can be updated within a step: as soon as their gradients are there, and nothing reads the old ones
// any more, while both are in a cache.
#pragma once

#include <ago/learning/trained_rows.hpp>
#include <ago/plan/step.hpp>

namespace ago::learning {

/// For each trained row of a parameter table, the step of a program after which it is updated.
template <int N>
struct update_times {
  static constexpr int capacity = N > 0 ? N : 1;

  int row[capacity]{};    ///< in the order of steps
  int after[capacity]{};  ///< of row[i]
  int count{};

  /// Calls update(row) for those that are to be updated when step k has been computed. `next`: how many have been,
  /// which is 0 before the first step.
  constexpr void for_each_after(int k, int& next, auto const& update) const {
    for (; next < count && after[next] <= k; ++next) update(row[next]);
  }
};

/// Those of a program, or a plan, whose outputs are the loss and the gradients of all rows that are not frozen, and
/// that reads parameters in place behind its inputs, or packs them for a step right before it (storage::trained).
template <int N>
constexpr update_times<N> update_times_of(auto const& program, parameter_table<N> const& table,
                                          trained_rows<N> const& rows) {
  using area = plan::place::area;
  int step[update_times<N>::capacity]{}, row_of[update_times<N>::capacity + 1]{};
  int loss_after = 0;  // no update precedes the loss
  update_times<N> r;
  for (int i = 0, k = 1; i < N; ++i)
    if (rows.use[i] != row_use::frozen) row_of[k++] = i;
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
    if (at.in != area::input || at.index != program.inputs) return;
    long const end = at.offset + (s.pixels() - 1) * at.pixel_stride + s.c;
    for (int i = row_at(at.offset); i < N && table[i].offset < end; ++i) step[i] = k;
  };
  auto const packed = [&](int k, plan::parameter_source const& from) {  // whole rows
    if (from.weight >= 0) step[row_at(from.weight)] = k;
    if (from.shift >= 0) step[row_at(from.shift)] = k;
    for (int const norm : {from.norm, from.shift_norm})
      for (int i = row_at(norm), end = i + 4; norm >= 0 && i < end; ++i) step[i] = k;
  };
  auto const written = [&](int k, plan::place const& at) {
    if (at.in != area::output) return;
    (at.index == 0 ? loss_after : step[row_of[at.index]]) = k;
  };
  program.for_each_access(read, packed, written);
  for (int i = 0; i < N; ++i) {
    if (rows.use[i] != row_use::trained) continue;
    int const after = step[i] < loss_after ? loss_after : step[i];
    int place = r.count++;
    for (; place > 0 && r.after[place - 1] > after; --place) {
      r.row[place] = r.row[place - 1];
      r.after[place] = r.after[place - 1];
    }
    r.row[place] = i;
    r.after[place] = after;
  }
  return r;
}

}  // namespace ago::learning
