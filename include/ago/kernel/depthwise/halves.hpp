// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register tile of a depthwise convolution for cores that issue in order, see depthwise_order.
#pragma once

#include <ago/kernel/bounds.hpp>
#include <ago/kernel/depthwise/in_order.hpp>
#include <ago/kernel/depthwise/order.hpp>
#include <ago/simd/in_order_counters.hpp>

#include <utility>

namespace ago::kernel {

template <kernel_key K, int COLUMNS>
inline constexpr depthwise_shape depthwise_shape_of{K.kernel_h,     K.kernel_w, K.stride_h,        K.stride_w,
                                                    K.tile.vectors, COLUMNS,    bounds_of(K.after)};

/// K.tile.vectors x COLUMNS results, for one vector of channels after another, as depthwise_in_order computes them.
/// What the next vector needs first is loaded before this one is finished.
template <kernel_key K, int COLUMNS>
class depthwise_halves {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I), rows = K.tile.vectors;
  static constexpr depthwise_shape shape = depthwise_shape_of<K, COLUMNS>;
  using order = depthwise_order<shape>;
  using action = depthwise_action;
  using kind = action::kind;
  static constexpr order const& program = depthwise_order_of<shape>;
  static constexpr int in_rows = order::in_rows, in_columns = order::in_columns, weights = in_rows;

 public:
  using area = depthwise_area<in_rows, rows>;

  /// Computes vectors first ... last - 1 of channels.
  [[gnu::noinline]] static void run(area const& t, float const* packed, finisher<K.after, I> const& epilogue, int first,
                                    int last) {
    state s(t, packed, epilogue, first, last);
    before_loop<0, program.cycles>(s);
    AGO_UNROLL(1)
    do {
      [&]<int... G>(std::integer_sequence<int, G...>)
          AGO_INLINE_LAMBDA { (guarded<G>(s), ...); }(std::make_integer_sequence<int, program.outer_count>{});
    } while (s.left >= 0);
  }

 private:
  /// What the loop keeps in registers. Distances in bytes.
  struct state {
    area const& tile;
    finisher<K.after, I> const& after;
    vec<I> sum[rows][COLUMNS], value[order::values], least, most;
    upper_half high[order::values];
    float const *stream[order::streams], *point[order::values];
    float* out[rows];
    long distance[order::group_columns], upper[order::group_columns];
    long side[order::side_columns + 1], upper_side[order::side_columns + 1];
    long step, back, out_pixel, out_back, left, is_last = 0;
    long inside;
    int channel;

    AGO_INLINE state(area const& t, float const* packed, finisher<K.after, I> const& epilogue, int begin, int end)
        : tile(t), after(epilogue), out_pixel(t.out_pixel * 4), left(end - begin - 1), channel(begin * V) {
      long const pixel = t.in_pixel * 4;
      step = order::group_columns * pixel;
      back = 4 * V - (order::groups - 1) * step;
      pin(step);
      pin(back);
      AGO_UNROLL(32)
      for (int r = 0; r < in_rows; ++r) {
        stream[r] = t.in[r] + order::first * t.in_pixel + begin * V - back / 4;
        pin(stream[r]);
      }
      stream[weights] = packed + long(begin - 1) * V * (order::taps + 1);
      out_back = shape.bounds < 0 ? 4 * V : 4 * V - COLUMNS * out_pixel;
      AGO_UNROLL(32)
      for (int y = 0; y < rows; ++y) out[y] = t.out[y] + begin * V - out_back / 4;
      AGO_UNROLL(32)
      for (int c = 1; c < order::group_columns; ++c) {
        distance[c] = c * pixel;
        upper[c] = c * pixel + 8;
        pin(distance[c]);
        pin(upper[c]);
      }
      // A column outside the image is read from the next one inside, and not used.
      AGO_UNROLL(32)
      for (int c = 0; c < in_columns; ++c) {
        if (!order::is_side(c)) continue;
        constexpr int last_group = order::first + (order::groups - 1) * order::group_columns;
        int const begins = COLUMNS > 1 && c >= order::sides ? last_group : order::first, k = order::side(c);
        side[k] = (nearest(t.columns_inside, c) - begins) * pixel;
        upper_side[k] = side[k] + 8;
        pin(side[k]);
        if constexpr (order::has_side_distances) pin(upper_side[k]);
      }
      inside = long(t.rows_inside) | ((1l << (t.out_rows < rows ? t.out_rows : rows)) - 1) << order::result_bit(0) |
               long(t.columns_inside) << order::column_bit(0);
      pin(inside);
      pin(out_pixel);
      pin(out_back);
      if constexpr (shape.bounds > 0 && order::keeps_bounds) {
        least = vec<I>(0.f);
        pin(least);
      }
      if constexpr (shape.bounds > 1 && order::keeps_bounds) {
        most = vec<I>(6.f);
        pin(most);
      }
    }
    /// The column inside the image that is nearest to c, a column at a side. Only a tile of one column may have none.
    AGO_INLINE static int nearest(unsigned inside, int c) {
      if (inside >> c & 1) return c;
      if (COLUMNS > 1) return c < order::sides ? order::first : order::first + order::inner - 1;
      if (inside == 0) return 0;
      int const low = __builtin_ctz(inside), high = 31 - __builtin_clz(inside);
      return c < low ? low : high;
    }
  };

