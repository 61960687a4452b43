// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A depthwise convolution and the fold of its result, by strips of one register of channels: a window moves along two
// rows of results in registers, and results are folded while they are in registers, and stored. Elementwise operators
// before it are applied to what enters the window. (By rows of all channels, each pixel goes through L2 three times.)
#pragma once

#include <ago/kernel/made_pixels.hpp>
#include <ago/kernel/nest/register_sums.hpp>
#include <ago/simd/stream.hpp>
#include <ago/simd/unrolled.hpp>

#include <cstdint>

namespace ago::kernel {

/// Is this [elementwise operators,] a depthwise convolution and the nest that folds its result, and do windows fit in
/// registers, of whole lines? Shorter ones, and 16 of them, take longer than rows of all channels (AVX2 on Zen 5 1.4 to
/// 1.7 times; on a Cortex-A76, a network with two such steps 1.04 to 1.12 times the core cycles).
constexpr bool folds_windows(fused_key const& f) {
  kernel_key const &d = f.part[f.parts - 2], &nest = f.part[f.parts - 1];
  if (f.parts > 3 || d.what != structure::depthwise || d.kernel_h == 0 || nest.what != structure::nest) return false;
  if (f.parts == 3 && f.part[0].what != structure::elementwise) return false;
  return vector_registers(d.target) == 32 && lanes(d.target) == line_floats && d.kernel_h >= d.stride_h &&
         d.kernel_w >= d.stride_w && d.kernel_h * d.kernel_w <= 9 &&
         folds_registers(layout_of_nest(*nest.described, d.target, true), *nest.described, nest.folded_operand, true);
}

template <fused_key F>
class window_fold {
  static constexpr kernel_key D = F.part[F.parts - 2], N = F.part[F.parts - 1];
  static constexpr isa I = D.target;
  static constexpr int V = lanes(I), kh = D.kernel_h, kw = D.kernel_w, sh = D.stride_h, sw = D.stride_w;
  static constexpr int rows = 2;  ///< of results at a time
  static constexpr int window_rows(int results) { return (results - 1) * sh + kh; }
  static constexpr bool makes_input = F.parts == 3;
  static constexpr epilogue made = makes_input ? F.part[0].after : epilogue{};
  /// A copy: clang (at least 14 and 19) misreads a part of a template argument at run time.
  static constexpr expression::index_expression const* described = N.described;
  static constexpr nest_layout const& L = layout_of_some_pixels<N>;
  static constexpr expression::extents result = described->operands[N.folded_operand];
  static constexpr int height = result.of[1], width = result.of[2], channels = result.of[3];

 public:
  /// `first`: data of the parts, one after another.
  static void run(step_data const& first, kernel_memory const& m) {
    step_data const &d = (&first)[F.parts - 2], &nest = (&first)[F.parts - 1];
    pass const p{first,
                 d,
                 nest,
                 m,
                 d.in.h,
                 d.in.w,
                 -d.win.pad_top,
                 -d.win.pad_left,
                 address(first.source, m),
                 mutable_address(d.destination, m),
                 first.source.pixel_stride,
                 d.destination.pixel_stride};
    for_channels([&]<int VALID>(int c) AGO_INLINE_LAMBDA { pixels_that_folds_know<VALID>(p, c); });
    register_sums<N>::clear(nest, m);
    for (int n = 0; n < result.of[0]; ++n)
      for (int y = 0; y < height; y += rows_at_a_time) {
        int const end = y + rows_at_a_time < height ? y + rows_at_a_time : height;
        for_channels([&]<int VALID>(int c) AGO_INLINE_LAMBDA { strip<VALID>(p, n, y, end, c); });
      }
    if constexpr (streams) finish_streams();
  }

 private:
  /// So many that loading and storing the sums takes little time beside.
  static constexpr int rows_at_a_time = ((64 + width - 1) / width + rows - 1) / rows * rows;
  /// Is the result stored past the caches? Only whole lines.
  static constexpr bool streams = N.made_operand >= 0 && channels % V == 0;
  /// Do results exceed L1? See window_gradients_kernel.
  static constexpr bool fetches = 4 * long(result.count()) > device{}.l1_bytes;

