// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of values that work items read and write.
#pragma once

#include <ago/plan/pieces.hpp>

namespace ago::plan {

/// What work item `k` of a step of `count` parts writes of the result, at least.
constexpr value_region written_by_piece(planned_step const* parts, int count, step_split const& s, int k) {
  shape const& out = parts[count - 1].data.out;
  value_region r = whole_of(out);
  if (s.pieces == 1) return r;
  stretch const of = stretch_of(s, split_extent(parts, count, s.how), k);
  long const image = long(out.h) * out.w;
  switch (s.how) {
    case split::images: return {of.first * image, of.last * image, 0, out.c};
    case split::rows: return {of.first * out.w, of.last * out.w, 0, out.c};
    case split::pixels: {
      planned_step const& last = parts[count - 1];
      if (!kernel::takes_portion(last.key.what)) return {of.first, of.last, 0, out.c};
      return kernel::facts_of(last.key.what).written_by_portion(last.key, last.data, of);
    }
    case split::channels:
      if (groups_of_channels(parts[0]) > 1) return {};
      return {0, out.pixels(), of.first, of.last};
    case split::none:
    case split::whole: break;
  }
  return r;
}

/// What it reads of the source, at most.
constexpr value_region read_by_piece(planned_step const* parts, int count, step_split const& s, int k) {
  shape const& in = parts[0].data.in;
  value_region const all = whole_of(in);
  if (s.pieces == 1) return all;
  stretch const of = stretch_of(s, split_extent(parts, count, s.how), k);
  if (s.how == split::channels)
    return cut_of_channels(parts[0]).reads_own ? value_region{0, in.pixels(), of.first, of.last} : all;
  kernel_key const& key = parts[0].key;
  if (count > 1 && kernel::takes_portion(parts[count - 1].key.what)) return all;
  if (kernel::takes_portion(key.what)) return kernel::facts_of(key.what).read_by_portion(key, parts[0].data, of);
  step_piece const piece = piece_of(parts, count, s, k, {});
  return {piece.source_pixel, piece.source_pixel + piece.part[0].in.pixels(), 0, in.c};
}

/// What it reads, at most, of a value of shape `v` that is the second operand of an operator in the epilogue of part
/// `i`, or the second or third operand of a product.
constexpr value_region read_beside(planned_step const* parts, int count, step_split const& s, int k, int i,
                                   shape const& v) {
  planned_step const& p = parts[i];
  shape const& out = p.data.out;
  value_region const all = whole_of(v);
  if (s.pieces == 1 || i + 1 < count) return all;
  if (s.how == split::channels && cut_of_channels(p).others_too) {
    stretch const of = stretch_of(s, split_extent(parts, count, s.how), k);
    return {0, v.pixels(), of.first, of.last};
  }
  bool const alike = v.n == out.n && v.h == out.h && v.w == out.w && !kernel::multiplies_values(p.key.what);
  if (!alike || kernel::takes_portion(parts[count - 1].key.what)) return all;
  value_region r = written_by_piece(parts, count, s, k);
  if (v.c == 1) r.first_channel = 0, r.last_channel = 1;
  return r;
}

}  // namespace ago::plan
