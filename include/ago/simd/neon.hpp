// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NEON of aarch64: four floats.
#pragma once

#include <ago/simd/instructions.hpp>

#if defined(__aarch64__)

namespace ago::simd {

template <>
struct instructions<isa::neon> : common_instructions<xsimd::neon64> {
  AGO_INLINE static batch load(float const* p, int n) {
    float32x4_t const zero = vdupq_n_f32(0.f);
    if (n == 1) return batch(vld1q_lane_f32(p, zero, 0));
    float32x4_t const low = vcombine_f32(vld1_f32(p), vget_low_f32(zero));
    return batch(n == 2 ? low : vld1q_lane_f32(p + 2, low, 2));
  }
  AGO_INLINE static void store(float* p, int n, float32x4_t x) {
    if (n == 1) return vst1q_lane_f32(p, x, 0);
    vst1_f32(p, vget_low_f32(x));
    if (n == 3) vst1q_lane_f32(p + 2, x, 2);
  }
  AGO_INLINE static batch quotient(batch a, batch b) {  // xsimd 8.1: an estimate with Newton steps
    return batch(vdivq_f32(a, b));
  }
  AGO_INLINE static batch root(batch a) { return batch(vsqrtq_f32(a)); }
  AGO_INLINE static batch floor(batch a) { return batch(vrndmq_f32(a)); }
  AGO_INLINE static batch ceil(batch a) { return batch(vrndpq_f32(a)); }
  AGO_INLINE static batch shifted(batch t) {
    return batch(vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(t), 23)));
  }
  AGO_INLINE static batch sum(batch y, batch t) {
    return batch(vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(y), vshlq_n_s32(vreinterpretq_s32_f32(t), 23))));
  }
  /// w * x[L] + acc
  template <int L>
  AGO_INLINE static batch fma_lane(batch w, batch x, batch acc) {
    return batch(vfmaq_laneq_f32(acc, w, x, L));
  }
#if defined(__GNUC__) && !defined(__clang__)
  AGO_INLINE static void keep(batch& x) { asm("" : "+w"(x.data)); }
#endif
};

}  // namespace ago::simd

#endif