  /// What is computed from, and where: the same for all strips.
  struct pass {
    step_data const &source, &window, &nest;  ///< data of the parts, the first of which reads the input
    kernel_memory const& m;
    int in_height, in_width, top, left;  ///< of the input, whose row `top` and column `left` the first window begins at
    float const* from;
    float* to;
    long step, result_step;  ///< floats between pixels
    template <int VALID>
    AGO_INLINE made_pixels<made, I, VALID> input(int n, int channel) const {
      return {source, m, from, step, n, channel};
    }
  };

  /// The weights of a register of channels, and what is added.
  struct weights {
    vec<I> of[kh * kw], shift;
    AGO_INLINE weights(pass const& p, int channel) {
      float const* const packed = p.m.weights + p.window.weights + long(channel) * (kh * kw + 1);
      AGO_UNROLL(32)
      for (int t = 0; t < kh * kw; ++t) of[t] = vec<I>::load(packed + t * V);
      shift = vec<I>::load(packed + kh * kw * V);
    }
  };

  static void for_channels(auto const& compute) {
    AGO_UNROLL(1)
    for (int c = 0; c + V <= channels; c += V) compute.template operator()<V>(c);
    if constexpr (channels % V > 0) compute.template operator()<channels % V>(channels / V * V);
  }

  /// Results that folds read elsewhere, too, such as the one around which moments are summed up, before all others.
  template <int VALID>
  static void pixels_that_folds_know(pass const& p, int channel) {
    unrolled<described->body.access_count>([&]<int A>() AGO_INLINE_LAMBDA {
      if constexpr (described->body.accesses[A].operand == N.folded_operand && !L.moves_with_folds(A))
        pixel<VALID>(p, L.place[A].constant / channels, channel);
    });
  }
  template <int VALID>
  static void pixel(pass const& p, long at, int channel) {
    int const n = int(at / (height * width)), y = int(at / width % height) * sh + p.top,
              x = int(at % width) * sw + p.left;
    auto const input = p.template input<VALID>(n, channel);
    weights const w(p, channel);
    vec<I> sum = w.shift;
    for (int t = 0; t < kh * kw; ++t) {
      int const row = y + t / kw, column = x + t % kw;
      if (row >= 0 && row < p.in_height && column >= 0 && column < p.in_width)
        sum = fma(input.at((long(n) * p.in_height + row) * p.in_width + column), w.of[t], sum);
    }
    finisher<D.after, I> finish(p.window, p.m);
    finish.image(p.window, p.m, n);
    store_lanes(finish(sum, at, channel, VALID), p.to + at * p.result_step + channel, VALID);
  }

  /// Rows first ... last - 1 of results, of one register of channels.
  template <int VALID>
  [[gnu::noinline]] static void strip(pass const& given, int n, int first, int last, int channel) {
    pass const p = given;
    register_sums<N> fold;
    fold.template begin<VALID>(p.nest, p.m, channel);
    strip_state<VALID> s{
        p.template input<VALID>(n, channel), {p, channel}, {p.window, p.m}, channel, next_strip(p, channel)};
    s.finish.image(p.window, p.m, n);
    int y = first;
    AGO_UNROLL(1)
    for (; y + rows <= last; y += rows) {
      int const top = y * sh + p.top;
      if (top >= 0 && top + window_rows(rows) <= p.in_height) row<rows, true, VALID>(p, n, y, y == first, s, fold);
      else row<rows, false, VALID>(p, n, y, y == first, s, fold);
    }
    if constexpr (height % rows > 0)
      if (y < last) row<1, false, VALID>(p, n, y, y == first, s, fold);
    fold.template end<VALID>();
  }

  /// How far the lines of the next strip are from those of this one.
  struct next_strip {
    long input = line_floats, result = line_floats;
    AGO_INLINE next_strip(pass const& p, int channel) {
      if (channel + V < channels) return;
      input = long(rows_at_a_time) * sh * p.in_width * p.step - channel;
      result = long(rows_at_a_time) * width * p.result_step - channel;
    }
  };
  template <int VALID>
  struct strip_state {
    made_pixels<made, I, VALID> input;
    weights w;
    finisher<D.after, I> finish;
    int channel;
    next_strip next;
  };

