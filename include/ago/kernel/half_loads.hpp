// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products for cores on which a load of 128 bits issues alone and takes two cycles, while one
// of 64 bits issues beside a multiply-add (Cortex-A53, A55): weights are loaded in halves, and inputs as two steps of K.
// That halves help is known from ncnn's and ONNX Runtime's kernels for these cores; SLOTHY (Abdulrahman and others, CHES
// 2024) schedules such loops by modulo scheduling, here at compile time for every register tile.
#pragma once

#include <ago/kernel/lanes.hpp>

#include <algorithm>
#include <utility>

namespace ago::detail {

/// An instruction that is issued beside a multiply-add.
struct companion {
  enum class kind : std::uint8_t {
    high,    ///< loads the upper half of a weight into a general register
    low,     ///< loads the lower half of a weight, and clears the upper one
    join,    ///< inserts the upper half
    input,   ///< loads two steps of K of a pixel
    fetch,   ///< prefetches a line of weights
    count, mask, select_bytes, advance_bytes, select_weights, advance_weights, move_weights,  ///< of the loop
  };
  kind what{};
  int index = 0;      ///< of the weight in the iteration, or of the pixel
  int time = 0;       ///< multiply-adds since the start of an iteration; in the next one from `slots` on
  int place = 0;      ///< the same within one iteration
  bool next = false;  ///< belongs to the iteration after the one in which it is issued
};

/// Is the tile large enough for the loop's arithmetic beside its multiply-adds? Tiles of one pixel wait for their weights
/// anyway.
constexpr bool has_half_order(int pixels, int vectors) { return pixels > 1 && pixels * vectors >= 6; }

/// One iteration of the loop: two steps of K, 2 * VECTORS weights, each multiplied by all pixels. Weights pass through
/// `registers` registers in rotation, of which there must be a whole number in an iteration.
template <int PIXELS, int VECTORS>
  requires(has_half_order(PIXELS, VECTORS))
class half_order {
 public:
  static constexpr int uses = 2 * VECTORS, slots = uses * PIXELS;
  static constexpr int registers = [] {
    int const wanted = PIXELS > 6 ? 2 : PIXELS > 2 ? 3 : 4;  // uses until a weight that is being loaded is needed
    int const left = vector_registers(isa::neon) - 2 - PIXELS * (VECTORS + 1);
    int best = 1;
    for (int n = 2; n <= uses && n <= left && best < wanted; ++n)
      if (uses % n == 0) best = n;
    return best;
  }();
  static constexpr int lines = (uses + 3) / 4;  ///< of 64 bytes of weights
  /// How far ahead of its use a line is prefetched: 200 cycles.
  static constexpr int bytes_ahead = (200 + slots - 1) / slots * uses * 16;
  static constexpr int most = 3 * uses + PIXELS + lines + 7;

  companion all[most]{};
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

  constexpr int put(kind what, int index, int time) {
    ++busy_[time % slots];
    all[count++] = {what, index, time, time % slots, time < slots};
    return time;
  }
  /// What another companion costs: nothing if it is the only one of its multiply-add, or the second of two that issue
  /// together after it; otherwise a cycle. The last slot is left for the branch.
  constexpr int cost(int slot) const {
    int const others = busy_[slot] + (slot == slots - 1);
    return others == 0 ? 0 : others % 2 == 0 ? 1 : 1 + others;
  }
  /// The first or last time from `from` to `end` - 1 with the least cost, or -1.
  constexpr int cheapest(int from, int end, bool late = false) const {
    int best = -1;
    for (int t = from; t < end; ++t)
      if (best < 0 || cost(t % slots) < cost(best % slots) + late) best = t;
    return best;
  }

