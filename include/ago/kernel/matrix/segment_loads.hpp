// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loop of a convolution of few channels for cores that issue in order, see segment_order.
#pragma once

#include <ago/kernel/matrix/segment_order.hpp>
#include <ago/simd/in_order.hpp>
#include <ago/simd/in_order_counters.hpp>

#include <utility>

namespace ago::kernel {

/// Adds `rows` rows of the window, STEPS consecutive floats each, which are `row` floats apart in memory, and their
/// weights `weight_row`. Pixel p starts at a + p * a_stride.
template <int STEPS, isa I, int P, int V>
class segment_loop {
  using order = segment_order<P, V, STEPS>;
  using kind = typename order::kind;
  static constexpr order const& program = segment_order_of<P, V, STEPS>;

 public:
  AGO_INLINE static void accumulate(float const* a, long a_stride, int rows, long row, float const* w, long weight_row,
                                    vec<I> (&acc)[P][V]) {
    state s;
    AGO_UNROLL(32)
    for (int p = 0; p < P; ++p) {
      AGO_UNROLL(32)
      for (int v = 0; v < V; ++v) s.sum[p][v] = acc[p][v];
    }
    s.row = s.next_row = 4 * row;
    s.weight_row = 4 * weight_row;
    pin(s.row);
    pin(s.weight_row);
    s.left = rows - 1;
    AGO_UNROLL(32)
    for (int p = 0; p < P; ++p) {
      s.pixel[p] = a + p * a_stride - row;
      pin(s.pixel[p]);
    }
    s.w = s.next_w = w;
    [&]<int... N>(std::integer_sequence<int, N...>)
        AGO_INLINE_LAMBDA { (before_loop<N>(s), ...); }(std::make_integer_sequence<int, program.count>{});
    AGO_UNROLL(1)
    do {
      [&]<int... N>(std::integer_sequence<int, N...>)
          AGO_INLINE_LAMBDA { (issue<N>(s), ...); }(std::make_integer_sequence<int, order::slots>{});
    } while (s.left >= 0);
    AGO_UNROLL(32)
    for (int p = 0; p < P; ++p) {
      AGO_UNROLL(32)
      for (int v = 0; v < V; ++v) acc[p][v] = s.sum[p][v];
    }
  }

 private:
  struct state {
    vec<I> sum[P][V], weight[order::weights], x[P][order::pairs];
    upper_half high[order::weights];
    float const *pixel[P], *w, *next_w;
    long row, weight_row, next_row, weight_step, left, mask;
  };

  template <int N>
  AGO_INLINE static void before_loop(state& s) {
    if constexpr (program.all[N].next) beside<N>(s);
  }
  template <int N>
  AGO_INLINE static void issue(state& s) {
    constexpr int u = N / P, p = N % P, step = u / V;
    multiply_lane<step % 2>(s.sum[p][u % V], s.weight[u], s.x[p][step / 2]);
    [&]<int... B>(std::integer_sequence<int, B...>) AGO_INLINE_LAMBDA {
      (beside<program.begin[N] + B>(s), ...);
    }(std::make_integer_sequence<int, program.begin[N + 1] - program.begin[N]>{});
  }
  template <int N>
  AGO_INLINE static void beside(state& s) {
    constexpr auto a = program.all[N];
    constexpr int n = a.index, p = a.pixel;
    [[maybe_unused]] float const* const w = a.next ? s.next_w : s.w;
    if constexpr (a.what == kind::high) load_high<I, n>(s.high[n], w);
    else if constexpr (a.what == kind::low) load_half<2 * n>(s.weight[n], w);
    else if constexpr (a.what == kind::join) join(s.weight[n], s.high[n]);
    else if constexpr (a.what == kind::input && n == 0)
      load_input<2>(s.x[p][0], s.pixel[p], a.next ? s.next_row : s.row);
    else if constexpr (a.what == kind::input && 2 * n + 1 < STEPS) load_half<n>(s.x[p][n], s.pixel[p]);
    else if constexpr (a.what == kind::input) load_lane<2 * n>(s.x[p][n], s.pixel[p]);
    else if constexpr (a.what == kind::move) add_bytes(s.pixel[p], s.row);
    else if constexpr (a.what == kind::copy_weights) copy(s.w, s.next_w);
    else if constexpr (a.what == kind::count) subtract_one(s.left);
    else if constexpr (a.what == kind::mask) sign_mask(s.mask, s.left);
    else if constexpr (a.what == kind::select_row) bits_without(s.next_row, s.row, s.mask);
    else if constexpr (a.what == kind::select_weights) bits_without(s.weight_step, s.weight_row, s.mask);
    else if constexpr (a.what == kind::next_weights) add(s.next_w, s.w, s.weight_step);
  }
};

}  // namespace ago::kernel