  static constexpr int longest_fold = 32;  ///< Clang's limit is 256

  /// What the first iteration needs of the one before it.
  template <int BEGIN, int END>
  AGO_INLINE static void before_loop(state& s) {
    if constexpr (END - BEGIN > longest_fold) {
      before_loop<BEGIN, BEGIN + longest_fold>(s);
      before_loop<BEGIN + longest_fold, END>(s);
    } else {
      [&]<int... T>(std::integer_sequence<int, T...>)
          AGO_INLINE_LAMBDA { (cycle_before_loop<BEGIN + T>(s), ...); }(std::make_integer_sequence<int, END - BEGIN>{});
    }
  }
  template <int T>
  AGO_INLINE static void cycle_before_loop(state& s) {
    if constexpr (program.main[T].next) act<program.main[T]>(s);
    [&]<int... B>(std::integer_sequence<int, B...>) AGO_INLINE_LAMBDA {
      (
          [&]() AGO_INLINE_LAMBDA {
            constexpr action a = program.beside[program.begin[T] + B];
            if constexpr (a.next) act<a>(s);
          }(),
          ...);
    }(std::make_integer_sequence<int, program.begin[T + 1] - program.begin[T]>{});
  }

  /// One cycle; without its main action, if that is not ALL, unless it belongs to the next iteration.
  template <int T, bool ALL>
  AGO_INLINE static void cycle(state& s) {
    constexpr action a = program.main[T];
    if constexpr (ALL || a.next) act<a>(s);
    [&]<int... B>(std::integer_sequence<int, B...>) AGO_INLINE_LAMBDA {
      (act<program.beside[program.begin[T] + B]>(s), ...);
    }(std::make_integer_sequence<int, program.begin[T + 1] - program.begin[T]>{});
  }
  template <int BEGIN, int END, bool ALL>
  AGO_INLINE static void cycles(state& s) {
    if constexpr (END - BEGIN > longest_fold) {
      cycles<BEGIN, BEGIN + longest_fold, ALL>(s);
      cycles<BEGIN + longest_fold, END, ALL>(s);
    } else {
      [&]<int... T>(std::integer_sequence<int, T...>)
          AGO_INLINE_LAMBDA { (cycle<BEGIN + T, ALL>(s), ...); }(std::make_integer_sequence<int, END - BEGIN>{});
    }
  }

  template <int G>
  AGO_INLINE static void guarded(state& s) {
    constexpr guarded_cycles g = program.outer[G];
    if constexpr (g.bit < 0) {
      all_within<G>(s);
    } else {
      if (is_set<g.bit>(s.inside)) [[likely]]
        all_within<G>(s);
      else cycles<g.begin, g.end, false>(s);
    }
  }
  template <int G>
  AGO_INLINE static void all_within(state& s) {
    [&]<int... N>(std::integer_sequence<int, N...>)
        AGO_INLINE_LAMBDA { (within<G, N>(s), ...); }(std::make_integer_sequence<int, program.inner_count>{});
  }
  template <int G, int N>
  AGO_INLINE static void within(state& s) {
    constexpr guarded_cycles g = program.inner_guard[N];
    if constexpr (g.begin >= program.outer[G].begin && g.end <= program.outer[G].end) {
      if constexpr (g.bit < 0) {
        cycles<g.begin, g.end, true>(s);
      } else {
        if (is_set<g.bit>(s.inside)) [[likely]]
          cycles<g.begin, g.end, true>(s);
        else cycles<g.begin, g.end, false>(s);
      }
    }
  }

