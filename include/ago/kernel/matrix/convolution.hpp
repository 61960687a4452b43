// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Direct convolution over NHWC: any window, stride, pad, dilation and groups; nothing is copied or padded.
#pragma once

#include <ago/kernel/bounds.hpp>
#include <ago/kernel/matrix/layout.hpp>
#include <ago/kernel/matrix/segment_loads.hpp>
#include <ago/kernel/tile.hpp>
#include <ago/kernel/window_taps.hpp>

namespace ago::kernel {

/// One axis of a convolution, with `extent` input positions.
struct conv_axis {
  int kernel, stride, dilation, pad, extent;

  /// The taps of output position `o` that lie inside the image.
  AGO_INLINE tap_range taps(int o) const { return taps_inside(o * stride - pad, dilation, kernel, extent); }
  /// End of the run of positions, limited to `limit`, that have the same taps as `o`.
  AGO_INLINE int run_end(int o, int limit) const {
    tap_range const range = taps(o);
    int end = o + 1;
    if (range == tap_range{0, kernel}) {
      end = (extent - 1 + pad - (kernel - 1) * dilation) / stride + 1;  // the interior, in one go
    } else {
      while (end < limit && taps(end) == range) ++end;
    }
    return end < limit ? end : limit;
  }
};

/// out[n, y, x, o] = epilogue(shift[o] + sum over taps (ky, kx) inside the image and channels c of the group of
/// in[n, y * stride_h - pad_top + ky * dilation_h, ..., c] * weight[(ky, kx, c), o]). Weights in matrix_layout.
///
/// The output is divided into rectangles whose pixels all have the same taps inside the image: the interior, and the
/// edges and corners around it. Each is computed by register tiles along its rows, or along its columns if it is
/// narrow. Without dilation and gaps, the taps of one input row are contiguous in memory, and form one segment of K.
template <kernel_key K>
struct convolution_kernel {
  static constexpr isa target = K.target;

  static void run(step_data const& s, kernel_memory const& m) {
    AGO_UNROLL(1)
    for (int image = 0; image < s.in.n; ++image) rows(s, m, image, 0, s.out.h);
  }

  /// Output rows first ... last - 1 of one image. The source is kept whole.
  static void rows(step_data const& s, kernel_memory const& m, int image, int first, int last) {
    if constexpr (K.joined_pixels > 1) computed_rows(with_joined_pixels(K, s), m, image, first, last);
    else computed_rows(s, m, image, first, last);
  }

 private:
  static void computed_rows(step_data const& s, kernel_memory const& m, int image, int first, int last) {
    constexpr int panel_channels = K.tile.vectors * lanes(target);
    int const rows = s.block <= 0 ? last - first : s.block, ring = s.destination.ring;
    matrix_layout const layout = layout_of_matrix(K, s);
    int const end = s.channels.last > 0 ? s.channels.last : layout.group_channels;
    int const panels = layout.padded_channels / panel_channels * panel_channels, whole = panels < end ? panels : end;
    AGO_UNROLL(1)
    for (int group = 0; group < s.groups; ++group) {
      AGO_UNROLL(1)
      for (int y = first, y_end; y < last; y = y_end) {
        y_end = y + rows < last ? y + rows : last;
        if (ring && y_end > y - y % ring + ring) y_end = y - y % ring + ring;
        auto const piece = [&](int channel) { return typename shared::piece{image, group, channel, y, y_end}; };
        AGO_UNROLL(1)
        for (int channel = s.channels.first; channel < whole; channel += panel_channels)
          shared::template panel<K.tile.vectors, K.partial && K.tile.vectors_left == 0>(s, m, piece(channel));
        if constexpr (K.tile.vectors_left > 0)
          if (end > panels) shared::template panel<K.tile.vectors_left, K.partial>(s, m, piece(panels));
      }
    }
  }

  /// Kernels that differ only in the number of panels share the code of a panel.
  template <kernel_key>
  friend struct convolution_kernel;
  using shared = convolution_kernel<key_of_panels(K)>;

