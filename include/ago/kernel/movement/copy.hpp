// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data movement: slice, concat, channel_shuffle, permute, unfold, fold, expand, reshape.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/kernel/epilogue.hpp>
#include <ago/kernel/movement/strided_copy.hpp>

namespace ago::kernel {

/// Floats from one element to the next along each axis of a value.
struct axis_strides {
  long of[4];
  axis_strides(shape const& s, int pixel_stride)
      : of{long(s.h) * s.w * pixel_stride, long(s.w) * pixel_stride, pixel_stride, 1} {}
};

/// Copies elements in memory order between values that may have gaps between their pixels.
template <isa I>
[[gnu::noinline]] void copy_in_order(step_data const& s, float const* from, float* to) {
  long const count = s.out.count();
  bool const dense_source = s.source.pixel_stride == s.in.c, dense_destination = s.destination.pixel_stride == s.out.c;
  long const source_run = dense_source ? count : s.in.c, destination_run = dense_destination ? count : s.out.c;
  long const source_gap = s.source.pixel_stride - s.in.c, destination_gap = s.destination.pixel_stride - s.out.c;
  long source_left = source_run, destination_left = destination_run;
  for (long done = 0; done < count;) {
    long const run = source_left < destination_left ? source_left : destination_left;
    copy_run<I>(from, to, run);
    done += run;
    source_left -= run;
    destination_left -= run;
    from += source_left == 0 ? run + source_gap : run;
    to += destination_left == 0 ? run + destination_gap : run;
    if (source_left == 0) source_left = source_run;
    if (destination_left == 0) destination_left = destination_run;
  }
}

/// The copy between an image and the sequences of the pixels at each place (py, px) in its patches of ph x pw pixels.
template <isa I>
strided_copy<I> copy_of_patches(step_data const& s, op kind) {
  bool const fold = kind == op::fold;
  shape const& image = fold ? s.out : s.in;
  long const pixel = fold ? s.destination.pixel_stride : s.source.pixel_stride;
  long const token = fold ? s.source.pixel_stride : s.destination.pixel_stride;
  long const ph = s.win.stride_h, pw = s.win.stride_w, rows = image.h / ph, columns = image.w / pw;
  long const row = image.w * pixel, sequence = rows * columns * token;
  strided_copy<I> copy;
  auto const add = [&](long extent, long in_image, long in_sequences) {
    copy.add(extent, fold ? in_sequences : in_image, fold ? in_image : in_sequences);
  };
  add(image.n, image.h * row, ph * pw * sequence);
  add(rows, ph * row, columns * token);
  add(ph, row, pw * sequence);
  add(columns, pw * pixel, token);
  add(pw, pixel, sequence);
  add(image.c, 1, 1);
  return copy;
}

template <isa I>
[[gnu::noinline]] void copy_by_loops(step_data const& s, movement const& m, float const* from, float* to) {
  axis_strides in(s.in, s.source.pixel_stride), out(s.out, s.destination.pixel_stride);
  if (m.kind == op::unfold || m.kind == op::fold) return copy_of_patches<I>(s, m.kind).run(from, to);
  bool const scatters = m.kind == op::concat;
  if (m.kind == op::slice) {
    from += m.begin * in.of[m.axis];
    in.of[m.axis] *= m.step;
  }
  if (scatters) {
    to += m.begin * out.of[m.axis];
    out.of[m.axis] *= m.step;
  }
  shape const& e = scatters ? s.in : s.out;
  long const extents[] = {e.n, e.h, e.w, e.c};
  if (m.kind == op::expand)
    for (int k = 0; k < 4; ++k)
      if (extent_along(s.in, k) == 1) in.of[k] = 0;
  bool const shuffles = m.kind == op::channel_shuffle;
  strided_copy<I> copy;
  for (int k = 0; k < (shuffles ? 3 : 4); ++k)
    copy.add(extents[k], in.of[m.kind == op::permute ? m.order[k] : k], out.of[k]);
  if (shuffles) {
    long const groups = s.groups, channels = e.c / groups;
    copy.add(channels, 1, groups);
    copy.add(groups, channels, 1);
  }
  copy.run(from, to);
}

/// Moves the elements of a value according to step_details::move, whose fields mean the same as in `node`:
///   slice            element i along the axis is element begin + i * step of the source;
///   concat           element i of the source along the axis becomes element begin + i * step, the others stay;
///   channel_shuffle  `groups`;  permute  `order`;  unfold, fold  patches as large as the window's strides;
///   expand           repeats the source along axes on which it has one element;
///   reshape          keeps the order in memory;  identity  copies.
template <kernel_key K>
struct copy_kernel {
  static_assert(K.after.count() == 0, "a copy takes no epilogue");
  static void run(step_data const& s, kernel_memory const& m) {
    float const* const from = address(s.source, m);
    float* const to = mutable_address(s.destination, m);
    movement const& move = m.details(s).move;
    if (move.kind == op::reshape) copy_in_order<K.target>(s, from, to);
    else copy_by_loops<K.target>(s, move, from, to);
  }
};

}  // namespace ago::kernel
