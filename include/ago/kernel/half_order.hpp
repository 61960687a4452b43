// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions in the inner loop of matrix products on cores where a load of 128 bits issues alone and
// takes two cycles, while one of 64 bits issues beside a multiply-add (Cortex-A53, A55). Weights are loaded in halves,
// inputs as two steps of K. That halves help is known from the kernels of ncnn and ONNX Runtime for these cores; SLOTHY
// (Abdulrahman, Becker, Kannwischer and Klein, CHES 2024) orders such loops by modulo scheduling, as is done here at
// compile time for every register tile.
#pragma once

#include <ago/kernel/matrix/schedule.hpp>

#include <cstdint>

namespace ago::kernel {

/// An instruction that issues beside a multiply-add.
struct companion {
  enum class kind : std::uint8_t {
    high,    ///< loads the upper half of a weight into a general register
    low,     ///< loads the lower half of a weight, and clears the upper one
    join,    ///< inserts the upper half
    input,   ///< loads two steps of K of a pixel
    second,  ///< loads the other two of four
    // The loop's own: prefetching weights, counting down, and advancing unless this is the last iteration.
    fetch,
    count,
    mask,
    skip_bytes,  ///< advances to the second inputs
    select_bytes,
    advance_bytes,
    select_weights,
    advance_weights,
    move_weights,
  };
  kind what{};
  int index = 0;      ///< of the weight in the iteration, of the pixel, or of the line
  int slot = 0;       ///< number of the multiply-add in the iteration
  bool next = false;  ///< belongs to the iteration after the one in which it is issued
};
constexpr bool is_load(companion const& c) { return c.what <= companion::kind::second; }

/// One iteration: two steps of K, or four if the loop's own arithmetic does not fit beside two, so 2 or 4 * VECTORS
/// weights, each multiplied by all pixels. Weights pass through `registers` registers in rotation, of which there must
/// be a whole number in an iteration.
template <int PIXELS, int VECTORS>
  requires(PIXELS > 1 && loads_halves(PIXELS, VECTORS))
class half_order {
 public:
  static constexpr int steps = half_loop_steps(PIXELS, VECTORS), pairs = steps / 2;
  static constexpr int uses = steps * VECTORS, slots = uses * PIXELS;
  static constexpr int registers = [] {
    int const wanted = PIXELS > 6 ? 2 : PIXELS > 2 ? 3 : 4;  // so many uses take longer than a weight takes to arrive
    int const spare = PIXELS < 3 ? 3 : 2, free = vector_registers(isa::neon) - spare - PIXELS * (VECTORS + 1);
    int best = 1;
    for (int n = 2; n <= uses && n <= free && best < wanted; ++n)
      if (uses % n == 0) best = n;
    return best;
  }();
  static constexpr int lines = (uses + 3) / 4;  ///< of weights, of 64 bytes
  /// How far before its use a line is prefetched: 200 cycles.
  static constexpr int bytes_ahead = (200 + slots - 1) / slots * uses * 16;

  companion all[3 * uses + pairs * PIXELS + lines + 7 + pairs - 1]{};
  int count = 0;
  int begin[slots + 1]{};  ///< of the companions of every multiply-add

  /// With the longest latency of loads, up to that of the cores, for which there is an order.
  constexpr half_order() {
    if (!place_all(3) && !place_all(2) && !place_all(1)) no_order_was_found();
    sort();
  }

 private:
  static void no_order_was_found() {}  // not constexpr, so that it does not compile
  using kind = companion::kind;
  int busy_[slots]{};

  static constexpr void swap(companion& a, companion& b) {
    companion const c = a;
    a = b;
    b = c;
  }
  static constexpr int largest(int a, int b) { return a > b ? a : b; }
  static constexpr int smallest(int a, int b) { return a < b ? a : b; }

  // Times are slots since the start of an iteration; times from `slots` on are in the next one. The loads that are
  // placed are those for the next iteration, so each time is that of one load in every iteration.

  constexpr int put(kind what, int index, int time) {
    ++busy_[time % slots];
    all[count++] = {what, index, time % slots, time < slots};
    return time;
  }
  /// What another companion costs: nothing if it is the only one of its multiply-add, or the second of two that issue
  /// together after it; otherwise a cycle. The last slot is left for the branch.
  constexpr int cost(int time) const {
    int const slot = time % slots, others = busy_[slot] + (slot == slots - 1);
    return others == 0 ? 0 : others % 2 == 0 ? 1 : 1 + others;
  }
  /// The first or last time from `from` to `end` - 1 with the least cost, or -1 if there is none.
  constexpr int cheapest(int from, int end, bool late = false) const {
    int best = -1;
    for (int t = from; t < end; ++t)
      if (best < 0 || cost(t) < cost(best) + late) best = t;
    return best;
  }

