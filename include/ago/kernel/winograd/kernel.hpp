// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Winograd convolution over NHWC: 3x3 with stride 1, with a fraction of the multiplications.
#pragma once

#include <ago/kernel/tile.hpp>
#include <ago/kernel/window_taps.hpp>
#include <ago/kernel/winograd/in_order.hpp>
#include <ago/kernel/winograd/layout.hpp>

namespace ago::kernel {

/// Iterates over the tiles of all images, row by row, and over where their first elements are in memory: their patches,
/// or their outputs. Only adds, so that addresses to prefetch are early.
template <class T>
class tile_walk {
 public:
  /// `origin`: where tile 0 is; of images with `in_image` rows of `in_row` pixels.
  AGO_INLINE tile_walk(winograd_layout const& l, int tile, T* origin, int in_image, int in_row, long pixel)
      : size_(l.tile), height_(l.rows * l.tile), width_(l.columns * l.tile), image_(tile / l.columns / l.rows),
        y_(tile / l.columns % l.rows * l.tile), x_(tile % l.columns * l.tile), step_(l.tile * pixel),
        row_end_((long(l.tile) * in_row - width_) * pixel), image_end_((long(in_image) - height_) * in_row * pixel),
        at_(origin + ((long(image_) * in_image + y_) * in_row + x_) * pixel) {}
  AGO_INLINE int image() const { return image_; }
  /// The first output of the tile.
  AGO_INLINE int y() const { return y_; }
  AGO_INLINE int x() const { return x_; }
  AGO_INLINE T* at() const { return at_; }
  AGO_INLINE void operator++() {
    at_ += step_;
    x_ += size_;
    if (x_ < width_) return;
    x_ = 0;
    at_ += row_end_;
    y_ += size_;
    if (y_ < height_) return;
    y_ = 0;
    at_ += image_end_;
    ++image_;
  }

 private:
  int size_, height_, width_, image_, y_, x_;
  long step_, row_end_, image_end_;
  T* at_;
};

/// A copy of a patch that is partly outside the image, or whose channels do not fill a register, padded with zeros.
template <int SIZE, isa I>
class padded_patch {
 public:
  static constexpr int pixel = lanes(I), row = SIZE * pixel;

  /// `rows` x `columns` of the patch lie inside the image.
  AGO_INLINE padded_patch(tap_range rows, tap_range columns) : rows_(rows), columns_(columns) {
    if (rows.count() == SIZE && columns.count() == SIZE) return;
    AGO_UNROLL(1)
    for (int i = 0; i < SIZE * SIZE; ++i) vec<I>(0.f).store(values_ + i * pixel);
  }
  /// `from`: element (0, 0) of the patch, of which `count` channels are valid.
  AGO_INLINE float const* copy(float const* from, long from_row, long from_pixel, int count) {
    AGO_UNROLL(1)
    for (int y = rows_.first; y < rows_.last; ++y) {
      AGO_UNROLL(1)
      for (int x = columns_.first; x < columns_.last; ++x) {
        float const* const at = from + y * from_row + x * from_pixel;
        (count == pixel ? vec<I>::load(at) : vec<I>::load(at, count)).store(values_ + y * row + x * pixel);
      }
    }
    return values_;
  }

