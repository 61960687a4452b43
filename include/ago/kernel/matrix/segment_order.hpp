// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions for a row of the window of a convolution of few channels, for cores as in half_order.hpp:
// all its steps of K make one iteration, so that no row waits for the loads of its first steps.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

namespace ago::kernel {

/// Multiply-add number n of an iteration multiplies weight n / PIXELS and pixel n % PIXELS. Weight u belongs to step
/// u / VECTORS of K. Inputs are loaded two steps at a time; the last of an odd number is loaded alone. Each load has
/// the last place beside a multiply-add that is early enough.
template <int PIXELS, int VECTORS, int STEPS>
class segment_order {
 public:
  static constexpr int weights = STEPS * VECTORS, slots = weights * PIXELS, pairs = (STEPS + 1) / 2;

  enum class kind : std::uint8_t {
    high,   ///< loads the upper half of weight `index` into a general register
    low,    ///< loads the lower half, and clears the upper one
    join,   ///< inserts the upper half
    input,  ///< loads pair `index` of pixel `pixel`
    move,   ///< moves the pointer of pixel `pixel`, whose first pair is loaded by way of the distance to the next row
    // The loop's own. If there is no next row, the first loads for it are those of the current one.
    copy_weights,  ///< of the pointer to the next weights
    count,
    mask,
    select_row,
    select_weights,
    next_weights,
  };
  struct action {
    kind what{};
    std::int16_t index = 0, pixel = 0, slot = 0;
    bool next = false;  ///< for the iteration after the one in which it is issued
  };
  static constexpr int most = 3 * weights + pairs * PIXELS + PIXELS + 6;
  bool found = false;
  action all[most]{};
  int count = 0;
  int begin[slots + 1]{};  ///< of what issues beside every multiply-add

  constexpr segment_order() {
    for (int latency = 3; latency > 0 && !found; --latency) found = place_all(latency);
    if (found) sort();
  }

 private:
  int busy_[slots]{};

  /// The last free slot up to `latest`, or the last one with a single companion, for which it costs a cycle.
  constexpr int put(kind what, int index, int pixel, int latest, int after) {
    for (int companions = 0; companions < 2; ++companions)
      for (int t = latest; t >= after && t >= earliest; --t) {
        int const k = t < 0 ? t + slots : t;
        if (busy_[k] > companions) continue;
        ++busy_[k];
        all[count++] = {what, std::int16_t(index), std::int16_t(pixel), std::int16_t(k), t < 0};
        return t;
      }
    return nowhere;
  }
  static constexpr int nowhere = -2 * slots;
  static constexpr int own_begin = slots / 2, earliest = own_begin + 6 - slots;  ///< loads for the next iteration

  constexpr bool place_all(int latency) {
    for (int& b : busy_) b = 0;
    count = 0;
    kind const own[] = {kind::copy_weights, kind::count,          kind::mask,
                        kind::select_row,   kind::select_weights, kind::next_weights};
    for (kind const k : own) {  // but for the first, away from the start, where many registers are occupied
      int const t = count == 0 ? 0 : own_begin + count;
      put(k, 0, 0, t, t);
    }
    busy_[slots - 1] = 1;                   // the branch
    int first[PIXELS]{}, second[PIXELS]{};  // slots of the loads of the first two pairs
    // From the last use to the first.
    for (int u = weights - 1; u >= 0; --u) {
      int const step = u / VECTORS, after = (u + 1) * PIXELS - slots;
      if (u % VECTORS == 0 && step % 2 == 0)
        for (int p = PIXELS - 1; p >= 0; --p) {
          int const last_use = ((step + (step + 1 < STEPS)) * VECTORS + VECTORS - 1) * PIXELS + p;
          second[p] = first[p];
          first[p] = put(kind::input, step / 2, p, u * PIXELS + p - latency, last_use + 1 - slots);
          if (first[p] == nowhere) return false;
        }
      int const join = put(kind::join, u, 0, u * PIXELS - 2, after);
      int const low = put(kind::low, u, 0, join - latency, after), high = put(kind::high, u, 0, join - latency, after);
      if (low == nowhere || high == nowhere) return false;
    }
    for (int p = 0; p < PIXELS; ++p)
      if (put(kind::move, 0, p, second[p] - 1, first[p] < 0 ? 0 : first[p] + 1) == nowhere) return false;
    return true;
  }

  constexpr void sort() {
    for (int i = 1; i < count; ++i)
      for (int k = i; k > 0 && all[k].slot < all[k - 1].slot; --k) {
        action const a = all[k];
        all[k] = all[k - 1];
        all[k - 1] = a;
      }
    for (int slot = 0, i = 0; slot <= slots; begin[slot++] = i)
      while (i < count && all[i].slot < slot) ++i;
  }
};

template <int PIXELS, int VECTORS, int STEPS>
inline constexpr segment_order<PIXELS, VECTORS, STEPS> segment_order_of{};

/// Is there an order? It needs enough multiply-adds for the loads to issue beside.
template <int PIXELS, int VECTORS, int STEPS>
constexpr bool has_segment_order() {
  constexpr bool large = PIXELS >= 4 && STEPS > 2 && PIXELS * VECTORS >= 8;
  if constexpr (large) return segment_order_of<PIXELS, VECTORS, STEPS>.found;
  else return false;
}

}  // namespace ago::kernel
