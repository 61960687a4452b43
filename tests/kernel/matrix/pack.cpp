// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel/matrix/support.hpp"

namespace {

using namespace matrix_test;

constexpr double epsilon = 1e-3f;

/// Finds the packed value of (group, k, channel) by walking the panels, not by the packer's formula.
struct packed_group {
  float const* at;
  int vectors, width, depth, padded;  ///< vectors of a whole panel, lanes, K, channels

  float shift(int channel) const { return at[channel]; }
  float weight(int k, int channel) const {
    float const* panel = at + padded;
    int left = padded;
    while (true) {
      int const here = left < vectors * width ? left : vectors * width;
      if (channel < here) return panel[k * here + channel];
      channel -= here;
      left -= here;
      panel += long(here) * depth;
    }
  }
};

template <isa I>
void check_packing(int groups, int inputs, int outputs, window const& w, int vectors, bool bias, bool norm) {
  CAPTURE(name_of(I));
  CAPTURE(groups);
  CAPTURE(inputs);
  CAPTURE(outputs);
  CAPTURE(vectors);
  int const vectors_in_all = (outputs + lanes(I) - 1) / lanes(I), channels = groups * outputs;
  kernel_key const key = key_of<I>(structure::convolution, {4, vectors, 0, vectors_in_all % vectors}, true);
  planned_data s;
  s.in = {1, 9, 9, groups * inputs};
  s.out = {1, 9, 9, channels};
  s.win = w;
  s.groups = groups;
  int const taps = w.kernel_h * w.kernel_w, depth = taps * inputs, padding = vectors_in_all * lanes(I);
  CHECK(packed_floats(key, s) == long(groups) * padding * (depth + 1));

  random_numbers random(groups * 100 + outputs);
  std::vector<float> blob(7 + long(channels) * depth + 5L * channels);
  for (float& x : blob) x = random.real();
  long const shifts = 7 + long(channels) * depth, norms = shifts + channels;
  for (int o = 0; o < channels; ++o) blob[norms + 3L * channels + o] = .1f + .9f * std::fabs(random.real());
  guarded packed(packed_floats(key, s));
  int const norm_at = norm ? int(norms) : -1;
  pack_matrix<I>(key, s, {7, norm_at, bias ? int(shifts) : -1, norm_at, float(epsilon)}, blob.data(), packed.data());
  CHECK(packed.guards_untouched());

  long wrong = 0;
  for (int g = 0; g < groups; ++g) {
    packed_group const group{packed.data() + long(g) * padding * (depth + 1), vectors, lanes(I), depth, padding};
    for (int o = 0; o < padding; ++o) {
      bool const exists = o < outputs;
      long const channel = g * outputs + o;
      double scale = 1, shift = exists && bias ? blob[shifts + channel] : 0;
      if (exists && norm) {
        float const* const n = blob.data() + norms + channel;
        scale = n[0] / std::sqrt(double(n[3L * channels]) + epsilon);
        shift = (shift - n[2L * channels]) * scale + n[channels];
      }
      wrong += !(std::fabs(group.shift(o) - shift) <= 1e-6 * (1 + std::fabs(shift)));
      for (int tap = 0; tap < taps; ++tap)
        for (int c = 0; c < inputs; ++c) {
          double const weight = exists ? blob[7 + (channel * inputs + c) * taps + tap] * scale : 0;
          wrong += !(std::fabs(group.weight(tap * inputs + c, o) - weight) <= 1e-6 * std::fabs(weight));
        }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("weights are packed in panels, folded, and padded with zeros") {
  window const pixel{}, square{3, 3}, row{1, 5};
  on_every_isa([&]<isa I>() {
    for (int outputs : {1, 3, lanes(I), lanes(I) + 1, 3 * lanes(I) - 1, 5 * lanes(I)})
      for (int vectors : {1, 2, 3, 7})
        for (bool norm : {false, true}) {
          check_packing<I>(1, 5, outputs, pixel, vectors, norm, norm);
          check_packing<I>(1, 3, outputs, square, vectors, true, norm);
          check_packing<I>(3, 2, outputs, row, vectors, !norm, norm);
        }
  });
}

TEST_CASE("a bias may pass through a norm that is not folded into the weights") {
  // If the partition separates them, the convolution keeps its weights and the bias adds (shift - mean) * scale + beta.
  kernel_key const key = key_of<isa::scalar>(structure::pointwise, {1, 1, 0, 0}, false);
  planned_data s;
  s.out = {1, 1, 1, 1};
  float const blob[] = {3.f, /* bias */ 5.f, /* gamma, beta, mean, variance */ 2.f, 7.f, 1.f, 4.f};
  float packed[2];
  pack_matrix<isa::scalar>(key, s, {0, -1, 1, 2, 0.f}, blob, packed);
  CHECK(packed[0] == 11.f);  // (5 - 1) * 2 / sqrt(4) + 7
  CHECK(packed[1] == 3.f);
}

}  // namespace