  /// A work item: VECTORS vectors of output channels of one group, output rows y ... y_end.
  struct piece {
    int image, group, channel, y, y_end;
  };

  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void panel(step_data const& s, kernel_memory const& m, piece const& work) {
    window const& w = s.win;
    conv_axis const vertical{w.kernel_h, w.stride_h, w.dilation_h, w.pad_top, s.in.h};
    conv_axis const horizontal{w.kernel_w, w.stride_w, w.dilation_w, w.pad_left, s.in.w};
    panel_walk<VECTORS, PARTIAL> const walk(s, m, work);
    AGO_UNROLL(1)
    for (int y = work.y; y < work.y_end;) {
      int const y_end = vertical.run_end(y, work.y_end);
      AGO_UNROLL(1)
      for (int x = 0; x < s.out.w;) {
        int const x_end = horizontal.run_end(x, s.out.w);
        walk.rectangle(y, y_end, vertical.taps(y), x, x_end, horizontal.taps(x));
        x = x_end;
      }
      y = y_end;
    }
  }

  /// Addresses of one work item.
  template <int VECTORS, bool PARTIAL>
  class panel_walk {
   public:
    AGO_INLINE panel_walk(step_data const& s, kernel_memory const& m, piece const& work) : s_(s), after_(s, m) {
      matrix_layout const layout = layout_of_matrix(K, s);
      inputs_ = s.in.c / s.groups;
      shift_ = m.weights + s.weights + work.group * layout.group_floats() + work.channel;
      weights_ = shift_ - work.channel + layout.panel_offset(work.channel);
      source_stride_ = s.source.pixel_stride;
      source_ = address(s.source, m) + long(work.image) * s.in.h * s.in.w * source_stride_ + work.group * inputs_;
      channel_ = work.group * layout.group_channels + work.channel;
      // A work item is contiguous in a ring buffer: its first row is in slot y % ring instead of row y of the image.
      long const moved = s.destination.ring ? work.y % s.destination.ring - (long(work.image) * s.out.h + work.y) : 0;
      destination_ = mutable_address(s.destination, m) + channel_ + moved * s.out.w * s.destination.pixel_stride;
      first_index_ = long(work.image) * s.out.h * s.out.w;
      int const rest = layout.group_channels - work.channel - (VECTORS - 1) * lanes(target);
      count_ = rest < lanes(target) ? rest : lanes(target);
      contiguous_ = s.win.dilation_w == 1 && s.source.pixel_stride == inputs_;
    }

    /// Output rows y ... y_end and columns x ... x_end, which all see the taps `ky` x `kx`.
    AGO_INLINE void rectangle(int y, int y_end, tap_range ky, int x, int x_end, tap_range kx) const {
      window const& w = s_.win;
      long const row = long(s_.in.w) * source_stride_;
      long const step_x = w.stride_w * source_stride_, step_y = w.stride_h * row;
      bool const down = x_end - x < K.tile.pixels && y_end - y > x_end - x;
      int const length = down ? y_end - y : x_end - x, lines = down ? x_end - x : y_end - y;
      long const index_step = down ? s_.out.w : 1, index_across = down ? 1 : s_.out.w;
      long const along = down ? step_y : step_x, across = down ? step_x : step_y;

      taps t;
      t.rows = ky.count();
      t.row = w.dilation_h * row;
      t.segments = contiguous_ ? 1 : kx.count();
      t.segment = w.dilation_w * source_stride_;
      t.depth = contiguous_ ? kx.count() * inputs_ : inputs_;
      t.weight_row = long(w.kernel_w) * inputs_ * VECTORS * lanes(target);
      t.weights = weights_ + ky.first * t.weight_row + long(kx.first) * inputs_ * VECTORS * lanes(target);
      float const* a = source_ + (y * w.stride_h - w.pad_top + ky.first * w.dilation_h) * row +
                       (x * w.stride_w - w.pad_left + kx.first * w.dilation_w) * source_stride_;
      long index = first_index_ + long(y) * s_.out.w + x;
      AGO_UNROLL(1)
      for (int line = 0; line < lines; ++line, a += across, index += index_across) {
        int i = 0;
        tiles<K.tile.pixels>(i, length, t, a, along, index, index_step);
        if constexpr (K.tile.pixels_left > 1) tiles<K.tile.pixels_left>(i, length, t, a, along, index, index_step);
        if constexpr (K.tile.pixels > 1) tiles<1>(i, length, t, a, along, index, index_step);
      }
    }

