// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two gradients of a convolution with a window for each channel, and the fold of the first one, in one pass: a
// pixel of the convolution's input is computed once, in a register, and what the window reads of the result's gradient
// there is multiplied by it, for the weights, and by the weights, for the input. That element of the gradient is folded
// while it is in a register, and stored. (Two products, each with a padded copy of one of its factors, and the nest
// take 1.5 to 2 times as long: mostly for passes through L1 and L2.)
#pragma once

#include <ago/kernel/contraction/window_gradients_schedule.hpp>
#include <ago/kernel/made_pixels.hpp>
#include <ago/kernel/nest/register_sums.hpp>
#include <ago/plan/fold_schedule.hpp>
#include <ago/simd/stream.hpp>
#include <ago/simd/transpose.hpp>
#include <ago/simd/unrolled.hpp>

#include <cstdint>

namespace ago::kernel {

/// If gradients_in_one_pass(K).
template <one_pass_key K>
class window_gradients_kernel {
  static constexpr kernel_key nest_key = K.fold;
  static constexpr isa I = nest_key.target;
  static constexpr int V = lanes(I);
  static constexpr window_gradients G = gradients_in_one_pass(K);
  static_assert(G.are_there(), "one pass does not compute these two steps");

 public:
  /// `first`: data of the parts of the first step, which those of the second one follow.
  static void run(step_data const& first, kernel_memory const& m) {
    step_data const *const image = &first, *const nest = image + 1, *const sums = nest + 1 + makes_input;
    float* const scratch = m.arena + image->scratch;
    pass const p{*nest,
                 nest[1],
                 m,
                 operand_of_expression(*image, m, G.result_operand, -1),
                 input_of(nest[1], m),
                 scratch,
                 scratch + G.weights_at(I),
                 scratch + G.sums_at(I),
                 mutable_address(image->destination, m)};
    std::fill_n(scratch, G.scratch_floats(I), 0.f);
    float const* const weights = operand_of_expression(*image, m, G.weights_operand, -1);
    transpose<I>(weights, G.weight_step, p.weights, channels, G.weight_step, G.channels);
    register_sums<nest_key>::clear(*nest, m);
    for (int n = 0; n < G.images; ++n)
      for (int y = 0; y < G.height; y += rows_at_a_time) {
        int const end = y + rows_at_a_time < G.height ? y + rows_at_a_time : G.height;
        AGO_UNROLL(1)
        for (int c = 0; c + V <= G.channels; c += V) strip<V>(p, n, y, end, c);
        if constexpr (G.channels % V > 0) strip<G.channels % V>(p, n, y, end, G.channels / V * V);
      }
    transpose<I>(p.sums, channels, mutable_address(sums->destination, m), G.sum_step, G.channels, G.sum_step);
    if constexpr (streams) finish_streams();
  }

 private:
  static constexpr long channels = G.padded_channels(I);
  static constexpr int window_rows = G.of_rows.count(), window_columns = G.of_columns.count();
  /// So many that loading and storing the sums takes little time beside.
  static constexpr int rows_at_a_time = (64 + G.width - 1) / G.width;
  static constexpr bool makes_input = K.sums.made_operand >= 0;
  /// Is the gradient of the input stored past the caches? Only whole lines.
  static constexpr bool streams = nest_key.made_operand >= 0 && V == line_floats && G.channels % line_floats == 0;
  /// Do values exceed L1? Strips go through them one register of channels after the other, which the hardware does not
  /// foresee: what the next strip reads, or writes, is prefetched.
  static constexpr bool fetches(long floats) { return 4 * floats > device{}.l1_bytes; }
  static constexpr long of_row = long(G.stride_h) * G.width * G.stride_w;  ///< pixels of a row of blocks
  static constexpr bool fetches_input = fetches(G.images * G.height * of_row * G.channels),
                        fetches_result = fetches(long(G.images) * G.rows * G.columns * G.channels);

  /// How far the lines of the next strip are from those of this one, which has these channels.
  struct next_strip {
    bool is_fetched;  ///< by this one: strips may be shorter than lines
    long input, result;
    AGO_INLINE explicit next_strip(int channel)
        : is_fetched(V == line_floats || channel % line_floats == 0),
          input(channel + line_floats < G.channels ? line_floats : rows_at_a_time * of_row * G.channels - channel),
          result(channel + line_floats < G.channels ? line_floats
                                                    : long(rows_at_a_time) * G.columns * G.channels - channel) {}
  };

  /// What is computed from, and where: the same for all strips.
  struct pass {
    step_data const &nest, &source;  ///< data of the fold, and of what makes the input or, without such, of the sums
    kernel_memory const& m;
    float const *result, *input, *zeros;
    float *weights, *sums, *to;
  };
  static float const* input_of(step_data const& s, kernel_memory const& m) {
    if constexpr (makes_input) return address(s.source, m);
    else return operand_of_expression(s, m, G.input_operand, -1);
  }

  /// Pixels of the input.
  template <int VALID>
  using input_pixels = made_pixels<K.made, I, VALID>;
  template <int VALID>
  AGO_INLINE static input_pixels<VALID> input_at(pass const& p, int n, int channel) {
    return {p.source, p.m, p.input, makes_input ? p.source.source.pixel_stride : long(G.channels), n, channel};
  }

  using window = vec<I>[window_rows][window_columns];

