// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of matrix products of four pixels for cores that issue in order: a register has one channel of all
// four, and is multiplied by lanes of weights.
#pragma once

#include <ago/kernel/tile.hpp>
#include <ago/simd/in_order.hpp>
#include <ago/simd/in_order_counters.hpp>
#include <ago/simd/transpose.hpp>

#include <cstdint>
#include <utility>

namespace ago::kernel {

/// Of so few pixels, weights that are loaded in halves and joined (half_order) take three instructions for four
/// multiply-adds. Here an input takes them for 4 * VECTORS, and weights are lanes, of which half a register has two. An
/// iteration has two steps of K; weights are loaded three halves before their use.
template <isa I, int VECTORS>
class transposed_loop {
 public:
  static constexpr int channels = 4 * VECTORS;
  static_assert(lanes(I) == 4);

  /// sum[c / 4][c % 4] += input k of every pixel, at x + 4 * k, times weight w[k][c], for all `depth` k.
  AGO_INLINE static void accumulate(float const* x, int depth, float const* w, vec<I> (&sum)[VECTORS][4]) {
    state s;
    each_sum([&]<int V, int C>() AGO_INLINE_LAMBDA { s.sum[V][C] = sum[V][C]; });
    s.x_at = s.next_x = x;
    s.w = s.next_w = w;
    s.left = depth / 2 - 1;
    if (depth >= 2) {
      load_half<0>(s.x[0], x);
      load_high<I, 0>(s.high[0], x);
      join(s.x[0], s.high[0]);
      [&]<int... P>(std::integer_sequence<int, P...>)
          AGO_INLINE_LAMBDA { (load_pair<P>(s, w), ...); }(std::make_integer_sequence<int, ahead>{});
      AGO_UNROLL(1)
      do {
        [&]<int... N>(std::integer_sequence<int, N...>)
            AGO_INLINE_LAMBDA { (issue<N>(s), ...); }(std::make_integer_sequence<int, 2 * channels>{});
      } while (s.left >= 0);
    }
    if (depth % 2) {
      load_vector<0>(s.x[0], x + 4L * (depth - 1));
      w += long(channels) * (depth - 1);
      [&]<int... C>(std::integer_sequence<int, C...>)
          AGO_INLINE_LAMBDA { (multiply_last<C>(s, w), ...); }(std::make_integer_sequence<int, channels>{});
    }
    each_sum([&]<int V, int C>() AGO_INLINE_LAMBDA { sum[V][C] = s.sum[V][C]; });
  }
  /// f.operator()<v, c>() for every sum[v][c]. Not a loop, in which g++ 12 keeps the sums in memory.
  template <class F>
  AGO_INLINE static void each_sum(F const& f) {
    [&]<int... C>(std::integer_sequence<int, C...>) AGO_INLINE_LAMBDA {
      (f.template operator()<C / 4, C % 4>(), ...);
    }(std::make_integer_sequence<int, channels>{});
  }

 private:
  static constexpr int pairs = channels / 2, ahead = 3;  ///< of weights, in a step of K; loaded before one is used
  static constexpr int iteration = 2 * channels * int(sizeof(float)), lines = (iteration + 63) / 64;
  /// How far before its use a line is prefetched: 200 cycles.
  static constexpr int bytes_ahead = (200 + 2 * channels - 1) / (2 * channels) * iteration;

  struct state {
    vec<I> sum[VECTORS][4], x[2], weight[ahead + 1];
    upper_half high[2];
    float const *x_at, *next_x, *w, *next_w;
    long left, last, step;
  };

  enum class kind : std::uint8_t {
    low,  ///< of input `index` of an iteration, for 0 of the next one
    high,
    join,
    fetch,  ///< line `index` of weights
    // The loop's own. The last iteration does not advance, so that nothing beyond the user's data is read.
    count,
    mask,
    select_w,
    advance_w,
    select_x,
    advance_x,
    move_x,
    move_w,
  };
  struct companion {
    kind what{};
    int index = 0;
  };
  /// What issues beside the multiply-adds of a step of K that load no weights, in this order.
  struct companions {
    companion all[9 + lines]{};
    int count = 0;
    constexpr void add(kind what, int index = 0) { all[count++] = {what, index}; }
    constexpr explicit companions(int k) {
      if (k == 0) {
        add(kind::count), add(kind::mask), add(kind::select_w), add(kind::advance_w);
        add(kind::low, 1), add(kind::high, 1);
        add(kind::select_x), add(kind::advance_x);
        add(kind::join, 1);
      } else {
        add(kind::low), add(kind::high);
        add(kind::move_x);
        for (int n = 0; n < lines; ++n) add(kind::fetch, n);
        add(kind::join);
        add(kind::move_w);
      }
    }
  };
  template <int K>
  static constexpr companions companions_of{K};

