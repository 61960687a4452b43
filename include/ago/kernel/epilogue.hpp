// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators applied to a result while it is still in registers.
#pragma once

#include <ago/plan/step.hpp>
#include <ago/simd/math.hpp>

namespace ago::kernel {

/// First float of a value.
AGO_INLINE float const* address(place const& p, run_memory const& m) {
  switch (p.in) {
    case place::area::arena: return m.arena + p.offset;
    case place::area::input: return m.inputs[p.index] + p.offset;
    case place::area::output: return m.outputs[p.index] + p.offset;
    case place::area::weights: return m.weights + p.offset;
    case place::area::none: break;
  }
  return nullptr;
}
AGO_INLINE float* mutable_address(place const& p, run_memory const& m) {
  return p.in == place::area::output ? m.outputs[p.index] + p.offset : m.arena + p.offset;
}

template <op>
inline constexpr bool never_kind = false;

/// The position of row y of image n in memory, in rows.
AGO_INLINE long row_in_memory(place const& p, shape const& s, int n, int y) {
  return p.ring ? y % p.ring : long(n) * s.h + y;
}
/// Row y of image n of what the part of a pipeline before `s` reads. It may be outside.
AGO_INLINE float const* row_of_part_before(step_data const& s, run_memory const& m, int n, int y) {
  step_data const& before = (&s)[-1];
  return address(before.source, m) + (long(n) * before.in.h + y) * before.in.w * before.source.pixel_stride;
}

/// Unary operators without parameters. NaN stays NaN. Largest errors over all finite x, measured for every
/// instruction set against double (u = one unit in the last place of the result):
///   leaky_relu 1 u; tanh 3 u; sigmoid 4 u for x > -87, below that 2e-38 absolute;
///   hard_sigmoid 1e-7 absolute; hard_swish, silu, gelu, gelu_tanh 2e-7 * max(1, |x|) absolute; all others exact.
/// At x = -infinity hard_swish is NaN, as in PyTorch; silu and gelu are 0, their limit, within those bounds.
/// `zero`: 0, see finisher::here().
template <op K, isa I>
AGO_INLINE vec<I> activate(vec<I> x, [[maybe_unused]] float alpha, [[maybe_unused]] float beta,
                           [[maybe_unused]] float zero) {
  using v = vec<I>;
  // min and max return their second operand if one is NaN, so x comes second.
  [[maybe_unused]] auto const clamp = [](vec<I> low, vec<I> high, vec<I> y) { return min(high, max(low, y)); };
  if constexpr (K == op::relu) return max(v(zero), x);
  else if constexpr (K == op::relu6) return clamp(v(zero), v(zero + 6), x);
  else if constexpr (K == op::leaky_relu) return where_less(x, v(zero), x * v(zero + alpha), x);
  else if constexpr (K == op::clip) return clamp(v(zero + alpha), v(zero + beta), x);
  else if constexpr (K == op::hard_sigmoid)
    return clamp(v(zero), v(zero + 1), fma(x, v(zero + 1.f / 6), v(zero + .5f)));
  else if constexpr (K == op::hard_swish)
    return x * clamp(v(zero), v(zero + 1), fma(x, v(zero + 1.f / 6), v(zero + .5f)));
  else if constexpr (K == op::sigmoid) return logistic(x);
  else if constexpr (K == op::silu) return times_logistic(x, x);
  else if constexpr (K == op::gelu) return simd::gelu_of(x);
  else if constexpr (K == op::gelu_tanh)  // (1 + tanh(u)) / 2 = logistic(2 u)
    return times_logistic(x, v(1.5957691216f) * fma(x * x * x, v(.044715f), x));
  else if constexpr (K == op::tanh) return tanh(x);
  else static_assert(never_kind<K>, "no kernel computes this operator of one operand");
}

/// A binary operator. A maximum or minimum with NaN is NaN.
template <op K, isa I>
AGO_INLINE vec<I> combine(vec<I> a, vec<I> b) {
  if constexpr (K == op::add) return a + b;
  else if constexpr (K == op::mul) return a * b;
  else if constexpr (K == op::sub) return a - b;
  else if constexpr (K == op::div) return a / b;
  else if constexpr (K == op::maximum) return where_nan(a, a, max(a, b));
  else if constexpr (K == op::minimum) return where_nan(a, a, min(a, b));
  else if constexpr (K == op::less) return where_less(a, b, vec<I>(1.f), vec<I>(0.f));
  else if constexpr (K == op::power) return power(a, b);
  else static_assert(never_kind<K>, "no kernel computes this operator of two operands");
}

/// Does the epilogue have stages with long code? Unrolled over a tile they would fill the instruction cache.
constexpr bool is_lengthy(epilogue const& after) {
  for (stage const& s : after.stages)
    if (is_lengthy(s.kind)) return true;
  return false;
}

/// The epilogue `E`, bound to the addresses of one step. Call it with a register of results, the index of their pixel
/// in the whole value, and their first channel; `count` lanes are valid.
template <epilogue E, isa I>
class finisher {
 public:
  AGO_INLINE finisher(step_data const& s, kernel_memory const& m) {
    for (int i = 0; i < stages; ++i) {
      stage_data const& d = m.stage(s, i);
      alpha_[i] = d.alpha;
      beta_[i] = d.beta;
      operand_[i] = address(d.operand, m);
      stride_[i] = d.operand.pixel_stride;
      if (d.parameters >= 0) operand_[i] = m.weights + d.parameters;
      if (E.stages[i].kind == op::positions) stride_[i] = s.out.c;
    }
    channels_ = padded(s.out.c, I);
  }