  /// The pixels of rows first ... last - 1 of blocks, of one register of channels.
  template <int VALID>
  [[gnu::noinline]] static void strip(pass const& given, int n, int first, int last, int channel) {
    pass const p = given;
    vec<I> sum[G.count];
    AGO_UNROLL(16)
    for (int t = 0; t < G.count; ++t) sum[t] = vec<I>(0.f);
    register_sums<nest_key> fold;
    fold.template begin<VALID>(p.nest, p.m, channel);
    input_pixels<VALID> const input = input_at<VALID>(p, n, channel);
    next_strip const next(channel);
    AGO_UNROLL(1)
    for (int y = first; y < last; ++y) row<VALID>(p, n, y, y == first, channel, next, input, sum, fold);
    fold.template end<VALID>();
    AGO_UNROLL(16)
    for (int t = 0; t < G.count; ++t) {
      float* const s = p.sums + G.taps[t].sum * channels + channel;
      (vec<I>::load(s) + sum[t]).store(s);
    }
  }

  /// A row of blocks.
  template <int VALID>
  AGO_INLINE static void row(pass const& p, int n, int y, bool is_first, int channel, next_strip const& next,
                             input_pixels<VALID> const& input, vec<I> (&sum)[G.count], register_sums<nest_key>& fold) {
    float const* from[window_rows];
    AGO_UNROLL(8)
    for (int r = 0; r < window_rows; ++r) {
      int const at = y + G.of_rows.first + r;
      bool const inside = at >= 0 && at < G.rows;
      from[r] = inside ? p.result + (long(n) * G.rows + at) * G.columns * G.channels + channel : p.zeros;
    }
    window w;
    unrolled<window_columns>([&]<int C>() AGO_INLINE_LAMBDA {
      constexpr int column = G.of_columns.first + C - 1;  // all move by one before they are used
      AGO_UNROLL(8)
      for (int r = 0; r < window_rows; ++r)
        w[r][C] = C > 0 && column >= 0 && column < G.columns ? load_lanes<I>(from[r] + long(column) * G.channels, VALID)
                                                             : vec<I>(0.f);
    });
    constexpr int inside = G.columns - G.of_columns.last, loads = inside < 0 ? 0 : inside < G.width ? inside : G.width;
    int x = 0;
    AGO_UNROLL(1)
    for (; x < loads; ++x) {
      move(w);
      AGO_UNROLL(8)
      for (int r = 0; r < window_rows; ++r) {
        float const* const read = from[r] + long(x + G.of_columns.last) * G.channels;
        w[r][window_columns - 1] = load_lanes<I>(read, VALID);
        if constexpr (fetches_result)
          if (next.is_fetched && (r + 1 == window_rows || is_first)) __builtin_prefetch(read + next.result, 0, 2);
      }
      block<VALID>(p, n, y, x, channel, next, input, w, sum, fold);
    }
    AGO_UNROLL(1)
    for (; x < G.width; ++x) {
      move(w);
      AGO_UNROLL(8)
      for (int r = 0; r < window_rows; ++r) w[r][window_columns - 1] = vec<I>(0.f);
      block<VALID>(p, n, y, x, channel, next, input, w, sum, fold);
    }
  }
  AGO_INLINE static void move(window& w) {
    AGO_UNROLL(8)
    for (int r = 0; r < window_rows; ++r) {
      AGO_UNROLL(8)
      for (int c = 0; c + 1 < window_columns; ++c) w[r][c] = w[r][c + 1];
    }
  }

  /// The pixels of a block.
  template <int VALID>
  AGO_INLINE static void block(pass const& p, int n, int y, int x, int channel, next_strip const& next,
                               input_pixels<VALID> const& input, window const& w, vec<I> (&sum)[G.count],
                               register_sums<nest_key>& fold) {
    constexpr long wide = G.width * G.stride_w;
    unrolled<G.stride_h * G.stride_w>([&]<int P>() AGO_INLINE_LAMBDA {
      constexpr int phase_row = P / G.stride_w, phase_column = P % G.stride_w;
      long const pixel = (long(n) * G.height + y) * of_row + phase_row * wide + x * G.stride_w + phase_column;
      float* const to = p.to + pixel * G.channels + channel;
      vec<I> const made = input.at(pixel);
      if (next.is_fetched) {
        if constexpr (fetches_input) __builtin_prefetch(input.address(pixel) + next.input, 0, 2);
        if constexpr (fetches_input && !streams) __builtin_prefetch(to + next.input, 1, 2);
      }
      vec<I> image(0.f);
      unrolled<G.count>([&]<int T>() AGO_INLINE_LAMBDA {
        constexpr window_tap t = G.taps[T];
        if constexpr (t.phase_row == phase_row && t.phase_column == phase_column) {
          vec<I> const read = w[t.row - G.of_rows.first][t.column - G.of_columns.first];
          image = fma(vec<I>::load(p.weights + t.weight * channels + channel), read, image);
          sum[T] = fma(made, read, sum[T]);
        }
      });
      fold.template add<VALID>(int(pixel), image);
      if constexpr (streams && VALID == V)
        if (reinterpret_cast<std::uintptr_t>(to) % (V * sizeof(float)) == 0) return image.stream(to);
      store_lanes(image, to, VALID);
    });
  }
};

}  // namespace ago::kernel