  /// Pair P of the weights from w on, of those of an iteration.
  template <int P>
  AGO_INLINE static void load_pair(state& s, float const* w) {
    load_half<P>(s.weight[P % (ahead + 1)], w);
  }
  template <int C>
  AGO_INLINE static void multiply_last(state& s, float const* w) {
    if constexpr (C % 2 == 0) load_half<C / 2>(s.weight[0], w);
    multiply_lane<C % 2>(s.sum[C / 4][C % 4], s.x[0], s.weight[0]);
  }

  /// Multiply-add number N of an iteration, and what issues beside it.
  template <int N>
  AGO_INLINE static void issue(state& s) {
    constexpr int k = N / channels, c = N % channels, pair = N / 2;
    multiply_lane<c % 2>(s.sum[c / 4][c % 4], s.x[k], s.weight[pair % (ahead + 1)]);
    if constexpr (N % 2 == 0) {
      constexpr int coming = pair + ahead;
      if constexpr (coming < 2 * pairs) load_pair<coming>(s, s.w);
      else load_pair<coming - 2 * pairs>(s, s.next_w);
    } else {
      constexpr int count = companions_of<k>.count;
      [&]<int... B>(std::integer_sequence<int, B...>) AGO_INLINE_LAMBDA {
        (beside < k, B, B * pairs / count == c / 2 > (s), ...);
      }(std::make_integer_sequence<int, count>{});
    }
  }
  template <int K, int B, bool NOW>
  AGO_INLINE static void beside(state& s) {
    constexpr companion a = companions_of<K>.all[B];
    [[maybe_unused]] float const* const x = a.index == 0 ? s.next_x : s.x_at;
    if constexpr (!NOW) return;
    else if constexpr (a.what == kind::low) load_half<4 * a.index / 2>(s.x[a.index], x);
    else if constexpr (a.what == kind::high) load_high<I, a.index>(s.high[a.index], x);
    else if constexpr (a.what == kind::join) join(s.x[a.index], s.high[a.index]);
    else if constexpr (a.what == kind::fetch) fetch_line<I, bytes_ahead + 64 * a.index>(s.w);
    else if constexpr (a.what == kind::count) subtract_one(s.left);
    else if constexpr (a.what == kind::mask) sign_mask(s.last, s.left);
    else if constexpr (a.what == kind::select_w) bits_without(s.step, long(iteration), s.last);
    else if constexpr (a.what == kind::advance_w) add_bytes(s.next_w, s.step);
    else if constexpr (a.what == kind::select_x) bits_without(s.step, 8L * long(sizeof(float)), s.last);
    else if constexpr (a.what == kind::advance_x) add_bytes(s.next_x, s.step);
    else if constexpr (a.what == kind::move_x) copy(s.x_at, s.next_x);
    else if constexpr (a.what == kind::move_w) copy(s.w, s.next_w);
  }
};

/// Computes a tile of four pixels and VECTORS vectors of channels, as compute_tile() does; see transposed_loop for `x`.
template <bool PARTIAL, int VECTORS, epilogue E, isa I>
AGO_INLINE void compute_transposed_tile(finisher<E, I> const& after, float const* shift, float const* x, int depth,
                                        float const* w, tile_target const& t) {
  vec<I> sum[VECTORS][4], acc[4][VECTORS];
  AGO_UNROLL(4)
  for (int p = 0; p < 4; ++p) fetch_line_to_write<I>(t.to + p * t.step);
  using product = transposed_loop<I, VECTORS>;
  product::each_sum([&]<int V, int C>() AGO_INLINE_LAMBDA { sum[V][C] = vec<I>(shift[4 * V + C]); });
  product::accumulate(x, depth, w, sum);
  // Not a loop either.
  auto const turn = [&]<int V>() AGO_INLINE_LAMBDA {
    vec<I> block[4]{sum[V][0], sum[V][1], sum[V][2], sum[V][3]};
    transpose(block);
    acc[0][V] = block[0], acc[1][V] = block[1], acc[2][V] = block[2], acc[3][V] = block[3];
  };
  [&]<int... V>(std::integer_sequence<int, V...>)
      AGO_INLINE_LAMBDA { (turn.template operator()<V>(), ...); }(std::make_integer_sequence<int, VECTORS>{});
  finish<PARTIAL>(after, acc, t);
}

}  // namespace ago::kernel
