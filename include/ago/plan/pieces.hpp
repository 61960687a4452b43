// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work items of a step, which run concurrently: its kernels with modified data.
#pragma once

#include <ago/plan/cuts.hpp>
#include <ago/plan/plan.hpp>

namespace ago::plan {

/// A work item of a step: the data of its parts.
struct step_piece {
  planned_data part[max_parts]{};
  long source_pixel = 0;  ///< its first pixel in the source
};

/// The groups of a step's channels, which are divided alike.
constexpr int groups_of_channels(planned_step const& p) {
  return facts_of(p.key.what).channel_groups(p.key.what, p.data);
}

/// The extent along which a step or pipeline of `count` parts is divided; for channels of a convolution those of a
/// group.
constexpr long split_extent(planned_step const* parts, int count, split how) {
  planned_step const& end = parts[count - 1];
  shape const &first = parts[0].data.out, &last = end.data.out;
  switch (how) {
    case split::images: return last.n;
    case split::rows: return last.h;
    case split::pixels: return takes_portion(end.key.what) ? indices_of(end.key, end.data) : last.pixels();
    case split::channels: return first.c / groups_of_channels(parts[0]);
    case split::none:
    case split::whole: return 1;
  }
  no_case_for_this_value();
}

/// The range of work item `k`: whole granules, except at the end.
constexpr stretch stretch_of(step_split const& s, long extent, int k) {
  long const granules = (extent + s.granule - 1) / s.granule;
  auto const border = [&](int i) {
    long const at = granules * i / s.pieces * s.granule;
    return at < extent ? at : extent;
  };
  return {border(k), border(k + 1)};
}

/// Moves the epilogue's operands and parameters to image `n`, pixel `pixel` (of the whole value) and channel `channel`
/// of the result.
constexpr void move_stages(kernel_key const& key, planned_data& s, long n, long pixel, long channel) {
  for (int i = 0; i < key.after.count(); ++i) {
    stage const& k = key.after.stages[i];
    stage_data& a = s.after[i];
    if (is_binary(k.kind))
      a.operand.offset += n * a.image_step + pixel * a.operand.pixel_stride + (k.one_channel ? 0 : channel);
    if (k.kind == op::positions) a.parameters += (pixel - n * s.out.h * s.out.w) * s.out.c;
    if (a.parameters >= 0) a.parameters += channel;
  }
}

constexpr channel_cut cut_of_channels(planned_step const& p) {
  return facts_of(p.key.what).cut_of_channels(p.key, p.data);
}

/// Restricts a part to images `of`.
constexpr void take_images(kernel_key const& key, planned_data& s, stretch const& of, bool reads, bool writes) {
  int const n = int(of.first);
  if (reads) s.source.offset += long(n) * s.in.h * s.in.w * s.source.pixel_stride;
  if (writes) s.destination.offset += long(n) * s.out.h * s.out.w * s.destination.pixel_stride;
  move_stages(key, s, n, long(n) * s.out.h * s.out.w, 0);
  s.in.n = s.out.n = int(of.size());
  if (!multiplies_values(key.what)) return;
  for (place& other : s.other) other.offset += long(n) * s.other_shape.h * s.other_shape.w * other.pixel_stride;
  s.other_shape.n = int(of.size());
}

/// Restricts a part to rows `of` of the result; returns the rows of the source that these read.
constexpr stretch take_rows(kernel_key const& key, planned_data& s, stretch const& of, bool reads, bool writes) {
  window& w = s.win;
  long const start = of.first * w.stride_h - w.pad_top, end = (of.last - 1) * w.stride_h - w.pad_top + w.span_h();
  stretch const seen{start > 0 ? start : 0, end < s.in.h ? end : s.in.h};
  long const below = s.in.h + w.pad_bottom - seen.last;  // including the pads, which an average may count
  if (reads) s.source.offset += seen.first * s.in.w * s.source.pixel_stride;
  if (writes) s.destination.offset += of.first * s.out.w * s.destination.pixel_stride;
  move_stages(key, s, 0, of.first * s.out.w, 0);
  s.in.h = int(seen.size());
  s.out.h = int(of.size());
  w.pad_top = int(seen.first - start);
  w.pad_bottom = int(below);
  return seen;
}

/// Restricts a part to pixels `of`, as one row, or to the indices `of`.
constexpr void take_pixels(kernel_key const& key, planned_data& s, stretch const& of, bool reads, bool writes) {
  if (takes_portion(key.what)) {
    s.portion = {int(of.first), int(of.last)};
    return;
  }
  if (reads) s.source.offset += of.first * s.source.pixel_stride;
  if (writes) s.destination.offset += of.first * s.destination.pixel_stride;
  move_stages(key, s, 0, of.first, 0);
  s.in = {1, 1, int(of.size()), s.in.c};
  s.out = {1, 1, int(of.size()), s.out.c};
}

/// Restricts a kernel that is then one of fewer channels to channels `of`.
constexpr void take_channels(kernel_key const& key, planned_data& s, stretch const& of) {
  s.source.offset += of.first;
  s.destination.offset += of.first;
  move_stages(key, s, 0, 0, of.first);
  facts_of(key.what).narrow(key, s, of);
}

/// The buffers of which every work item has its own, in floats from one to the next: the result of each part that is
/// read by the next part, and scratch.
struct piece_buffers {
  long result[max_parts]{}, scratch[max_parts]{};
};
template <int V>
constexpr piece_buffers buffers_of(memory_plan<V> const& m, planned_step const* parts, int count) {
  piece_buffers r;
  for (int b = 0; b < m.buffer_count; ++b) {
    buffer const& of = m.buffers[b];
    for (int i = 0; i < count && of.copies > 1; ++i) {
      step_nodes const& s = parts[i].nodes;
      if (of.scratch && of.value == s.main) r.scratch[i] = of.apart;
      if (!of.scratch && of.value == s.result && i + 1 < count) r.result[i] = of.apart;
    }
  }
  return r;
}

/// Work item `k` of a step or pipeline of `count` parts.
constexpr step_piece piece_of(planned_step const* parts, int count, step_split const& s, int k,
                              piece_buffers const& own) {
  step_piece r;
  for (int i = 0; i < count; ++i) r.part[i] = parts[i].data;
  if (s.pieces == 1) return r;
  stretch const of = stretch_of(s, split_extent(parts, count, s.how), k);
  stretch rows = of;
  for (int i = count - 1; i >= 0; --i) {
    kernel_key const& key = parts[i].key;
    planned_data& d = r.part[i];
    bool const reads = i == 0, writes = i + 1 == count;
    if (s.how == split::images) take_images(key, d, of, reads, writes);
    if (s.how == split::rows) rows = take_rows(key, d, rows, reads, writes);
    if (s.how == split::pixels && (writes || !takes_portion(parts[count - 1].key.what)))
      take_pixels(key, d, of, reads, writes);
    if (s.how == split::channels && plan::cut_of_channels(parts[i]).narrows) take_channels(key, d, of);
    else if (s.how == split::channels && reads) d.channels = {int(of.first), int(of.last)};
    d.scratch += k * own.scratch[i];
    if (writes) continue;
    d.destination.offset += k * own.result[i];
    r.part[i + 1].source.offset += k * own.result[i];
  }
  shape const& in = parts[0].data.in;
  if (s.how == split::images) r.source_pixel = of.first * in.h * in.w;
  if (s.how == split::rows) r.source_pixel = rows.first * in.w;
  if (s.how == split::pixels) r.source_pixel = of.first;
  return r;
}

/// Calls visit(step, first part, parts, piece) for every work item of every step, in order.
template <int S, int V, int N>
constexpr void for_each_piece(fusion_list<S> const& groups, split_list<S> const& splits, memory_plan<V> const& m,
                              execution_plan<N> const& p, auto const& visit) {
  for (int k = 0; k < groups.count; ++k) {
    int const first = groups.first[k], count = groups.parts[k];
    piece_buffers const own = splits.of[k].pieces > 1 ? buffers_of(m, p.steps + first, count) : piece_buffers{};
    for (int i = 0; i < splits.of[k].pieces; ++i)
      visit(k, first, count, piece_of(p.steps + first, count, splits.of[k], i, own));
  }
}

/// A segment of a work item's input, from that of its step.
constexpr input_run run_of_piece(input_run r, step_piece const& to) {
  r.at.offset += to.source_pixel * r.at.pixel_stride;
  return r;
}

}  // namespace ago::plan
