// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of values that work items read and write.
#pragma once

#include <ago/plan/pieces.hpp>

namespace ago {

/// Pixels first ... last - 1 of a value, and of these the channels first ... last - 1.
struct value_region {
  long first_pixel{}, last_pixel{}, first_channel{}, last_channel{};

  constexpr long floats() const {
    bool const none = last_pixel <= first_pixel || last_channel <= first_channel;
    return none ? 0 : (last_pixel - first_pixel) * (last_channel - first_channel);
  }
  constexpr bool contains(value_region const& o) const {
    return o.floats() == 0 || (first_pixel <= o.first_pixel && o.last_pixel <= last_pixel &&
                               first_channel <= o.first_channel && o.last_channel <= last_channel);
  }
  constexpr value_region common_with(value_region const& o) const {
    return {first_pixel > o.first_pixel ? first_pixel : o.first_pixel,
            last_pixel < o.last_pixel ? last_pixel : o.last_pixel,
            first_channel > o.first_channel ? first_channel : o.first_channel,
            last_channel < o.last_channel ? last_channel : o.last_channel};
  }
};
constexpr value_region whole_of(shape const& s) { return {0, s.pixels(), 0, s.c}; }

namespace detail {

/// The rows of an image in which tiles of Winograd are, of the tiles that begin at `first` and end before `last`.
struct tile_rows {
  long first, last;  ///< of those that are there as a whole, or, if `touched`, of all
  constexpr tile_rows(winograd_layout const& l, stretch const& of, bool touched)
      : first((of.first + (touched ? 0 : l.columns - 1)) / l.columns * l.tile),
        last((of.last + (touched ? l.columns - 1 : 0)) / l.columns * l.tile) {}
};

constexpr bool is_winograd(planned_step const& p) { return winograd_tile(p.key.what) > 0; }
/// Does each work item read only its channels of the source?
constexpr bool reads_own_channels(planned_step const& p) {
  switch (p.key.what) {
    case structure::depthwise: return p.data.in.c == p.data.out.c;
    case structure::attention:
    case structure::global_avg_pool:
    case structure::global_max_pool: return true;
    default: return false;
  }
}

}  // namespace detail

/// What work item `k` of a step of `count` parts writes of the result, at least.
constexpr value_region written_by_piece(planned_step const* parts, int count, step_split const& s, int k) {
  shape const& out = parts[count - 1].data.out;
  value_region r = whole_of(out);
  if (s.pieces == 1) return r;
  detail::stretch const of = detail::stretch_of(s, detail::split_extent(parts, count, s.how), k);
  long const image = long(out.h) * out.w;
  switch (s.how) {
    case split::images: return {of.first * image, of.last * image, 0, out.c};
    case split::rows: return {of.first * out.w, of.last * out.w, 0, out.c};
    case split::pixels: {
      if (!detail::takes_portion(parts[0].key.what)) return {of.first, of.last, 0, out.c};
      if (out.n > 1 || !detail::is_winograd(parts[0])) return {};
      detail::tile_rows const rows(layout_of_winograd(parts[0].key, parts[0].data), of, false);
      return whole_of(out).common_with({rows.first * out.w, rows.last * out.w, 0, out.c});
    }
    case split::channels:
      if (parts[0].data.groups > 1 && parts[0].key.what == structure::convolution) return {};
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
  detail::stretch const of = detail::stretch_of(s, detail::split_extent(parts, count, s.how), k);
  if (s.how == split::channels)
    return detail::reads_own_channels(parts[0]) ? value_region{0, in.pixels(), of.first, of.last} : all;
  if (detail::is_winograd(parts[0])) {
    if (in.n > 1) return all;
    window const& w = parts[0].data.win;
    detail::tile_rows const rows(layout_of_winograd(parts[0].key, parts[0].data), of, true);
    return all.common_with({(rows.first - w.pad_top) * in.w, (rows.last + 2 - w.pad_top) * in.w, 0, in.c});
  }
  if (detail::takes_portion(parts[0].key.what)) return all;
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
  if (p.key.what == structure::attention && s.how == split::channels) {
    detail::stretch const of = detail::stretch_of(s, detail::split_extent(parts, count, s.how), k);
    return {0, v.pixels(), of.first, of.last};
  }
  bool const alike = v.n == out.n && v.h == out.h && v.w == out.w && !is_product(p.key.what);
  if (!alike || detail::takes_portion(parts[0].key.what)) return all;
  value_region r = written_by_piece(parts, count, s, k);
  if (v.c == 1) r.first_channel = 0, r.last_channel = 1;
  return r;
}

}  // namespace ago