 private:
  alignas(64) float values_[SIZE * SIZE * pixel];
  tap_range rows_, columns_;
};

/// Transforms `count` patches.
template <int TILE, isa I>
[[gnu::noinline]] void transform_inputs(step_data const& s, winograd_layout const& layout,
                                        tile_walk<float const> const& first, int count, float* to) {
  using patch = padded_patch<winograd_scheme<TILE>::patch, I>;
  constexpr int size = winograd_scheme<TILE>::patch;
  long const pixel = s.source.pixel_stride, row = s.in.w * pixel, stride = layout.point_stride();
  tile_walk<float const> at = first;
  AGO_UNROLL(1)
  for (int t = 0; t < count; ++t, ++at, to += layout.padded_depth) {
    int const top = at.y() - s.win.pad_top, left = at.x() - s.win.pad_left;
    tap_range const rows = taps_inside(top, 1, size, s.in.h), columns = taps_inside(left, 1, size, s.in.w);
    bool const inside = rows.count() == size && columns.count() == size;
    float const* const from = at.at();
    patch copied(rows, columns);
    AGO_UNROLL(1)
    for (int c = 0; c < layout.depth; c += lanes(I)) {
      int const rest = layout.depth - c;
      bool const direct = inside && rest >= lanes(I);
      // A patch and its points are more streams than Arm's prefetchers follow: ask for the next tile's new columns, a
      // line for four vectors of channels, and for where the points of the next line of channels are written.
      if constexpr (is_scheduled_by_hand(I)) {
        float const* const next = from + size * pixel + (size - 2) * c;
        AGO_UNROLL(8)
        for (int y = 0; y < size; ++y) __builtin_prefetch(next + y * row);
        if (c % line_floats == 0) {
          AGO_UNROLL(8)
          for (int p = 0; p < size * size; ++p) __builtin_prefetch(to + c + line_floats + p * stride, 1);
        }
      }
      float const* const values =
          direct ? from + c : copied.copy(from + c, row, pixel, rest < lanes(I) ? rest : lanes(I));
      transform_patch<TILE, I>(values, direct ? row : patch::row, direct ? pixel : patch::pixel, to + c, stride);
    }
  }
}

/// Computes the same as convolution_kernel, for 3x3 windows with stride 1 and any pads, without dilation and groups.
/// Weights and scratch in winograd_layout. Expects tile.pixels_left == tiles % tile.pixels, a portion of whole register
/// tiles except for the last, channels of whole panels except for the last, and vectors_left as elsewhere.
///
/// Error, as a share of the largest output: at most 2e-6 with F(2x2, 3x3), 1e-5 with F(4x4, 3x3). Measured against
/// double with uniformly distributed inputs and weights, images of up to 56x56, up to 512 input channels: 8e-7 and
/// 3e-6; for the direct convolution 2e-6.
///
/// For each block of tiles, the inputs are transformed. Then, for each panel of output channels, every point is a
/// matrix product of the block's tiles, and the results are transformed and finished; or, with points_first, all
/// products of all panels are computed, one point after another, before their results are. All weights are read once
/// per block.
template <kernel_key K>
struct winograd_kernel {
  static constexpr isa target = K.target;

  static void run(step_data const& s, kernel_memory const& m) { run(s, m, m.arena + s.scratch); }

  static void run(step_data const& s, kernel_memory const& m, float* scratch) {
    winograd_layout const layout = layout_of_winograd(K, s);
    int const end = s.portion.last > 0 ? s.portion.last : layout.tiles;
    long const pixel = s.source.pixel_stride, row = s.in.w * pixel;
    float const* const patches = address(s.source, m) - s.win.pad_top * row - s.win.pad_left * pixel;
    float* const outputs = mutable_address(s.destination, m);
    int const last = s.channels.last > 0 ? s.channels.last : s.out.c;
    int const panels = layout.padded_channels / layout.panel * layout.panel, whole = panels < last ? panels : last;
    AGO_UNROLL(1)
    for (int first = s.portion.first; first < end; first += layout.block) {
      piece work{layout,
                 scratch,
                 {layout, first, patches, s.in.h, s.in.w, pixel},
                 {layout, first, outputs, s.out.h, s.out.w, s.destination.pixel_stride},
                 first + layout.block < end ? layout.block : end - first,
                 0,
                 layout.point_stride(),
                 K.points_first ? layout.product_stride() : 0};
      transform_inputs<tile, target>(s, layout, work.patches, work.count, scratch);
      if constexpr (K.points_first) {
        multiply_points_first(m.weights + s.weights, work);
        finish_outputs<1, K.partial>(s, m, work);
        continue;
      }
      AGO_UNROLL(1)
      for (work.channel = s.channels.first; work.channel < whole; work.channel += layout.panel)
        panel<K.tile.vectors, K.partial && K.tile.vectors_left == 0>(s, m, work);
      if constexpr (K.tile.vectors_left > 0)
        if (last > panels) {
          work.channel = panels;
          panel<K.tile.vectors_left, K.partial>(s, m, work);
        }
    }
  }