   private:
    /// The taps that a rectangle sees: segments of `depth` floats, with the strides of image and weights.
    struct taps {
      int rows, segments, depth;
      long row, segment, weight_row;
      float const* weights;
    };

    /// Is there a loop for rows of the window of K.window_row floats?
    template <int PIXELS>
    static constexpr bool has_rows_of_window() {
      if constexpr (K.in_order) return has_segment_order<PIXELS, VECTORS, K.window_row>();
      else return K.window_row > 0;
    }

    static constexpr int tiles_ahead = 2;  ///< prefetch distance of the input; 1 to 3 are equally good in networks

    /// Computes as many whole tiles of a line as fit, from pixel i on.
    template <int PIXELS>
    AGO_INLINE void tiles(int& i, int length, taps const& t, float const* a, long step, long index,
                          long index_step) const {
      if constexpr (has_rows_of_window<PIXELS>() && bounds_of(K.after) >= 0 && !PARTIAL)
        if (t.depth == K.window_row && t.segments == 1 && t.rows > 0 && i + PIXELS <= length) {
          i = rows_of_window<PIXELS>(i, length, t, a, step, index, index_step);
          return;
        }
      AGO_UNROLL(1)
      for (; i + PIXELS <= length; i += PIXELS) {
        vec<target> acc[PIXELS][VECTORS];
        auto const to = [&]() AGO_INLINE_LAMBDA {
          long const pixel = index + i * index_step, stride = s_.destination.pixel_stride;
          return tile_target{destination_ + pixel * stride, index_step * stride, pixel, index_step, channel_, count_};
        };
        if constexpr (is_scheduled_by_hand(target)) start<form_of(K)>(shift_, to(), a + (i + PIXELS) * step, step, acc);
        else start(shift_, acc);
        float const *in = a + i * step, *weights = t.weights;
        AGO_UNROLL(1)
        for (int ky = 0; ky < t.rows; ++ky, in += t.row, weights += t.weight_row) {
          AGO_UNROLL(1)
          for (int k = 0; k < t.segments; ++k) {
            float const* const segment = in + k * t.segment;
            accumulate<form_of(K)>(segment, step, t.depth, weights + long(k) * t.depth * VECTORS * lanes(target), acc,
                                   segment + tiles_ahead * PIXELS * step);
          }
        }
        finish<PARTIAL>(after_, acc, to());
      }
    }

    /// The same where all steps of K of a row of the window are one iteration; returns the first pixel that is left. A
    /// function of its own, because the loop needs all registers.
    template <int PIXELS>
    [[gnu::noinline]] int rows_of_window(int i, int length, taps const& t, float const* a, long step, long index,
                                         long index_step) const {
      long const stride = s_.destination.pixel_stride;
      a += i * step;
      tile_target to{destination_ + (index + i * index_step) * stride, index_step * stride, 0, 0, 0, 0};
      AGO_UNROLL(1)
      for (; i + PIXELS <= length; i += PIXELS) {
        vec<target> acc[PIXELS][VECTORS];
        start<form_of(K)>(shift_, to, a + PIXELS * step, step, acc);
        if constexpr (K.in_order) {
          segment_loop<K.window_row, target, PIXELS, VECTORS>::accumulate(a, step, t.rows, t.row, t.weights,
                                                                          t.weight_row, acc);
        } else {
          float const *in = a, *weights = t.weights;
          AGO_UNROLL(1)
          for (int ky = 0; ky < t.rows; ++ky, in += t.row, weights += t.weight_row)
            simd::accumulate_known<K.window_row>(in, step, weights, acc);
        }
        finish_bounded<bounds_of(K.after)>(acc, to.to, to.step);
        a += PIXELS * step;
        to.to += PIXELS * to.step;
      }
      return i;
    }

    step_data const& s_;
    finisher<K.after, target> after_;
    float const *source_, *weights_, *shift_;
    float* destination_;
    long source_stride_, first_index_;
    int inputs_, channel_, count_;
    bool contiguous_;
  };
};

}  // namespace ago::kernel
