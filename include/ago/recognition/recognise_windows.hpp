// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds over windows as convolutions and pooling.
#pragma once

#include <ago/operators/window.hpp>
#include <ago/recognition/index_view.hpp>
#include <ago/recognition/recognised.hpp>

namespace ago::recognition {

/// A window along one dimension: index stride * position + dilation * tap - before.
struct index_window {
  int position{-1}, tap{-1};  ///< axes; -1: of one element
  long constant{};
  int out{1}, kernel{1}, stride{1}, dilation{1}, before{}, after{};

  constexpr bool is_plain() const { return kernel == 1 && stride == 1 && before == 0 && after == 0; }
};

/// An operand whose last dimension is channels, the two before it are rows and columns of windows, and the others
/// images. Rows, and then columns, are missing if the rank is lower.
struct image_form {
  bool fits{};
  int images{1};
  int image_axes[expression::max_rank]{}, image_rank{};
  index_window rows, columns;
  shape in;
};

/// `folded`: axes. `ceil`: as in PyTorch's ceil_mode.
struct index_window_rules {
  unsigned folded{};
  tracing::window_rules of{};
};

/// Completes a window over `extent` pixels; false: no layer has it.
constexpr bool complete(index_window& w, int extent, bool padded, index_window_rules const& rules) {
  if (w.kernel == 1) w.dilation = 1;
  if (w.constant > 0) return false;
  w.before = int(-w.constant);
  long const span = long(w.kernel - 1) * w.dilation + 1, half = span / 2;
  long const missing = (w.out - 1L) * w.stride + span - extent - w.before;  // negative: pixels that are left over
  if (!padded && (missing > 0 || w.before > 0)) return false;
  if (w.out == 1) w.stride = missing < 0 ? int(1 - missing) : 1;
  auto const count = [&](long after, long more) { return (extent + w.before + after - span + more) / w.stride + 1; };
  long const least = missing > 0 ? missing : 0;
  if (rules.of.pooling && w.before > half) return false;
  bool found = false;
  if (rules.of.ceil) {  // the last window starts inside of the image, or of the padding before it
    long const up = count(w.before, w.stride - 1);
    found = w.out == ((up - 1) * w.stride < extent + w.before ? up : up - 1);
    w.after = w.before;
  } else {
    long const all[] = {padded ? w.before : 0L, least};
    for (long const after : all) {
      if (found || after < least || count(after, 0) != w.out || (rules.of.pooling && after > half)) continue;
      w.after = int(after);
      found = true;
    }
  }
  tracing::window_axis const axis{w.kernel, w.stride, w.dilation, w.before, w.after, w.out};
  return found && !(rules.of.pooling && tracing::misses_the_image(axis, extent));
}

/// The window of dimension d of access a, without its pads.
constexpr bool window_at(index_view const& view, int a, int d, unsigned folded, index_window& w) {
  axis_sum const s = view.at(a, d);
  if (!s.is_exact) return false;
  w.constant = s.constant;
  for (int x = 0; x < view.e.axis_count; ++x) {
    if (s.of[x] == 0) continue;
    bool const is_tap = folded >> x & 1;
    if (s.of[x] < 0 || (is_tap ? w.tap : w.position) >= 0) return false;
    (is_tap ? w.tap : w.position) = x;
    (is_tap ? w.dilation : w.stride) = int(s.of[x]);
    (is_tap ? w.kernel : w.out) = view.e.extent[x];
  }
  return true;
}

/// How access a reads an image; its channels are for the caller.
constexpr image_form image_form_of(index_view const& view, int a, index_window_rules const& rules) {
  image_form r;
  expression::extents const& in = view.operand_of(a);
  bool const padded = view.access(a).padded;
  if (view.is_dependent(a) || in.rank == 0) return r;
  int const last = in.rank - 1;
  auto const plain = [&](int d) {
    index_window w;
    return window_at(view, a, d, rules.folded, w) && w.tap < 0 && w.stride == 1 && w.constant == 0 && w.out == in.of[d];
  };
  int const spatial = last < 2 ? last : 2;
  for (int d = 0; d < last - spatial; ++d) {
    if (!plain(d)) return r;
    index_window w;
    window_at(view, a, d, rules.folded, w);
    if (w.position >= 0) r.image_axes[r.image_rank++] = w.position;
    r.images *= in.of[d];
  }
  r.in = {r.images, 1, 1, in.of[last]};
  for (int k = 0; k < spatial; ++k) {
    index_window& w = k + 1 == spatial ? r.columns : r.rows;
    int const d = last - spatial + k;
    (k + 1 == spatial ? r.in.w : r.in.h) = in.of[d];
    if (!window_at(view, a, d, rules.folded, w) || !complete(w, in.of[d], padded, rules)) return r;
  }
  r.fits = true;
  return r;
}

/// Are the axes of the result, in order, those of the images, the rows, the columns, and then `channels`?
constexpr bool is_in_order(index_view const& view, image_form const& f, unsigned channels) {
  int expected[expression::max_rank + 2]{}, count = 0;
  for (int i = 0; i < f.image_rank; ++i) expected[count++] = f.image_axes[i];
  if (f.rows.position >= 0) expected[count++] = f.rows.position;
  if (f.columns.position >= 0) expected[count++] = f.columns.position;
  int next = 0;
  unsigned const all = view.result_axes();
  for (int x = 0; x < view.e.result.rank; ++x) {
    if (!(all >> x & 1)) continue;
    if (next < count ? expected[next] != x : !(channels >> x & 1)) return false;
    ++next;
  }
  return next == count + __builtin_popcount(channels);
}

/// The sum over a product of an image and a parameter, as a convolution whose weights are stored as its layer has them.
constexpr bool recognise_convolution(index_view const& view, recognition_list& list, int image, int weight,
                                     unsigned folded) {
  expression::index_expression const& e = view.e;
  expression::extents const &in = view.operand_of(image), &stored = view.operand_of(weight);
  if (view.access(weight).padded || view.is_dependent(weight)) return false;
  if (view.access(image).padded && view.access(image).pad() != 0) return false;
  image_form const f = image_form_of(view, image, {folded});
  expression::digit_sum const place = view.address(weight);
  if (!f.fits || !place.is_exact || place.constant != 0) return false;
  axis_sum const of_weight = view.by_axes(place);
  unsigned const outputs = of_weight.axes() & view.result_axes();
  if (!of_weight.is_exact || !is_in_order(view, f, outputs)) return false;

  // Channels: group * group_in + those that are folded; group = output / group_out.
  expression::digit_sum const channel = view.digits_at(image, in.rank - 1);
  if (!channel.is_exact || channel.constant != 0) return false;
  long group_in = 1, out = 1;
  for (int k = 0; k < view.in.count; ++k) {
    expression::digit const& d = view.in.all[k];
    if (d.extent == 1) continue;
    bool const is_folded = folded >> d.axis & 1;
    if (is_folded && channel.of[k] != 0) group_in *= d.extent;
    if (outputs >> d.axis & 1) out *= d.extent;
    else if (!is_folded && channel.of[k] != 0) return false;
  }
  if (in.of[in.rank - 1] % group_in != 0) return false;
  long const groups = in.of[in.rank - 1] / group_in;
  if (out % groups != 0) return false;
  long const group_out = out / groups;
  long const taps = long(f.rows.kernel) * f.columns.kernel;
  if (stored.count() != out * group_in * taps) return false;
  long next = 1;  // of the folded channels
  for (int k = view.in.count; k-- > 0;) {
    expression::digit const& d = view.in.all[k];
    if (d.extent == 1) continue;
    long expected = 0;
    if (outputs >> d.axis & 1) {
      long const step = e.result.stride(d.axis) * d.weight;
      expected = step * group_in * taps;
      bool const below = step < group_out;
      if (below ? step * d.extent > group_out || channel.of[k] != 0
                : step % group_out != 0 || channel.of[k] != step / group_out * group_in)
        return false;
    } else if (folded >> d.axis & 1) {
      if (d.axis == f.columns.tap) expected = d.weight;
      else if (d.axis == f.rows.tap) expected = f.columns.kernel * d.weight;
      else expected = channel.of[k] * taps;
      bool const is_tap = d.axis == f.columns.tap || d.axis == f.rows.tap;
      if (is_tap == (channel.of[k] != 0)) return false;  // an axis of neither would only repeat the sum
    }
    if (place.of[k] != expected) return false;
  }
  // The folded channels are dense: each multiple is the product of the extents of the smaller ones.
  for (long seen = 1; next < group_in; seen = next) {
    for (int k = 0; k < view.in.count; ++k)
      if ((folded >> view.in.all[k].axis & 1) && channel.of[k] == next && view.in.all[k].extent > 1) {
        next *= view.in.all[k].extent;
        break;
      }
    if (next == seen) return false;
  }

  recognised_node n{.made = {.kind = op::conv2d,
                             .out = {f.images, f.rows.out, f.columns.out, int(out)},
                             .win = tracing::window_of(f.rows, f.columns),
                             .groups = int(groups)},
                    .operands = {{view.access(image).operand, false, f.in}},
                    .operand_count = 1,
                    .weight = view.access(weight).operand};
  if (groups == 1 && n.made.win.is_identity()) n.made.kind = stored.rank == 4 ? op::pointwise : op::linear;
  else if (groups == f.in.c && groups == out) n.made.kind = op::depthwise;
  list.append(n);
  return true;
}

/// A fold over the windows of an image, channel by channel.
constexpr bool recognise_pool(index_view const& view, recognition_list& list, op kind, int a, unsigned folded,
                              bool count_pads = true) {
  bool const largest = kind == op::max_pool, padded = view.access(a).padded;
  if (padded && view.access(a).pad() != (largest ? -__builtin_huge_valf() : 0.f)) return false;
  image_form f = image_form_of(view, a, {folded, {.pooling = true}});
  if (!f.fits && largest) f = image_form_of(view, a, {folded, {.pooling = true, .ceil = true}});
  if (!f.fits) return false;
  expression::extents const& in = view.operand_of(a);
  axis_sum const channel = view.at(a, in.rank - 1);
  int const x = channel.plain_axis();
  if (in.of[in.rank - 1] == 1 ? channel.axes() != 0 || channel.constant != 0
                              : x < 0 || x >= view.e.result.rank || view.e.extent[x] != in.of[in.rank - 1])
    return false;
  if (!is_in_order(view, f, x < 0 ? 0 : 1u << x)) return false;
  unsigned taps = 0;
  if (f.rows.tap >= 0) taps |= 1u << f.rows.tap;
  if (f.columns.tap >= 0) taps |= 1u << f.columns.tap;
  if (view.wide(folded) != taps) return false;
  node n{
      .kind = kind, .out = {f.images, f.rows.out, f.columns.out, f.in.c}, .win = tracing::window_of(f.rows, f.columns)};
  n.count_pads = kind == op::avg_pool && count_pads;
  list.append(n, {view.access(a).operand, false, f.in});
  return true;
}

}  // namespace ago::recognition