 private:
  static constexpr int tile = winograd_tile(K.what), points = (tile + 2) * (tile + 2);

  /// A panel of output channels, from `channel` on, for `count` tiles.
  struct piece {
    winograd_layout layout;
    float* scratch;
    kernel::tile_walk<float const> patches;
    kernel::tile_walk<float> outputs;
    int count, channel;
    long point_stride, product_stride;  ///< of the layout
  };

  template <int VECTORS, bool PARTIAL>
  AGO_INLINE static void panel(step_data const& s, kernel_memory const& m, piece const& work) {
    constexpr int width = VECTORS * lanes(target);
    float* const products = work.scratch + work.layout.products();
    multiply<VECTORS, points>(m.weights + s.weights + work.layout.panel_offset(work.channel), work, work.scratch,
                              products, points * width);
    finish_outputs<VECTORS, PARTIAL>(s, m, work);
  }

  static void multiply_points_first(float const* packed, piece const& work) {
    winograd_layout const& l = work.layout;
    int const panels = l.padded_channels / l.panel * l.panel;
    float const *weights = packed + l.panel_offset(0), *inputs = work.scratch;
    float* products = work.scratch + l.products();
    AGO_UNROLL(1)
    for (int point = 0; point < points; ++point) {
      AGO_UNROLL(1)
      for (int channel = 0; channel < panels; channel += l.panel)
        multiply<K.tile.vectors, 1>(weights + long(channel) * l.depth, work, inputs, products + channel,
                                    l.padded_channels);
      if constexpr (K.tile.vectors_left > 0)
        multiply<K.tile.vectors_left, 1>(weights + long(panels) * l.depth, work, inputs, products + panels,
                                         l.padded_channels);
      weights += l.weights_stride(0);
      inputs += l.point_stride();
      products += l.product_stride();
    }
  }

  /// Computes the matrix products of COUNT points; those of neighbouring tiles are `step` floats apart, those of
  /// neighbouring points side by side.
  template <int VECTORS, int COUNT>
  [[gnu::noinline]] static void multiply(float const* weights, piece const& work, float const* inputs, float* products,
                                         long step) {
    constexpr int width = VECTORS * lanes(target);
    int const depth = work.layout.depth, count = work.count;
    long const stride = work.layout.padded_depth, point_weights = long(depth) * width;
    auto const product = [&]<int PIXELS>(int t) AGO_INLINE_LAMBDA {
      vec<target> acc[PIXELS][VECTORS];
      if constexpr (is_scheduled_by_hand(target)) {
        static constexpr float zeros[width]{};
        tile_target const to{products + t * step, step, 0, 0, 0, 0};
        start<form_of(K)>(zeros, to, inputs + (t + PIXELS) * stride, stride, acc);
      } else {
        AGO_UNROLL(32)
        for (int p = 0; p < PIXELS; ++p) {
          AGO_UNROLL(32)
          for (int v = 0; v < VECTORS; ++v) acc[p][v] = vec<target>(0.f);
        }
      }
      accumulate<form_of(K)>(inputs + t * stride, stride, depth, weights, acc);
      finish_bounded<0>(acc, products + t * step, step);
    };
    AGO_UNROLL(1)
    for (int point = 0; point < COUNT; ++point) {
      if constexpr (is_scheduled_by_hand(target) && COUNT > 1) {
        float const* next = inputs + work.point_stride;  // the first tile of the next point
        AGO_UNROLL(32)
        for (int p = 0; p < K.tile.pixels; ++p, next += stride) {
          pin(next);
          simd::fetch_line<target>(next);
        }
      }
      int t = 0;
      AGO_UNROLL(1)
      for (; t + K.tile.pixels <= count; t += K.tile.pixels) product.template operator()<K.tile.pixels>(t);
      if constexpr (K.tile.pixels_left > 0)
        if (t < count) product.template operator()<K.tile.pixels_left>(t);
      weights += point_weights;
      inputs += work.point_stride;
      products += width;
    }
  }

