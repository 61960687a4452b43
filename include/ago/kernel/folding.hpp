// Batch norm folded into weights and bias, numerically, while packing.
#pragma once

#include <ago/plan/step.hpp>

#include <cmath>

namespace ago {

/// Scale and shift per output channel that an operator's parameters amount to. Computed in double: folding then adds
/// no error beyond the rounding of the packed float.
class folded_parameters {
 public:
  /// `blob`: the user's weights; `channels`: output channels, the length of each vector.
  folded_parameters(parameter_source const& from, float const* blob, int channels)
      : weight_(at(blob, from.weight)), norm_(at(blob, from.norm)), shift_(at(blob, from.shift)),
        shift_norm_(at(blob, from.shift_norm)), epsilon_(from.epsilon), channels_(channels) {}

  /// weight[i], of output channel o, scaled.
  float weight(long i, int o) const { return float(double(weight_[i]) * scale(norm_, o)); }
  double scale(int o) const { return scale(norm_, o); }
  float shift(int o) const {
    double const raw = shift_ ? shift_[o] : 0.0;
    if (!shift_norm_) return float(raw);
    return float((raw - shift_norm_[2 * channels_ + o]) * scale(shift_norm_, o) + shift_norm_[channels_ + o]);
  }

 private:
  static float const* at(float const* blob, int offset) { return offset < 0 ? nullptr : blob + offset; }
  double scale(float const* norm, int o) const {
    return norm ? norm[o] / std::sqrt(double(norm[3 * channels_ + o]) + epsilon_) : 1.0;
  }
  float const *weight_, *norm_, *shift_, *shift_norm_;
  double epsilon_;
  long channels_;
};

}  // namespace ago
