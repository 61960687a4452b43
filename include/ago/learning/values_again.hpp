// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a training step are computed again, so that its arena is small enough: greedily, by Eq. (4).
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/learning/activation_memory.hpp>

namespace ago::learning {

/// The buffers of a forward part of F nodes that are computed again, and the search for them: a value at a time is
/// dropped until the model's arena is small enough; then those are kept that later choices have made superfluous.
template <int F>
struct values_again {
  bool of[slots<F>]{};  ///< of each buffer
  int count = 0;
  long floats = 0;  ///< the model's size of the arena
  bool finished = false;

 private:
  int order_[slots<F>]{}, best_count_ = 0, untested_ = -1;

 public:
  /// One step of the search for an arena of `enough` floats. If that cannot be reached, the result is what has least.
  constexpr void improve(auto const& memory, long enough) {
    if (untested_ < 0) drop_another(memory, enough);
    else if (untested_ > 0) test_another(memory, enough);
    else finished = true;
  }

 private:
  constexpr void drop_another(auto const& memory, long enough) {
    activation_use<F> const u = memory.use(of);
    if (count == 0 || u.floats < floats) {
      floats = u.floats;
      best_count_ = count;
    }
    if (int const b = u.floats <= enough ? -1 : memory.best_to_drop(u); b >= 0) {
      of[order_[count++] = b] = true;
      return;
    }
    while (count > best_count_) of[order_[--count]] = false;
    untested_ = count;
  }
  constexpr void test_another(auto const& memory, long enough) {
    bool& again = of[order_[--untested_]];
    again = false;
    long const without = memory.use(of).floats;
    again = without > floats && without > enough;
    if (again) return;
    floats = without;
    --count;
  }
};

/// The result of that search in several constant evaluations, because compilers limit each of them.
template <auto const& Memory, int F, long Enough>
struct search_for_values {
 private:
  static constexpr int steps_of_one = 1 + 1'500 / (F + 1);
  template <int I>
  static AGO_CONSTEVAL values_again<F> search() {
    values_again<F> r;
    if constexpr (I > 0) r = after<I - 1>;
    for (int i = 0; i < steps_of_one && !r.finished; ++i) r.improve(Memory, Enough);
    return r;
  }
  template <int I>
  static constexpr values_again<F> after = search<I>();
  template <int I>
  static AGO_CONSTEVAL values_again<F> const& last() {
    if constexpr (after<I>.finished) return after<I>;
    else return last<I + 1>();
  }

 public:
  static constexpr values_again<F> const& value = last<0>();
};

}  // namespace ago::learning