  /// Advances to image `n` of `s`: sets the addresses of operands with one pixel per image, or with the same pixels for
  /// all images.
  AGO_INLINE void image(step_data const& s, kernel_memory const& m, int n) {
    for (int i = 0; i < stages; ++i)
      if (E.stages[i].kind == op::positions)
        operand_[i] = m.weights + m.stage(s, i).parameters - n * long(s.out.h) * s.out.w * s.out.c;
      else if (is_binary(E.stages[i].kind) && m.stage(s, i).image_step != 0)
        operand_[i] = address(m.stage(s, i).operand, m) + long(n) * m.stage(s, i).image_step;
  }

  AGO_INLINE vec<I> operator()(vec<I> x, long pixel, int channel) const {
    return apply<0>(x, pixel, channel, vec<I>::size, 0);
  }
  AGO_INLINE vec<I> operator()(vec<I> x, long pixel, int channel, int count) const {
    return apply<0>(x, pixel, channel, count, 0);
  }

  /// The epilogue with constants that are loaded here. Otherwise compilers load them before the surrounding loops,
  /// where they take registers from the accumulators.
  struct anew {
    finisher const& all;
    float zero;
    AGO_INLINE vec<I> operator()(vec<I> x, long pixel, int channel, int count) const {
      return all.template apply<0>(x, pixel, channel, count, zero);
    }
  };
  AGO_INLINE anew here() const { return {*this, is_scheduled_by_hand(I) ? 0 : opaque_zero()}; }

 private:
  static constexpr int stages = E.count();

  AGO_INLINE static vec<I> load(float const* p, int count) {
    return count == vec<I>::size ? vec<I>::load(p) : vec<I>::load(p, count);
  }

  template <int S>
  AGO_INLINE vec<I> apply(vec<I> x, long pixel, int channel, int count, float zero) const {
    if constexpr (S == stages) {
      return x;
    } else {
      constexpr op kind = E.stages[S].kind;
      if constexpr (is_binary(kind)) {
        float const* const other = operand_[S] + pixel * stride_[S];
        vec<I> const y = E.stages[S].one_channel ? vec<I>(*other) : load(other + channel, count);
        x = E.stages[S].reversed ? combine<kind>(y, x) : combine<kind>(x, y);
      } else if constexpr (kind == op::positions) {
        x = x + load(operand_[S] + pixel * stride_[S] + channel, count);
      } else if constexpr (kind == op::bias) {
        x = x + load(operand_[S] + channel, count);
      } else if constexpr (kind == op::scale) {
        x = x * load(operand_[S] + channel, count);
      } else if constexpr (kind == op::prelu) {
        x = where_less(x, vec<I>(0.f), x * load(operand_[S] + channel, count), x);
      } else if constexpr (kind == op::batch_norm) {
        x = fma(x, load(operand_[S] + channel, count), load(operand_[S] + channels_ + channel, count));
      } else if constexpr (kind == op::map) {
        constexpr auto f = E.stages[S].function->apply;
        f(I, &x, alpha_[S], beta_[S]);
      } else {
        x = activate<kind, I>(x, alpha_[S], beta_[S], zero);
      }
      return apply<S + 1>(x, pixel, channel, count, zero);
    }
  }

  float const* operand_[stages ? stages : 1]{};
  long stride_[stages ? stages : 1]{};
  float alpha_[stages ? stages : 1]{}, beta_[stages ? stages : 1]{};
  int channels_{};
};

/// Writes the channels of one pixel: f(c, count...) gives those from c on, `count` of them if they fill no register.
template <kernel_key K, class F>
AGO_INLINE void write_pixel(finisher<K.after, K.target> const& finish, float* out, long pixel, int channels, F f) {
  constexpr int V = lanes(K.target);
  int c = 0;
  for (; c + V <= channels; c += V) finish(f(c), pixel, c).store(out + c);
  if constexpr (K.partial) {
    int const left = channels - c;
    if (left > 0) finish(f(c, left), pixel, c, left).store(out + c, left);
  }
}

}  // namespace ago::kernel