  /// Times of iteration 0 and 1: values that iteration 1 uses, and that are loaded when the last use of what their
  /// register held is over. Those with the least time left come first.
  constexpr bool place_all(int latency) {
    for (int& b : busy_) b = 0;
    count = 0;
    int join[uses]{}, w = 0, p = 0;
    while (w < uses || p < PIXELS) {
      int const use = slots + w * PIXELS;  // of weight w
      if (p == PIXELS || (w < uses && use - 5 <= slots + p - 3)) {
        int const from = std::max(use - registers * PIXELS + PIXELS - 1, 6);  // the loop's arithmetic comes first
        int const low = cheapest(from, std::max(use - latency - 1, from + 1));
        if (low < 0) return false;
        put(kind::low, w, low);
        join[w] = cheapest(low + latency, std::max(use - 1, low + latency + 1));
        if (join[w] >= use) return false;
        if (join[w] < 0) return false;
        put(kind::join, w, join[w]);
        ++w;
      } else {
        int const from = slots - PIXELS + p, at = cheapest(from, std::max(from + 1, slots + p - 2));
        if (at < 0) return false;
        put(kind::input, p, at);
        ++p;
      }
    }
    // The loop's own arithmetic. Inputs that are loaded in the next iteration use its old offset.
    int inputs_left = 0, inputs_begin = slots, weights_begin = slots;
    for (int i = 0; i < count; ++i) {
      companion const& c = all[i];
      if (c.what == kind::input && !c.next) inputs_left = std::max(inputs_left, c.place + 1);
      if (c.what == kind::input && c.next) inputs_begin = std::min(inputs_begin, c.place);
      if (c.what == kind::low && c.next) weights_begin = std::min(weights_begin, c.place);
    }
    int const masked = put(kind::mask, 0, cheapest(put(kind::count, 0, cheapest(0, weights_begin - 3)) + 1, weights_begin - 2));
    int const selected = put(kind::select_weights, 0, cheapest(masked + 1, weights_begin - 1));
    int const weights_from = 1 + put(kind::advance_weights, 0, cheapest(selected + 1, weights_begin));
    int at = put(kind::select_bytes, 0, cheapest(masked + 1, inputs_begin - 1));
    at = cheapest(std::max(at + 1, inputs_left), inputs_begin);
    if (at < 0) return false;
    put(kind::advance_bytes, 0, at);
    for (int i = 0; i < uses; ++i) {
      int const least = std::max(weights_from, join[i] - std::min(slots, 30) + 1);  // it occupies a register until then
      int const high = cheapest(least, join[i] - latency + 1, true);
      if (high < 0) return false;
      put(kind::high, i, high);
    }
    int reads = weights_from;  // or the last load of this iteration's weights
    for (int i = 0; i < count; ++i)
      if (!all[i].next && (all[i].what == kind::high || all[i].what == kind::low)) reads = std::max(reads, all[i].place);
    at = cheapest(reads, slots);
    if (at < 0) return false;
    put(kind::move_weights, 0, at);
    for (int i = 0; i < lines; ++i)
      put(kind::fetch, i, cheapest(0, slots));
    return true;
  }
  constexpr void sort() {
    for (int i = 1; i < count; ++i)
      for (int k = i; k > 0 && all[k].place < all[k - 1].place; --k) std::swap(all[k], all[k - 1]);
    for (int slot = 0, i = 0; slot <= slots; begin[slot++] = i)
      while (i < count && all[i].place < slot) ++i;
  }
};

template <int PIXELS, int VECTORS>
inline constexpr half_order<PIXELS, VECTORS> half_schedule{};

/// What the loop keeps in registers.
template <isa I, int PIXELS, int VECTORS>
struct half_state {
  using order = half_order<PIXELS, VECTORS>;
  float const* const (&pixel)[PIXELS];
  vec<I> (&acc)[PIXELS][VECTORS];
  vec<I> x[PIXELS], weight[order::registers];
  upper_half high[order::uses];
  float const *w, *next;
  long bytes = 0, left, last, weights_step, bytes_step;

