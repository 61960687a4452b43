// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds batch norm into weights and bias while they are packed.
#pragma once

#include <ago/plan/step.hpp>

#include <cmath>

namespace ago::kernel {

/// a * b, rounded. Keeps compilers from fusing it with a following sum on machines that have such an instruction, so
/// that packed weights are bit-identical whichever machine packs them.
inline double rounded_product(double a, double b) {
  double product = a * b;
#if defined(__SSE2__)
  asm("" : "+x"(product));
#elif defined(__aarch64__)
  asm("" : "+w"(product));
#else
  asm("" : "+m"(product));
#endif
  return product;
}

/// Scale and shift per output channel that result from an operator's parameters. Computed in double, so that folding
/// adds no error beyond the rounding of the packed float.
class folded_parameters {
 public:
  /// `blob`: the user's weights; `channels`: output channels of the step, the length of each vector unless `from`
  /// specifies another.
  folded_parameters(parameter_source const& from, float const* blob, int channels)
      : weight_(at(blob, from.weight)), norm_(at(blob, from.norm)), shift_(at(blob, from.shift)),
        shift_norm_(at(blob, from.shift_norm)), epsilon_(from.epsilon), channels_(from.of > 0 ? from.of : channels),
        start_(from.start), step_(from.step) {}

  /// Weight number i of `count` of output channel o, scaled.
  float weight(long i, long count, int o) const {
    return float(double(weight_[channel(o) * count + i]) * scale(norm_, channel(o)));
  }
  /// Are the parameters of output channel o in this source? Those of merged operators come from several sources.
  bool has(int o) const { return channel(o) >= 0 && channel(o) < channels_; }
  /// Index of output channel o in each vector.
  long channel(int o) const { return start_ + long(o) * step_; }
  double scale(int o) const { return scale(norm_, channel(o)); }
  float shift(int o) const {
    long const c = channel(o);
    double const raw = shift_ ? shift_[c] : 0.0;
    if (!shift_norm_) return float(raw);
    double const centred = raw - shift_norm_[2 * channels_ + c];
    return float(rounded_product(centred, scale(shift_norm_, c)) + shift_norm_[channels_ + c]);
  }

 private:
  static float const* at(float const* blob, int offset) { return offset < 0 ? nullptr : blob + offset; }
  double scale(float const* norm, long c) const {
    return norm ? norm[c] / std::sqrt(double(norm[3 * channels_ + c]) + epsilon_) : 1.0;
  }
  float const *weight_, *norm_, *shift_, *shift_norm_;
  double epsilon_;
  long channels_;
  int start_, step_;
};

}  // namespace ago::kernel
