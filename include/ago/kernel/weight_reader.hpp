// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the weights of a convolution from the user's blob.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Reads the weight of output channel o, channel c of its group's input, and tap (ky, kx) = (tap / kernel_w,
/// tap % kernel_w).
class weight_reader {
 public:
  /// `inputs`, `outputs`: channels of each group; 1 and 1 for a depthwise convolution.
  weight_reader(packed_operator const& s, parameter_source const& from, float const* blob, int inputs, int outputs)
      : weights_(blob + from.weight), from_(from), scatter_(from.scatter), window_(s.win), inputs_(inputs),
        outputs_(outputs) {}

  /// Are they those of a transposed convolution? Otherwise the weights of neighbouring channels c have a distance of
  /// as many floats as there are taps.
  bool is_scattered() const { return scatter_.is_used(); }

  float operator()(int o, int c, int tap) const {
    long const channel = from_.start + long(o) * from_.step;
    if (!is_scattered()) return *at(o, c, tap);
    return scattered(channel, c, tap / window_.kernel_w, tap % window_.kernel_w);
  }
  /// The place of a weight of another convolution.
  float const* at(int o, int c, int tap) const {
    return weights_ + ((from_.start + long(o) * from_.step) * inputs_ + c) * window_.kernel_h * window_.kernel_w + tap;
  }

 private:
  /// A weight of a transposed convolution. The output channels of a group are [phase][outputs], and its weights
  /// [in][outputs][kernel_h][kernel_w]. Taps that do not exist in the transposed convolution are 0.
  float scattered(long channel, int c, int y, int x) const {
    int const phases = scatter_.stride_h * scatter_.stride_w, outputs = outputs_ / phases;
    long const group = channel / outputs_, in_group = channel % outputs_;
    int const phase = int(in_group / outputs), o = int(in_group % outputs);
    int const ty = (window_.kernel_h - 1 - y) * scatter_.stride_h + phase / scatter_.stride_w;
    int const tx = (window_.kernel_w - 1 - x) * scatter_.stride_w + phase % scatter_.stride_w;
    int const ky = ty / scatter_.dilation_h, kx = tx / scatter_.dilation_w;
    if (ty % scatter_.dilation_h || tx % scatter_.dilation_w || ky >= scatter_.kernel_h || kx >= scatter_.kernel_w)
      return 0;
    return weights_[(((group * inputs_ + c) * outputs + o) * scatter_.kernel_h + ky) * scatter_.kernel_w + kx];
  }

  float const* weights_;
  parameter_source const& from_;
  scattering const& scatter_;
  window const& window_;
  int inputs_, outputs_;
};

}  // namespace ago::kernel