  constexpr bool place_all(int latency) {
    for (int& b : busy_) b = 0;
    count = 0;
    int join[uses]{};
    return place_registers(latency, join) && place_rest(latency, join);
  }

  /// Loads of registers that multiply-adds use. A register is loaded after the last use of what it held. Those that are
  /// needed first come first: a weight five slots after the load of its lower half, an input three slots after its own.
  constexpr bool place_registers(int latency, int (&join)[uses]) {
    for (int w = 0, n = 0; w < uses || n < pairs * PIXELS;) {
      int const pair = n / PIXELS, p = n % PIXELS;
      int const weight_use = slots + w * PIXELS, input_use = slots + pair * (slots / pairs) + p;
      if (n == pairs * PIXELS || (w < uses && weight_use - 5 <= input_use - 3)) {
        int const from = largest(weight_use - registers * PIXELS + PIXELS - 1, loop_begins);
        int const low = cheapest(from, largest(weight_use - latency - 1, from + 1));
        join[w] = cheapest(low + latency, largest(weight_use - 1, low + latency + 1));
        if (join[w] >= weight_use) return false;
        put(kind::low, w, low);
        put(kind::join, w, join[w]);
        ++w;
      } else {
        int const from = input_use - PIXELS;
        put(pair > 0 ? kind::second : kind::input, p, cheapest(from, largest(input_use - 2, from + 1)));
        ++n;
      }
    }
    return true;
  }
  static constexpr int loop_begins = 6;  ///< slots that are left for the loop's arithmetic before the first weight

  /// The loop's arithmetic, and loads of general registers, which are placed late, because they occupy one each.
  constexpr bool place_rest(int latency, int const (&join)[uses]) {
    int inputs_left = 0, inputs_begin = slots, weights_begin = slots;  // of the inputs that follow the last advance
    int seconds_begin = slots, seconds_end = 0;
    for (companion const& c : all) {
      if (c.what == kind::input && !c.next) inputs_left = largest(inputs_left, c.slot + 1);  // use the old offset
      if (c.what == kind::input && c.next) inputs_begin = smallest(inputs_begin, c.slot);
      if (c.what == kind::second) {
        seconds_begin = smallest(seconds_begin, c.slot);
        seconds_end = largest(seconds_end, c.slot + 1);
      }
      if (c.what == kind::low && c.next) weights_begin = smallest(weights_begin, c.slot);
    }
    int const counted = put(kind::count, 0, cheapest(0, weights_begin - 3));
    int const masked = put(kind::mask, 0, cheapest(counted + 1, weights_begin - 2));
    int const weights = put(kind::select_weights, 0, cheapest(masked + 1, weights_begin - 1));
    int const weights_from = 1 + put(kind::advance_weights, 0, cheapest(weights + 1, weights_begin));
    int const bytes = put(kind::select_bytes, 0, cheapest(masked + 1, inputs_begin - 1));
    if (pairs > 1) {
      int const skip = cheapest(inputs_left, seconds_begin);
      if (skip < 0) return false;
      put(kind::skip_bytes, 0, skip);
      inputs_left = largest(seconds_end, skip + 1);
    }
    int const advance = cheapest(largest(bytes + 1, inputs_left), inputs_begin);
    if (advance < 0) return false;
    put(kind::advance_bytes, 0, advance);
    for (int w = 0; w < uses; ++w) {
      int const from = largest(weights_from, join[w] - smallest(slots, 30) + 1);
      int const high = cheapest(from, join[w] - latency + 1, true);
      if (high < 0) return false;
      put(kind::high, w, high);
    }
    int reads = weights_from;  // or the last load of this iteration's weights
    for (int i = 0; i < count; ++i)
      if (!all[i].next && all[i].what <= kind::low) reads = largest(reads, all[i].slot);
    // The last iteration does not advance the weights. Prefetched from where they were, the lines continue after it.
    for (int i = 0; i < lines; ++i) reads = largest(reads, put(kind::fetch, i, cheapest(0, slots - 1)));
    put(kind::move_weights, 0, cheapest(reads, slots));
    return true;
  }

  /// Stable: companions of one slot stay in the order in which they were placed.
  constexpr void sort() {
    for (int i = 1; i < count; ++i)
      for (int k = i; k > 0 && all[k].slot < all[k - 1].slot; --k) swap(all[k], all[k - 1]);
    for (int slot = 0, i = 0; slot <= slots; begin[slot++] = i)
      while (i < count && all[i].slot < slot) ++i;
  }
};

template <int PIXELS, int VECTORS>
inline constexpr half_order<PIXELS, VECTORS> half_order_of{};

}  // namespace ago::kernel