  AGO_INLINE half_state(float const* const (&pixels)[PIXELS], int count, float const* weights,
                        vec<I> (&sums)[PIXELS][VECTORS])
      : pixel(pixels), acc(sums), w(weights), next(weights), left(count - 1) {}
};

/// Issues companions INDEX ... END - 1; if PROLOGUE, only loads, of the first iteration.
template <int INDEX, int END, bool PROLOGUE, isa I, int P, int V>
AGO_INLINE void accompany(half_state<I, P, V>& s) {
  if constexpr (INDEX < END) {
    using kind = companion::kind;
    constexpr companion c = half_schedule<P, V>.all[INDEX];
    constexpr int register_of = c.index % half_order<P, V>::registers;
    constexpr long step = half_order<P, V>::uses * lanes(I) * long(sizeof(float));
    [[maybe_unused]] float const* const w = c.next ? s.next : s.w;
    if constexpr (PROLOGUE && !(c.next && c.what <= kind::input)) {
    } else if constexpr (c.what == kind::high) load_high<I, c.index>(s.high[c.index], w);
    else if constexpr (c.what == kind::low) load_low<c.index>(s.weight[register_of], w);
    else if constexpr (c.what == kind::join) join(s.weight[register_of], s.high[c.index]);
    else if constexpr (c.what == kind::input) load_input<2>(s.x[c.index], s.pixel[c.index], s.bytes);
    else if constexpr (c.what == kind::fetch) fetch_line<I, half_order<P, V>::bytes_ahead + 64 * c.index>(s.w);
    else if constexpr (c.what == kind::count) subtract_one(s.left);
    else if constexpr (c.what == kind::mask) sign_mask(s.last, s.left);
    else if constexpr (c.what == kind::select_weights) bits_without(s.weights_step, step, s.last);
    else if constexpr (c.what == kind::advance_weights) add_bytes(s.next, s.weights_step);
    else if constexpr (c.what == kind::select_bytes) bits_without(s.bytes_step, 8, s.last);
    else if constexpr (c.what == kind::advance_bytes) add_bytes(s.bytes, s.bytes_step);
    else if constexpr (c.what == kind::move_weights) copy(s.w, s.next);
    accompany<INDEX + 1, END, PROLOGUE>(s);
  }
}

/// Multiply-add number SLOT of an iteration, and its companions.
template <int SLOT, isa I, int P, int V>
AGO_INLINE void issue(half_state<I, P, V>& s) {
  constexpr int use = SLOT / P, p = SLOT % P;
  multiply_lane<use / V>(s.acc[p][use % V], s.weight[use % half_order<P, V>::registers], s.x[p]);
  accompany<half_schedule<P, V>.begin[SLOT], half_schedule<P, V>.begin[SLOT + 1], false>(s);
}

/// Adds two steps of K, `count` times.
template <isa I, int P, int V>
AGO_INLINE void accumulate_twos(float const* const (&pixel)[P], int count, float const* w, vec<I> (&acc)[P][V]) {
  half_state<I, P, V> s(pixel, count, w, acc);
  accompany<0, half_schedule<P, V>.count, true>(s);
  _Pragma("GCC unroll 1") do {
    [&]<int... S>(std::integer_sequence<int, S...>) __attribute__((always_inline)) {
      (issue<S>(s), ...);
    }(std::make_integer_sequence<int, half_order<P, V>::slots>{});
  } while (s.left >= 0);
}

/// See accumulate().
template <isa I, int P, int V>
AGO_INLINE void accumulate_halves(float const* a, long a_stride, int depth, float const* w, vec<I> (&acc)[P][V]) {
  float const* pixel[P];
  _Pragma("GCC unroll 32") for (int p = 0; p < P; ++p) {
    pixel[p] = a + p * a_stride;
    pin(pixel[p]);
  }
  if (depth >= 2) accumulate_twos(pixel, depth / 2, w, acc);
  if (depth % 2) accumulate_one(pixel, depth - 1, w + (depth - 1L) * V * lanes(I), acc);
}

}  // namespace ago::detail
