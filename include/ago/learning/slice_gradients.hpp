// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of a value that is read in slices. By its derivation each slice's is surrounded with zeros, and all are
// added. Slices that do not overlap are put side by side instead.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/tracing/recording.hpp>

namespace ago::learning {

/// Is it a part of a value, whose elements stay neighbours?
constexpr bool is_part(node const& n) { return n.kind == op::slice && n.step == 1; }

/// A part of a value: elements `begin` ... of an axis.
struct value_part {
  int begin{};
  tensor of{};
  constexpr int end(int axis) const { return begin + extent_along(of.dims(), axis); }
};

/// x between zeros along rows, columns or channels.
constexpr tensor between_zeros(tracing::recording& r, tensor x, int axis, int before, int after) {
  if (before + after == 0) return x;
  node n{.kind = op::pad, .out = x.dims()};
  extent_along(n.out, axis) += before + after;
  if (axis == 1) n.win.pad_top = before, n.win.pad_bottom = after;
  if (axis == 2) n.win.pad_left = before, n.win.pad_right = after;
  if (axis == 3) n.pad_channels = before;
  return r.append(n, x);
}

/// Does each part have one element along `axis` and the axes inside of it, but for channels?
constexpr bool are_pixels(growing<value_part> const& parts, int axis) {
  for (int k = 0; k < parts.size; ++k)
    for (int d = axis; d < 3; ++d)
      if (extent_along(parts[k].of.dims(), d) > 1) return false;
  return true;
}
/// Do the parts, in order, leave no gaps?
constexpr bool cover(growing<value_part> const& parts, int axis, int extent) {
  int end = 0;
  for (int k = 0; k < parts.size && end == parts[k].begin; ++k) end = parts[k].end(axis);
  return end == extent;
}

/// The value of shape `whole` that consists of `parts` along an axis, in order and without overlaps, and of zeros where
/// there is none. Pixels are put side by side as channels, as which they can be written in place.
constexpr tensor joined(tracing::recording& r, growing<value_part> const& parts, shape const& whole, int axis) {
  int const extent = extent_along(whole, axis);
  bool const no_zeros_between_images = axis == 0 && !cover(parts, axis, extent);
  bool const as_channels = axis < 3 && (are_pixels(parts, axis) || no_zeros_between_images);
  int const along = as_channels ? 3 : axis;
  int inner = 1;
  shape to = whole;
  for (int d = axis; d < 3 && as_channels; extent_along(to, d++) = 1) inner *= extent_along(whole, d + 1);
  growing<tensor> pieces;
  pieces.reserve(parts.size);
  for (int k = 0; k < parts.size; ++k) {
    value_part const& p = parts[k];
    int const begin = k == 0 ? 0 : p.begin, end = p.end(axis), next = k + 1 < parts.size ? parts[k + 1].begin : extent;
    extent_along(to, along) = (end - p.begin) * inner;
    tensor const x = r.reshaped(p.of, to);
    pieces.push(between_zeros(r, x, along, (p.begin - begin) * inner, (next - end) * inner));
  }
  extent_along(to, along) = extent * inner;
  node const n{.kind = op::concat, .out = to, .axis = along};
  return r.reshaped(pieces.size == 1 ? pieces[0] : r.append(n, {pieces.data, pieces.size}), whole);
}

/// The gradients of slices of values, until those of the values are needed.
class slice_gradients {
 public:
  /// Adds that of slice `n` of value v.
  constexpr void add(int v, node const& n, tensor gradient) {
    while (newest_.size <= v) newest_.push(-1);
    tracing::recording r(gradient);
    all_.push({n.axis, {n.begin, r.reshaped(gradient, n.out)}, newest_[v]});
    newest_[v] = all_.size - 1;
  }
  /// Have any been added, and not been taken?
  constexpr bool has(int v) const { return v < newest_.size && newest_[v] >= 0; }

  /// Takes those of slices of value v, whose shape is `whole`, and calls f(summand) with the summands of its gradient:
  /// of slices along one axis that do not overlap, there is one.
  template <class F>
  constexpr void take(int v, shape whole, F f) {
    if (!has(v)) return;
    for (int axis = 0; axis < 4; ++axis) {
      growing<value_part> parts;
      for (int i = newest_[v]; i >= 0; i = all_[i].older)
        if (all_[i].axis == axis) insert(parts, all_[i].part);
      while (parts.size > 0) f(next_summand(parts, whole, axis));
    }
    newest_[v] = -1;
  }

 private:
  struct entry {
    int axis{};
    value_part part{};
    int older{};  ///< the slice of the same value that was added before; -1: none
  };

  /// Inserts a part behind those that begin before it.
  static constexpr void insert(growing<value_part>& parts, value_part const& p) {
    parts.push(p);
    int i = parts.size - 1;
    for (; i > 0 && parts[i - 1].begin > p.begin; --i) parts[i] = parts[i - 1];
    parts[i] = p;
  }
  /// Joins the first part and those after it that do not overlap with what is joined, and removes them.
  static constexpr tensor next_summand(growing<value_part>& parts, shape const& whole, int axis) {
    tracing::recording r(parts[0].of);
    growing<value_part> chosen;
    chosen.reserve(parts.size);
    int left = 0;
    for (int i = 0; i < parts.size; ++i) {
      value_part const p = parts[i];
      value_part* const last = chosen.size > 0 ? &chosen[chosen.size - 1] : nullptr;
      if (!last || p.begin >= last->end(axis)) {
        chosen.push(p);
      } else if (p.begin == last->begin && p.end(axis) == last->end(axis)) {
        tensor const both[] = {last->of, p.of};
        last->of = r.append({.kind = op::add, .out = p.of.dims()}, both);
      } else {
        parts[left++] = p;
      }
    }
    parts.size = left;
    return joined(r, chosen, whole, axis);
  }

  growing<entry> all_;
  growing<int> newest_;  ///< of each value: the slice that was added last; -1: none
};

}  // namespace ago::learning