  /// R rows of results. `Inner`: all rows that are read are inside the input.
  template <int R, bool Inner, int VALID>
  AGO_INLINE static void row(pass const& p, int n, int y, bool is_first, strip_state<VALID> const& s,
                             register_sums<N>& fold) {
    constexpr int read = window_rows(R);
    int const top = y * sh + p.top;
    long const first = (long(n) * p.in_height + top) * p.in_width, result = (long(n) * height + y) * width;
    float const* from[read];
    float* to[R];
    auto const is_inside = [&](int r) AGO_INLINE_LAMBDA { return Inner || (top + r >= 0 && top + r < p.in_height); };
    AGO_UNROLL(16)
    for (int r = 0; r < read; ++r) from[r] = is_inside(r) ? s.input.address(first + long(r) * p.in_width) : p.from;
    AGO_UNROLL(8)
    for (int r = 0; r < R; ++r) to[r] = p.to + (result + long(r) * width) * p.result_step + s.channel;

    vec<I> window[read][kw];
    auto const enter = [&]<int C>(int column) AGO_INLINE_LAMBDA {
      AGO_UNROLL(16)
      for (int r = 0; r < read; ++r) {
        if (!is_inside(r)) {
          window[r][C] = vec<I>(0.f);
          continue;
        }
        float const* const at = from[r] + column * p.step;
        window[r][C] = s.input.at(first + long(r) * p.in_width + column, at);
        if constexpr (fetches)
          if (is_first || r >= read - R * sh) __builtin_prefetch(at + s.next.input, 0, 2);
      }
    };
    auto const enter_if_inside = [&]<int C>(int column) AGO_INLINE_LAMBDA {
      if (column >= 0 && column < p.in_width) return enter.template operator()<C>(column);
      AGO_UNROLL(16)
      for (int r = 0; r < read; ++r) window[r][C] = vec<I>(0.f);
    };
    auto const move = [&]() AGO_INLINE_LAMBDA {
      AGO_UNROLL(16)
      for (int r = 0; r < read; ++r) {
        AGO_UNROLL(8)
        for (int c = 0; c + sw < kw; ++c) window[r][c] = window[r][c + sw];
      }
    };
    auto const compute = [&](int x) AGO_INLINE_LAMBDA {
      unrolled<R>([&]<int Y>() AGO_INLINE_LAMBDA {
        vec<I> sum = s.w.shift;
        unrolled<kh * kw>([&]<int T>()
                              AGO_INLINE_LAMBDA { sum = fma(window[Y * sh + T / kw][T % kw], s.w.of[T], sum); });
        long const pixel = result + Y * width + x;
        sum = s.finish(sum, pixel, s.channel, VALID);
        fold.template add<VALID>(int(pixel), sum);
        store<VALID>(sum, to[Y], s.next);
        to[Y] += p.result_step;
      });
    };

    // Columns kw - sw ... kw - 1 enter the window, as seen from its first one.
    unrolled<kw - sw>([&]<int C>() AGO_INLINE_LAMBDA { enter_if_inside.template operator()<C + sw>(p.left + C); });
    int const left = p.left + kw - sw, inner = left < 0 ? (sw - 1 - left) / sw : 0,
              outer = p.in_width < left + sw ? 0 : (p.in_width - left - sw) / sw + 1,
              end = outer < width ? outer : width;
    for (int x = 0; x < width;) {
      if (Inner && x >= inner) {  // twice the code, which rows at a border are not worth
        AGO_UNROLL(1)
        for (; x < end; ++x) {
          move();
          unrolled<sw>([&]<int C>() AGO_INLINE_LAMBDA { enter.template operator()<kw - sw + C>(left + x * sw + C); });
          compute(x);
        }
        if (x == width) return;
      }
      move();
      unrolled<sw>([&]<int C>()
                       AGO_INLINE_LAMBDA { enter_if_inside.template operator()<kw - sw + C>(left + x * sw + C); });
      compute(x++);
    }
  }
  template <int VALID>
  AGO_INLINE static void store(vec<I> x, float* to, next_strip const& next) {
    if constexpr (streams) {
      if (reinterpret_cast<std::uintptr_t>(to) % (V * sizeof(float)) == 0) return x.stream(to);
    } else if constexpr (fetches) {
      __builtin_prefetch(to + next.result, 1, 2);
    }
    store_lanes(x, to, VALID);
  }
};

}  // namespace ago::kernel
