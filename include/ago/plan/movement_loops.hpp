// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operators that move elements copy from where to where.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/plan/step.hpp>

namespace ago::plan {

/// Floats from one element to the next along each axis of a value of shape `s` at `at`.
struct axis_strides {
  int of[4];
  constexpr axis_strides(shape const& s, place const& at)
      : of{s.h * s.w * at.pixel_stride, s.w * at.pixel_stride, at.pixel_stride, 1} {}
};

/// All elements of the source, to places `first`, `first` + `step`, ... along one axis of the destination.
constexpr strided_loops loops_of_scatter(step_data const& s, int axis, int first, int step) {
  axis_strides const in(s.in, s.source), out(s.out, s.destination);
  strided_loops r{.to = first * out.of[axis]};
  for (int k = 0; k < 4; ++k) r.add(extent_along(s.in, k), in.of[k], out.of[k] * (k == axis ? step : 1));
  r.arrange();
  return r;
}

/// Element i of the result along an axis is element first + i * step of the source.
constexpr strided_loops loops_of_slice(step_data const& s, int axis, int first, int step) {
  axis_strides const in(s.in, s.source), out(s.out, s.destination);
  strided_loops r{.from = first * in.of[axis]};
  for (int k = 0; k < 4; ++k) r.add(extent_along(s.out, k), in.of[k] * (k == axis ? step : 1), out.of[k]);
  r.arrange();
  return r;
}

/// Channel b * groups + a is channel a * (channels / groups) + b of the source.
constexpr strided_loops loops_of_shuffle(step_data const& s, int groups) {
  axis_strides const in(s.in, s.source), out(s.out, s.destination);
  int const channels = s.out.c / groups;
  strided_loops r;
  for (int k = 0; k < 3; ++k) r.add(extent_along(s.out, k), in.of[k], out.of[k]);
  r.add(channels, 1, groups);
  r.add(groups, channels, 1);
  r.arrange();
  return r;
}

/// Axis k of the result is axis order[k] of the source, or repeats it where that has one element.
constexpr strided_loops loops_of_axes(step_data const& s, int const (&order)[4]) {
  axis_strides const in(s.in, s.source), out(s.out, s.destination);
  strided_loops r;
  for (int k = 0; k < 4; ++k) {
    bool const repeats = extent_along(s.in, order[k]) == 1;
    r.add(extent_along(s.out, k), repeats ? 0 : in.of[order[k]], out.of[k]);
  }
  r.arrange();
  return r;
}

/// Between an image and the sequences of the pixels at each place (py, px) in its patches. `folds`: to the image.
constexpr strided_loops loops_of_patches(step_data const& s, patch const& of, bool folds) {
  shape const& image = folds ? s.out : s.in;
  int const pixel = (folds ? s.destination : s.source).pixel_stride;
  int const token = (folds ? s.source : s.destination).pixel_stride;
  auto const [ph, pw] = of;
  int const rows = image.h / ph, columns = image.w / pw;
  int const row = image.w * pixel, sequence = rows * columns * token;
  strided_loops r;
  auto const add = [&](int extent, int in_image, int in_sequences) {
    r.add(extent, folds ? in_sequences : in_image, folds ? in_image : in_sequences);
  };
  add(image.n, image.h * row, ph * pw * sequence);
  add(rows, ph * row, columns * token);
  add(ph, row, pw * sequence);
  add(columns, pw * pixel, token);
  add(pw, pixel, sequence);
  add(image.c, 1, 1);
  r.arrange();
  return r;
}

/// Elements in the order of memory. None if both values have gaps between their pixels, and the channels of neither
/// divide those of the other.
constexpr strided_loops loops_in_order(step_data const& s) {
  int const count = int(s.out.count());
  // The elements of a value without gaps count as those of one pixel.
  int const in = s.source.pixel_stride == s.in.c ? count : s.in.c;
  int const out = s.destination.pixel_stride == s.out.c ? count : s.out.c;
  int const run = in < out ? in : out, longer = in < out ? out : in;
  if (longer % run != 0) return {};
  int const runs = longer / run;
  strided_loops r;
  r.add(count / longer, (in < out ? runs : 1) * s.source.pixel_stride,
        (in < out ? 1 : runs) * s.destination.pixel_stride);
  r.add(runs, in < out ? s.source.pixel_stride : run, in < out ? run : s.destination.pixel_stride);
  r.add(run, 1, 1);
  r.arrange();
  return r;
}

/// What `n`, which moves elements, copies. `first`: where a source of a concatenation begins along its axis.
constexpr strided_loops loops_of(node const& n, step_data const& s, int first) {
  constexpr int same[] = {0, 1, 2, 3};
  switch (n.kind) {
    case op::slice: return loops_of_slice(s, n.axis, n.begin, n.step);
    case op::concat: return loops_of_scatter(s, n.axis, first, 1);
    case op::channel_shuffle: return loops_of_shuffle(s, n.groups);
    case op::permute: return loops_of_axes(s, n.order);
    case op::expand: return loops_of_axes(s, same);
    case op::unfold:
    case op::fold: return loops_of_patches(s, n.patch, n.kind == op::fold);
    case op::reshape: return loops_in_order(s);
    default: no_case_for_this_value();
  }
}

/// The source within the pads of the result, its first channel at channel `first`.
constexpr strided_loops loops_of_pad(step_data const& s, int first) {
  axis_strides const out(s.out, s.destination);
  strided_loops r = loops_of_scatter(s, 3, first, 1);
  r.to += s.win.pad_top * out.of[1] + s.win.pad_left * out.of[2];
  return r;
}

}  // namespace ago::plan