  /// Transforms the products, of VECTORS vectors or, with points_first, of all, applies the epilogue and stores.
  template <int VECTORS, bool PARTIAL>
  [[gnu::noinline]] static void finish_outputs(step_data const& s, kernel_memory const& m, piece const& work) {
    constexpr int width = VECTORS * lanes(target);
    constexpr bool is_by_hand = tile == 4 && is_scheduled_by_hand(target);
    static_assert(is_by_hand || !K.points_first);
    int const vectors = K.points_first ? work.layout.padded_channels / lanes(target) : VECTORS;
    [[maybe_unused]] long const stride = K.points_first ? work.product_stride : width;
    finisher<K.after, target> const after(s, m);
    float const* const shift = m.weights + s.weights + work.channel;
    float const* products = work.scratch + work.layout.products();
    int const rest = s.out.c - work.channel - (vectors - 1) * lanes(target);
    int const last = rest < lanes(target) ? rest : lanes(target);  // valid lanes of the last vector
    long const pixel_floats = s.destination.pixel_stride, row_floats = s.out.w * pixel_floats;
    kernel::tile_walk<float> at = work.outputs;
    AGO_UNROLL(1)
    for (int t = 0; t < work.count; ++t, ++at) {
      int const rows = s.out.h - at.y(), columns = s.out.w - at.x();
      long const index = (long(at.image()) * s.out.h + at.y()) * s.out.w + at.x();
      float* const first = at.at() + work.channel;
      if constexpr (is_scheduled_by_hand(target)) {
        float* line = first;
        AGO_UNROLL(4)
        for (int y = 0; y < tile; ++y, line += row_floats - tile * pixel_floats) {
          AGO_UNROLL(4)
          for (int x = 0; x < tile; ++x, line += pixel_floats) {
            pin(line);
            __builtin_prefetch(line, 1);
          }
        }
      }
      [[maybe_unused]] auto by_hand = [&] {
        if constexpr (is_by_hand) return product_transform_4<target, K.in_order, is_lengthy(K.after)>(products, stride);
        else return 0;
      }();
      AGO_UNROLL(1)
      for (int v = 0; v < vectors; ++v) {
        int const channel = v * lanes(target), count = PARTIAL && v == vectors - 1 ? last : lanes(target);
        // Products and results are more streams than prefetchers follow: ask for their next lines.
        if constexpr (K.points_first)
          if (channel % simd::line_floats == 0) {
            by_hand.template fetch<simd::line_floats>();
            float* line = first + channel + simd::line_floats;
            AGO_UNROLL(4)
            for (int y = 0; y < tile; ++y, line += row_floats - tile * pixel_floats) {
              AGO_UNROLL(4)
              for (int x = 0; x < tile; ++x, line += pixel_floats) {
                pin(line);
                __builtin_prefetch(line, 1);
              }
            }
          }
        vec<target> const start = vec<target>::load(shift + channel);
        auto const finish = [&](int y, int x, vec<target> sum) AGO_INLINE_LAMBDA {
          vec<target> const result = after(sum + start, index + long(y) * s.out.w + x, work.channel + channel, count);
          float* const to = first + y * row_floats + x * pixel_floats + channel;
          count == lanes(target) ? simd::store(result, to) : result.store(to, count);
        };
        if constexpr (is_by_hand) by_hand(rows, columns, finish);
        else transform_products<tile, width, is_lengthy(K.after), target>(products + channel, rows, columns, finish);
      }
      products += K.points_first ? work.layout.padded_channels : points * width;
    }
  }
};

}  // namespace ago::kernel