  template <action A>
  AGO_INLINE static void act(state& s) {
    [[maybe_unused]] constexpr int y = A.y, z = A.z, v = A.value;
    if constexpr (A.what == kind::start) set(s.sum[y][z], s.value[order::shift]);
    else if constexpr (A.what == kind::multiply) multiply(s.sum[y][z], s.value[A.tap], s.value[v]);
    else if constexpr (A.what == kind::bound && y == 0) set_constant<0>(s.least);
    else if constexpr (A.what == kind::bound) set_constant<6>(s.most);
    else if constexpr (A.what == kind::raise) raise(s.sum[y][z], s.least);
    else if constexpr (A.what == kind::lower) lower(s.sum[y][z], s.most);
    else if constexpr (A.what == kind::store) store_and_advance(s.sum[y][z], s.out[y], s.out_pixel);
    else if constexpr (A.what == kind::finish) finish<y>(s);
    else if constexpr (A.what == kind::point || A.what == kind::low || A.what == kind::high) load<A.what, v>(s);
    else if constexpr (A.what == kind::join) join(s.value[v], s.high[v]);
    else if constexpr (A.what == kind::move && v == weights) add_constant<(order::taps + 1) * 4 * V>(s.stream[v]);
    else if constexpr (A.what == kind::move) add_bytes(s.stream[v], A.tap == 0 ? s.back : s.step);
    else if constexpr (A.what == kind::unmove) subtract_shifted<A.tap>(s.stream[v], s.is_last);
    else if constexpr (A.what == kind::rewind) add_bytes(s.out[y], s.out_back);
    else if constexpr (A.what == kind::fetch) fetch_line<I, program.bytes_ahead() + 64 * v>(s.stream[weights]);
    else if constexpr (A.what == kind::count) subtract_one(s.left);
    else if constexpr (A.what == kind::is_last) sign_bit(s.is_last, s.left);
  }

  template <kind WHAT, int VALUE>
  AGO_INLINE static void load(state& s) {
    if constexpr (!order::is_input(VALUE)) {
      constexpr int tap = VALUE - in_rows * in_columns;
      if constexpr (WHAT == kind::low) load_half<2 * tap>(s.value[VALUE], s.stream[weights]);
      else load_high<I, tap>(s.high[VALUE], s.stream[weights]);
    } else {
      constexpr int r = VALUE / in_columns, c = VALUE % in_columns;
      if constexpr (order::is_side(c)) {
        constexpr int k = order::side(c);
        if constexpr (!order::has_side_distances) {
          if constexpr (WHAT == kind::point) add(s.point[VALUE], s.stream[r], s.side[k]);
          else load_at<WHAT, VALUE>(s, s.point[VALUE]);
        } else {
          load_from<WHAT, VALUE>(s, s.stream[r], s.side[k], s.upper_side[k]);
        }
      } else {
        constexpr int k = (c - order::first) % order::group_columns;
        if constexpr (k == 0) load_at<WHAT, VALUE>(s, s.stream[r]);
        else load_from<WHAT, VALUE>(s, s.stream[r], s.distance[k], s.upper[k]);
      }
    }
  }
  template <kind WHAT, int VALUE>
  AGO_INLINE static void load_at(state& s, float const* p) {
    if constexpr (WHAT == kind::low) load_half<0>(s.value[VALUE], p);
    else load_high<I, 0>(s.high[VALUE], p);
  }
  template <kind WHAT, int VALUE>
  AGO_INLINE static void load_from(state& s, float const* p, long bytes, long upper) {
    if constexpr (WHAT == kind::low) load_input<2>(s.value[VALUE], p, bytes);
    else load_input_general<I>(s.high[VALUE], p, upper);
  }

  /// Any other epilogue.
  template <int Y>
  AGO_INLINE static void finish(state& s) {
    long const pixel = s.tile.pixel + Y * s.tile.width;
    if constexpr (is_lengthy(K.after)) {
      vec<I> results[COLUMNS][1];
      AGO_UNROLL(32)
      for (int z = 0; z < COLUMNS; ++z) results[z][0] = s.sum[Y][z];
      finish_apart(s.after, results, COLUMNS, {s.out[Y], s.tile.out_pixel, pixel, 1, s.channel, V});
    } else {
      float* to = s.out[Y];
      AGO_UNROLL(32)
      for (int z = 0; z < COLUMNS; ++z) s.sum[Y][z] = s.after(s.sum[Y][z], pixel + z, s.channel);
      AGO_UNROLL(32)
      for (int z = 0; z < COLUMNS; ++z) store_and_advance(s.sum[Y][z], to, s.out_pixel);
    }
    if constexpr (Y == rows - 1) s.channel += V;
  }
};

/// The loop of a tile that is scheduled by hand.
template <kernel_key K, int COLUMNS>
constexpr bool has_halves() {
  if constexpr (K.in_order) return has_depthwise_order<depthwise_shape_of<K, COLUMNS>>();
  else return false;
}
template <kernel_key K, int COLUMNS, bool HALVES = has_halves<K, COLUMNS>()>
struct depthwise_loop {
  using type = depthwise_in_order<K, COLUMNS>;
};
template <kernel_key K, int COLUMNS>
struct depthwise_loop<K, COLUMNS, true> {
  using type = depthwise_halves<K, COLUMNS>;
};

}  // namespace ago::kernel
