// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the weights of pointwise, linear and convolution.
#pragma once

#include <ago/kernel/folding.hpp>
#include <ago/kernel/matrix/layout.hpp>
#include <ago/kernel/weight_reader.hpp>
#include <ago/simd/transpose.hpp>

#include <cstring>

namespace ago::kernel {

/// Writes `depth` steps of K of `channels` channels to a panel of `width` channels. In `from`, channels are `apart`
/// floats from each other, and steps of K follow each other. The first one is the first of its vector.
template <isa I>
[[gnu::noinline]] void copy_weights(float const* from, long apart, float* to, long width, int steps, int channels,
                                    int depth) {
  constexpr isa of_host = available(isa_of_four(I)) ? I : isa::scalar;
  if (steps == 1) return transpose<of_host>(from, apart, to, width, depth, channels);
  for (int i = 0; i < channels; ++i, from += apart, to += 2) {
    float const* p = from;
    float* q = to;
    for (int k = depth; k > 1; k -= 2, p += 2, q += 2 * width) std::memcpy(q, p, 2 * sizeof(float));
    if (depth % 2) *q = *p;
  }
}

/// Likewise windows of `taps` taps: in `from`, the weights of a channel are [depth][taps], and steps of the panel are
/// [taps][inputs]. Transposed a few at a time, they are read and written in runs.
template <isa I>
[[gnu::noinline]] void copy_windows(float const* from, long apart, float* to, long width, int channels, int depth,
                                    int taps, int inputs) {
  constexpr isa of_host = available(isa_of_four(I)) ? I : isa::scalar;
  constexpr int most_steps = 16, most_channels = 64;
  float rows[most_steps * most_channels];
  for (int c = 0, many; c < channels; c += many) {
    many = channels - c < most_channels ? channels - c : most_channels;
    for (int first = 0, count; first < depth * taps; first += count) {
      count = depth * taps - first < most_steps ? depth * taps - first : most_steps;
      transpose<of_host>(from + c * apart + first, apart, rows, many, count, many);
      for (int i = 0; i < count; ++i) {
        long const step = (first + i) % taps * long(inputs) + (first + i) / taps;
        std::memcpy(to + step * width + c, rows + i * many, std::size_t(many) * sizeof(float));
      }
    }
  }
}

/// Writes the weights of a convolution that joins pixels, each channel once for every one of them.
template <isa I>
void pack_joined(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                 float* to) {
  packed_operator const whole = with_joined_pixels(key, s);
  matrix_layout const layout = layout_of_matrix(key, whole);
  folded_parameters const parameters(from, blob, s.out.c);
  weight_reader const weight(s, from, blob, s.in.c, s.out.c);
  if (parameters.has(0))
    for (long i = 0; i < layout.floats(1); ++i) to[i] = 0;
  input_run const all{{s.in.c}, {}};
  input_run const* const runs = s.runs ? s.runs : &all;
  int const run_count = s.runs ? s.run_count : 1;
  for (int channel = 0; channel < whole.out.c; ++channel) {
    int const o = channel % s.out.c, shifted = channel / s.out.c * s.win.stride_w;
    if (!parameters.has(o)) continue;
    to[channel] = parameters.shift(o);
    int const first = channel / layout.panel * layout.panel, rest = layout.padded_channels - first;
    long const width = rest < layout.panel ? rest : layout.panel;
    float* const column = to + layout.panel_offset(first) + channel - first;
    for (int y = 0; y < s.win.kernel_h; ++y)
      for (int x = 0; x < s.win.kernel_w; ++x) {
        long k = (y * long(whole.win.kernel_w) + x + shifted) * s.in.c;
        for (int r = 0; r < run_count; ++r)
          for (int i = 0; i < runs[r].count; ++i, ++k) {
            float const w = weight(o, runs[r].start + i * runs[r].step, y * s.win.kernel_w + x);
            column[k * width] = float(double(w) * parameters.scale(o));
          }
      }
  }
}

/// Writes weights to `to` in the matrix_layout of the step, with batch norm folded in; padded channels get zeros.
/// Weights `from` several sources are written by one call for each, that for channel 0 first. `blob` holds the weights
/// as [out][in / groups][kernel_h][kernel_w]; packed rows are in the order of the input's channels in memory. A
/// template, so that objects built for different machines share no code.
template <isa I>
void pack_matrix(kernel_key const& key, packed_operator const& s, parameter_source const& from, float const* blob,
                 float* to) {
  if (key.joined_pixels > 1) return pack_joined<I>(key, s, from, blob, to);
  matrix_layout const layout = layout_of_matrix(key, s);
  folded_parameters const parameters(from, blob, s.out.c);
  int const taps = s.win.kernel_h * s.win.kernel_w, inputs = s.in.c / s.groups, steps = layout.steps, odd = steps - 1;
  weight_reader const weight(s, from, blob, inputs, s.out.c / s.groups);
  input_run const whole{{inputs}, {}};
  input_run const* const runs = s.runs ? s.runs : &whole;
  int const run_count = s.runs ? s.run_count : 1;
  bool const scattered = weight.is_scattered(), all = parameters.has(0) && parameters.has(s.out.c - 1);
  bool const direct = !scattered && steps == 1;
  bool const copies = from.norm < 0 && all && !scattered && (taps == 1 || steps == 1);
  bool const complete = steps == 1 && layout.padded_channels == layout.group_channels;  // all of it is written below
  if (!complete && parameters.has(0))
    for (long i = 0; i < layout.floats(s.groups); ++i) to[i] = 0;
  // A block of input channels of a panel is read and written while it is in L1.
  constexpr int block = 16;
  for (int first = 0, count; first < s.out.c; first += count) {
    int const channel = first % layout.group_channels, rest = layout.padded_channels - channel;
    int const left = layout.group_channels - channel;
    long const width = rest < layout.panel ? rest : layout.panel;
    count = left < width ? left : int(width);
    float* const group = to + first / layout.group_channels * layout.group_floats();
    float* const panel = group + layout.panel_offset(channel);
    for (int i = 0; i < count; ++i)
      if (parameters.has(first + i)) group[(channel + i) * steps] = parameters.shift(first + i);
    for (int r = 0, at = 0; r < run_count; ++r) {
      input_run const run = runs[r];
      long const apart = long(run.step) * taps, next_channel = long(inputs) * taps * from.step;
      if (key.in_runs) at += at % steps;  // pointwise only: there is one tap
      for (int done = 0, depth; done < run.count; done += depth, at += depth) {
        depth = run.count - done < block ? run.count - done : block;
        int const c = run.start + done * run.step;
        if (copies && run.step == 1 && at % steps == 0) {
          float const* const source = weight.at(first, c, 0);
          float* const row = panel + at * width;
          if (taps == 1) copy_weights<I>(source, next_channel, row, width, steps, count, depth);
          else copy_windows<I>(source, next_channel, row, width, count, depth, taps, inputs);
          continue;
        }
        for (int tap = 0; tap < taps; ++tap)
          for (int i = 0; i < count; ++i) {
            if (!parameters.has(first + i)) continue;
            int const k = tap * inputs + at;
            double const scale = parameters.scale(first + i);
            float* const column = panel + i * steps;
            if (direct) {
              float const* const source = weight.at(first + i, c, tap);
              for (int j = 0; j < depth; ++j) column[(k + j) * width] = float(double(source[j * apart]) * scale);
            } else {
              for (int j = 0; j < depth; ++j)
                column[long((k + j) >> odd) * (width << odd) + ((k + j) & odd)] =
                    float(double(weight(first + i, c + j * run.step, tap)) * scale);
            }
          }
      }
    }
  }
}

}  // namespace ago::kernel
