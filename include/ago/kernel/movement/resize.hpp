// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resizes images: nearest pixel, or bilinear interpolation. Channels across the lanes of a register.
#pragma once

#include <ago/ir/sampling.hpp>
#include <ago/kernel/epilogue.hpp>

namespace ago::kernel {

/// floor((i * step + start) / divisor) and the remainder, for i = 0, 1, ..., without a division for each.
struct stepping_quotient {
  long quotient, remainder;

  /// 0 <= start, 0 <= step, 0 < divisor
  AGO_INLINE stepping_quotient(long start, long step, long divisor)
      : quotient(start / divisor), remainder(start % divisor), whole_(step / divisor), part_(step % divisor),
        divisor_(divisor) {}
  AGO_INLINE void advance() {
    quotient += whole_;
    remainder += part_;
    if (remainder < divisor_) return;
    remainder -= divisor_;
    ++quotient;
  }

 private:
  long whole_, part_, divisor_;
};

/// Pixel i of the result is at position (i * step + start) / divisor of the source, see sampling.
struct places {
  long step, start, divisor;

  AGO_INLINE places(sampling how, int in, int out) : step(in), start(0), divisor(out) {
    switch (how) {
      case sampling::asymmetric: break;
      case sampling::align_corners:
        step = out == 1 ? 0 : in - 1;
        divisor = out == 1 ? 1 : out - 1;
        break;
      case sampling::half_pixel_or_first:
        if (out == 1) {
          step = 0;
          break;
        }
        [[fallthrough]];
      case sampling::standard:
      case sampling::half_pixel:  // (i + 1/2) * in / out - 1/2 = ((2 i + 1) * in - out) / (2 out)
        step = 2L * in;
        start = long(in) - out;
        divisor = 2L * out;
        break;
    }
  }
};

/// The nearest of `in` pixels.
class nearest_pixels {
 public:
  AGO_INLINE nearest_pixels(places const& p, rounding how, int in)
      : at_(2 * (p.start + p.divisor) + shift(how, p.divisor), 2 * p.step, 2 * p.divisor), in_(in) {}
  AGO_INLINE void advance() { at_.advance(); }
  /// The quotient is always one too large, so that it is never negative.
  AGO_INLINE long index() const {
    long const i = at_.quotient < 1 ? 0 : at_.quotient - 1;
    return i < in_ ? i : in_ - 1;
  }

 private:
  /// Added to the numerator over twice the divisor, so that rounding the quotient down rounds as `how` requires.
  AGO_INLINE static long shift(rounding how, long divisor) {
    return how == rounding::down              ? 0
           : how == rounding::up              ? 2 * divisor - 1
           : how == rounding::nearest_or_down ? divisor - 1
                                              : divisor;
  }
  stepping_quotient at_;
  long in_;
};

/// The two of `in` pixels between which the centre of a result's pixel lies along one axis, and their weights. A
/// position before pixel 0 counts as 0; at the far edge both are the last pixel.
class pixels_between {
 public:
  AGO_INLINE pixels_between(places const& p, int in)
      : at_(p.divisor + p.start, p.step, p.divisor), in_(in), divisor_(p.divisor) {}
  AGO_INLINE void advance() { at_.advance(); }

  /// The quotient is always one too large, so that it is never negative.
  AGO_INLINE long first() const { return at_.quotient < 1 ? 0 : at_.quotient - 1; }
  AGO_INLINE long second() const { return first() + 1 < in_ ? first() + 1 : in_ - 1; }
  AGO_INLINE float weight_of_second() const { return at_.quotient < 1 ? 0.f : float(at_.remainder) / float(divisor_); }
  AGO_INLINE float weight_of_first() const {
    return at_.quotient < 1 ? 1.f : float(divisor_ - at_.remainder) / float(divisor_);
  }

 private:
  stepping_quotient at_;
  long in_, divisor_;
};

/// The pixel that is nearest to step_details::positions; they are computed in integers.
template <kernel_key K>
struct resize_nearest_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, K.target> finish(s, m);
    float const* image = address(s.source, m);
    float* out = mutable_address(s.destination, m);
    long const row = long(s.in.w) * s.source.pixel_stride;
    step_details const& d = m.details(s);
    auto const from = d.positions == sampling::standard ? sampling::asymmetric : d.positions;
    kernel::places const rows(from, s.in.h, s.out.h), columns(from, s.in.w, s.out.w);
    long pixel = 0;
    for (int n = 0; n < s.out.n; ++n, image += s.in.h * row) {
      finish.image(s, m, n);
      kernel::nearest_pixels y(rows, d.rounds, s.in.h);
      for (int i = 0; i < s.out.h; ++i, y.advance()) {
        kernel::nearest_pixels x(columns, d.rounds, s.in.w);
        for (int j = 0; j < s.out.w; ++j, x.advance(), ++pixel, out += s.destination.pixel_stride) {
          float const* const in = image + y.index() * row + x.index() * s.source.pixel_stride;
          write_pixel<K>(finish, out, pixel, s.out.c,
                         [&](int c, auto... count) { return vec<K.target>::load(in + c, count...); });
        }
      }
    }
  }
};

/// Between the pixels around step_details::positions.
template <kernel_key K>
struct resize_bilinear_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, I> finish(s, m);
    float const* image = address(s.source, m);
    float* out = mutable_address(s.destination, m);
    long const row = long(s.in.w) * s.source.pixel_stride;
    sampling const from = m.details(s).positions;
    kernel::places const rows(from, s.in.h, s.out.h), columns(from, s.in.w, s.out.w);
    long pixel = 0;
    for (int n = 0; n < s.out.n; ++n, image += s.in.h * row) {
      finish.image(s, m, n);
      kernel::pixels_between y(rows, s.in.h);
      for (int i = 0; i < s.out.h; ++i, y.advance()) {
        one_row(s, finish, columns, y, image + y.first() * row, image + y.second() * row, out, pixel);
        pixel += s.out.w;
        out += long(s.out.w) * s.destination.pixel_stride;
      }
    }
  }

 private:
  static constexpr isa I = K.target;

  AGO_INLINE static void one_row(step_data const& s, finisher<K.after, I> const& finish, kernel::places const& columns,
                                 kernel::pixels_between const& y, float const* upper, float const* lower, float* out,
                                 long pixel) {
    float const up = y.weight_of_first(), down = y.weight_of_second();
    kernel::pixels_between x(columns, s.in.w);
    for (int j = 0; j < s.out.w; ++j, x.advance(), ++pixel, out += s.destination.pixel_stride) {
      long const left = x.first() * s.source.pixel_stride, right = x.second() * s.source.pixel_stride;
      vec<I> const weight[] = {vec<I>(up * x.weight_of_first()), vec<I>(up * x.weight_of_second()),
                               vec<I>(down * x.weight_of_first()), vec<I>(down * x.weight_of_second())};
      write_pixel<K>(finish, out, pixel, s.out.c, [&](int c, auto... count) {
        auto const load = [&](float const* p, long at) { return vec<I>::load(p + at + c, count...); };
        vec<I> const above = fma(weight[1], load(upper, right), weight[0] * load(upper, left));
        return fma(weight[3], load(lower, right), fma(weight[2], load(lower, left), above));
      });
    }
  }
};

}  // namespace ago::kernel
