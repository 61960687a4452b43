// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, means, products and extrema along any axes, and the index of the largest channel.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/simd/reduce.hpp>
#include <ago/simd/register_run.hpp>

#include <limits>
#include <type_traits>

namespace ago::kernel {

/// The initial value of a reduction, and how two partial results are joined.
template <op Kind>
struct reducer {
  static_assert(Kind == op::reduce_max || Kind == op::reduce_min || Kind == op::reduce_product ||
                    Kind == op::reduce_sum || Kind == op::reduce_mean,
                "no kernel computes this reduction");
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float neutral = Kind == op::reduce_max       ? -infinity
                                   : Kind == op::reduce_min     ? infinity
                                   : Kind == op::reduce_product ? 1.f
                                                                : 0.f;
  template <isa I>
  AGO_INLINE vec<I> operator()(vec<I> a, vec<I> b) const {
    if constexpr (Kind == op::reduce_max) return max(a, b);
    else if constexpr (Kind == op::reduce_min) return min(a, b);
    else if constexpr (Kind == op::reduce_product) return a * b;
    else return a + b;
  }
  /// The first `count` floats at p, and the neutral element in the lanes after them.
  template <isa I>
  AGO_INLINE static vec<I> load(float const* p, int count) {
    if (count == lanes(I)) return vec<I>::load(p);
    vec<I> const x = vec<I>::load(p, count);
    if constexpr (Kind == op::reduce_max) return x + minus_infinity_behind<I>(count);
    else if constexpr (Kind == op::reduce_min) return x - minus_infinity_behind<I>(count);
    else if constexpr (Kind == op::reduce_product) return x + (vec<I>(1.f) - ones_before<I>(count));
    else return x;
  }
};

/// Reduces the axes along which the result has one element. Terms are added row by row, and then the sums of the rows:
/// for h x w terms with c / lanes registers each, the largest error is (h + w + c / lanes + lanes) * 2^-24 of the sum
/// of their absolute values.
template <kernel_key K>
struct reduction_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, I> finish(s, m);
    box const b(s);
    bool const last = m.details(s).last_of_equals;
    float const* const in = address(s.source, m);
    float* out = mutable_address(s.destination, m);
    long pixel = 0;
    for (int n = 0; n < s.out.n; ++n) {
      finish.image(s, m, n);
      for (int y = 0; y < s.out.h; ++y)
        for (int x = 0; x < s.out.w; ++x, ++pixel, out += s.destination.pixel_stride)
          one_pixel(s, b, last, finish, in + n * b.image + y * b.row + x * b.pixel, out, pixel);
    }
  }

 private:
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I);
  using reducer = kernel::reducer<K.reduces>;

  /// How many images, rows and columns are reduced to one, and the floats from one to the next in the source.
  struct box {
    long image, row, pixel;
    int images, rows, columns;
    float count;
    explicit box(step_data const& s)
        : image(long(s.in.h) * s.in.w * s.source.pixel_stride), row(long(s.in.w) * s.source.pixel_stride),
          pixel(s.source.pixel_stride), images(s.in.n / s.out.n), rows(s.in.h / s.out.h), columns(s.in.w / s.out.w),
          count(float(images) * float(rows) * float(columns) * float(s.in.c / s.out.c)) {}
  };

  /// `last`: arg_max selects the last of equal channels.
  AGO_INLINE static void one_pixel(step_data const& s, box const& b, [[maybe_unused]] bool last,
                                   finisher<K.after, I> const& finish, float const* in, float* out, long pixel) {
    if constexpr (K.reduces == op::arg_max) {
      float const index = float(last ? last_largest(in, s.in.c) : first_largest(in, s.in.c));
      finish(vec<I>(index), pixel, 0, 1).store(out, 1);
    } else if (s.in.c == s.out.c) {
      int c = 0;
      auto const take = [&]<int vectors>(std::integral_constant<int, vectors>) AGO_INLINE_LAMBDA {
        for (; c + vectors * V <= s.out.c; c += vectors * V) channels<vectors>(b, finish, in + c, out + c, pixel, c, V);
      };
      if constexpr (V >= 16) take(std::integral_constant<int, 12>{}), take(std::integral_constant<int, 9>{});
      take(std::integral_constant<int, 6>{});
      take(std::integral_constant<int, 4>{});
      take(std::integral_constant<int, 2>{});
      for (; c < s.out.c; c += V) channels<1>(b, finish, in + c, out + c, pixel, c, s.out.c - c < V ? s.out.c - c : V);
    } else {
      float const y = all_channels(b, in, s.in.c);
      finish(vec<I>(mean_of(b, vec<I>(y))), pixel, 0, 1).store(out, 1);
    }
  }

  AGO_INLINE static vec<I> mean_of(box const& b, vec<I> x) {
    return K.reduces == op::reduce_mean ? x / vec<I>(b.count) : x;
  }

  /// Reduces `vectors` registers of channels, with `valid` lanes in the last one. The more of a pixel they are, the
  /// faster memory is read. If they are few, several columns are added at a time, so that sums do not wait for each
  /// other.
  template <int vectors>
  AGO_INLINE static void channels(box const& b, finisher<K.after, I> const& finish, float const* in, float* out,
                                  long pixel, int channel, int valid) {
    constexpr int at_once = vectors < 4 ? 4 / vectors : 1;
    reducer const join;
    vec<I> total[vectors];
    AGO_UNROLL(12)
    for (auto& x : total) x = vec<I>(reducer::neutral);
    for (int n = 0; n < b.images; ++n)
      for (int y = 0; y < b.rows; ++y) {
        float const* p = in + n * b.image + y * b.row;
        vec<I> sum[at_once * vectors];
        AGO_UNROLL(12)
        for (auto& x : sum) x = vec<I>(reducer::neutral);
        auto const add = [&]<int columns>(std::integral_constant<int, columns>) AGO_INLINE_LAMBDA {
          AGO_UNROLL(12)
          for (int v = 0; v < columns * vectors; ++v)
            sum[v] = join(sum[v], simd::load_lanes<I>(p + v / vectors * b.pixel + v % vectors * V, valid));
          p += columns * b.pixel;
        };
        int x = 0;
        if constexpr (at_once > 1)
          for (; x + at_once <= b.columns; x += at_once) add(std::integral_constant<int, at_once>{});
        for (; x < b.columns; ++x) add(std::integral_constant<int, 1>{});
        AGO_UNROLL(12)
        for (int v = 0; v < at_once * vectors; ++v) total[v % vectors] = join(total[v % vectors], sum[v]);
      }
    AGO_UNROLL(12)
    for (int v = 0; v < vectors; ++v)
      simd::store_lanes(finish(mean_of(b, total[v]), pixel, channel + v * V, valid), out + v * V, valid);
  }

  AGO_INLINE static float all_channels(box const& b, float const* in, int count) {
    reducer const join;
    vec<I> total(reducer::neutral);
    for (int n = 0; n < b.images; ++n)
      for (int y = 0; y < b.rows; ++y) {
        vec<I> sum(reducer::neutral);
        for (int x = 0; x < b.columns; ++x) {
          float const* const p = in + n * b.image + y * b.row + x * b.pixel;
          simd::register_run<I>(count).each(
              [&](int i, int valid) AGO_INLINE_LAMBDA { sum = join(sum, reducer::template load<I>(p + i, valid)); });
        }
        total = join(total, sum);
      }
    return simd::reduce(total, join);
  }

  static int first_largest(float const* p, int count) {
    int best = 0;
    for (int i = 1; i < count; ++i)
      if (p[i] > p[best]) best = i;
    return best;
  }
  static int last_largest(float const* p, int count) {
    int best = 0;
    for (int i = 1; i < count; ++i)
      if (p[i] >= p[best]) best = i;
    return best;
  }
};

}  // namespace ago::kernel
