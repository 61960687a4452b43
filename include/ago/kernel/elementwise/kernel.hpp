// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators that are in no other kernel's epilogue: reads a value, applies the epilogue, writes.
#pragma once

#include <ago/kernel/epilogue.hpp>
#include <ago/simd/fetch.hpp>

namespace ago::kernel {

/// If the key says so, ahead.
template <kernel_key K>
AGO_INLINE void fetch_input([[maybe_unused]] float const* p) {
  if constexpr (K.fetches_input) fetch_page<K.target, K.fetches_ahead>(p);
}

template <kernel_key K>
struct elementwise_kernel {
  static void run(step_data const& s, kernel_memory const& m) {
    finisher<K.after, I> finish(s, m);
    float const* const in = address(s.source, m);
    float* const out = mutable_address(s.destination, m);
    if (is_one_run(s, m)) return channels(finish, in, out, 0, s.out.count());
    long const image = long(s.out.h) * s.out.w;
    for (int n = 0; n < s.out.n; ++n) {
      finish.image(s, m, n);
      for (long p = n * image; p < (n + 1) * image; ++p)
        channels(finish, in + p * s.source.pixel_stride, out + p * s.destination.pixel_stride, p, s.out.c);
    }
  }
  /// Rows first ... last - 1 of image n, for a pipeline.
  static void rows(step_data const& s, kernel_memory const& m, int n, int first, int last) {
    finisher<K.after, I> finish(s, m);
    finish.image(s, m, n);
    for (int y = first; y < last; ++y) {
      long const row = long(n) * s.out.h + y, from = row_in_memory(s.source, s.in, n, y);
      float const* in = address(s.source, m) + from * s.in.w * s.source.pixel_stride;
      float* out = mutable_address(s.destination, m) +
                   row_in_memory(s.destination, s.out, n, y) * s.out.w * s.destination.pixel_stride;
      for (int x = 0; x < s.out.w; ++x, in += s.source.pixel_stride, out += s.destination.pixel_stride)
        channels(finish, in, out, row * s.out.w + x, s.out.c);
    }
  }

 private:
  static constexpr isa I = K.target;

  /// Can all pixels be treated as one long pixel? Yes if there are no gaps between them and nothing depends on the
  /// channel.
  static bool is_one_run(step_data const& s, kernel_memory const& m) {
    static constexpr epilogue after = K.after;  // clang cannot index a part of a template argument at run time
    bool dense = s.source.pixel_stride == s.out.c && s.destination.pixel_stride == s.out.c;
    for (int i = 0; i < after.count(); ++i) {
      stage const& k = after.stages[i];
      if (is_parametric(k.kind) || k.one_channel) return false;
      stage_data const& d = m.stage(s, i);
      if (is_binary(k.kind)) dense = dense && d.operand.pixel_stride == s.out.c && d.image_step == 0;
    }
    return dense;
  }

  static void channels(finisher<K.after, I> const& finish, float const* in, float* out, long pixel, long count) {
    constexpr int V = lanes(I), together = is_lengthy(K.after) ? 4 : 1;  // whose operations do not wait for each other
    long c = 0;
    if constexpr (together > 1)
      for (; c + together * V <= count; c += together * V) {
        vec<I> x[together];
        AGO_UNROLL(4)
        for (int i = 0; i < together; ++i) fetch_input<K>(in + c + i * V);
        AGO_UNROLL(4)
        for (int i = 0; i < together; ++i) x[i] = finish(vec<I>::load(in + c + i * V), pixel, int(c) + i * V);
        AGO_UNROLL(4)
        for (int i = 0; i < together; ++i) x[i].store(out + c + i * V);
      }
    for (; c + V <= count; c += V) {
      fetch_input<K>(in + c);
      finish(vec<I>::load(in + c), pixel, int(c)).store(out + c);
    }
    if constexpr (K.partial) {
      int const left = int(count - c);
      if (left > 0) finish(vec<I>::load(in + c, left), pixel, int(c), left).store(out + c, left);
    }
  }
};

/// Elements that elementwise operators compute for a kernel which copies them: that kernel addresses them by where they
/// would be in the source, if it had no gaps.
template <kernel_key K>
class elementwise_source {
  static constexpr isa I = K.target;
  static constexpr int V = lanes(I);

 public:
  elementwise_source(step_data const& s, kernel_memory const& m) : s_(s), m_(m), begin_(address(s.source, m)) {}

  AGO_INLINE float const* begin() const { return begin_; }
  [[gnu::noinline]] void operator()(float const* from, float* to, long count) const {
    finisher<K.after, I> finish(s_, m_);
    long const image = long(s_.out.h) * s_.out.w, at = from - begin_;
    int channel = int(at % s_.out.c), many = 0;
    for (long p = at / s_.out.c, n = -1; count > 0; ++p, channel = 0, to += many, count -= many) {
      if (p / image != n) finish.image(s_, m_, int(n = p / image));
      many = s_.out.c - channel;
      if (many > count) many = int(count);
      float const* const in = begin_ + p * s_.source.pixel_stride + channel;
      int c = 0;
      for (; c + V <= many; c += V) {
        fetch_input<K>(in + c);
        finish(vec<I>::load(in + c), p, channel + c).store(to + c);
      }
      if (c < many) finish(vec<I>::load(in + c, many - c), p, channel + c, many - c).store(to + c, many - c);
    }
  }

 private:
  step_data const& s_;
  kernel_memory const& m_;
  float const* begin_;
};

}  // namespace ago::kernel
