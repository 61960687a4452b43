// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions whose elements are elements of an operand, as operators that move elements.
#pragma once

#include <ago/graph/index_view.hpp>
#include <ago/graph/recognised.hpp>

namespace ago::detail {

/// Recognises an access that is read at some axes of the result, in order: those of `axes`.
struct movement_finder {
  index_view const& view;
  recognition_list& list;
  int a{};  ///< the access
  unsigned axes{};

  expression::extents in{}, out{};
  int axis_of[expression::max_rank]{};  ///< that dimension d of the result has
  axis_sum at[expression::max_rank]{};
  bool is_plain{true};  ///< each index is a sum of whole axes

  constexpr movement_finder(index_view const& v, recognition_list& l, int access, unsigned of_result)
      : view(v), list(l), a(access), axes(of_result), in(v.operand_of(access)) {
    for (int x = 0; x < view.e.result.rank; ++x)
      if (axes >> x & 1) {
        axis_of[out.rank] = x;
        out.of[out.rank++] = view.e.extent[x];
      }
    if (out.rank == 0) out = expression::extents(1);
    for (int d = 0; d < in.rank; ++d) {
      at[d] = view.at(a, d);
      is_plain &= at[d].is_exact;
    }
  }

  /// The value with the extents of the axes; nothing if it is not recognised.
  constexpr recognised_operand find() {
    if (view.is_dependent(a)) return {};
    expression::digit_sum const place = view.address(a);
    bool const padded = view.access(a).padded && leaves();
    if (padded) return is_plain ? pad() : recognised_operand{};
    if (!place.is_exact) return {};
    stride_loops const l = loops(place);
    long elements = 1;
    for (int i = 0; i < l.count; ++i) elements *= l.all[i].stride ? l.all[i].extent : 1;
    bool const all = place.constant == 0 && elements == in.count();
    if (all && is_row_major(l)) return expansion(l);
    if (all)
      if (recognised_operand const r = permutation(l); r.number >= 0) return r;
    return is_plain ? slice() : recognised_operand{};
  }

 private:
  /// The axis that dimension d of a value is in shape_of().
  static constexpr int place_of(int rank, int d) { return 4 - rank + d; }
  constexpr recognised_operand whole(shape const& s) const { return {view.access(a).operand, false, s}; }

  /// Does an index leave the operand?
  constexpr bool leaves() const {
    for (int d = 0; d < in.rank; ++d) {
      expression::range const r = expression::range_of(view.e.body, view.access(a).at[d].sum, view.e.extent);
      if (r.lower < 0 || r.upper >= in.of[d]) return true;
    }
    return false;
  }
  constexpr stride_loops loops(expression::digit_sum const& place) const {
    stride_loops r;
    for (int k = 0; k < view.in.count; ++k)
      if (axes >> view.in.all[k].axis & 1) r.add(view.in.all[k].extent, place.of[k]);
    return r;
  }
  /// Are elements read in order, each as often as loops of stride 0 say?
  static constexpr bool is_row_major(stride_loops const& l) {
    long next = 1;
    for (int i = l.count; i-- > 0;) {
      if (l.all[i].stride == 0) continue;
      if (l.all[i].stride != next) return false;
      next *= l.all[i].extent;
    }
    return true;
  }

  /// A copy with other extents, or with axes repeated.
  constexpr recognised_operand expansion(stride_loops const& l) {
    bool repeats = false;
    for (int i = 0; i < l.count; ++i) repeats |= l.all[i].stride == 0;
    if (!repeats) return whole(shape_of(out));
    shape from, to = shape_of(out);
    if (out.rank <= 4 && in_place(from)) return list.append({.kind = op::expand, .out = to}, whole(from));
    if (l.count > 4) return {};
    from = to = {};
    for (int i = 0; i < l.count; ++i) {
      int const axis = 4 - l.count + i;
      extent_along(to, axis) = int(l.all[i].extent);
      extent_along(from, axis) = l.all[i].stride ? int(l.all[i].extent) : 1;
    }
    return list.append({.kind = op::expand, .out = to}, whole(from));
  }
  /// The operand in the axes of the result, of which it has some whole ones.
  constexpr bool in_place(shape& from) const {
    expression::extents e = out;
    for (int d = 0; d < out.rank; ++d) {
      bool used = false;
      for (int k = 0; k < in.rank; ++k) used |= at[k].of[axis_of[d]] != 0;
      if (!used) e.of[d] = 1;
    }
    from = shape_of(e);
    return is_plain && from.count() == in.count();
  }

  constexpr recognised_operand permutation(stride_loops const& l) {
    if (recognised_operand const r = permutation_of_axes(); r.number >= 0) return r;
    if (l.count > 4) return {};
    int from[4]{};  // loops in the order of the operand
    for (int i = 0; i < l.count; ++i) {
      int place = i;
      for (; place > 0 && l.all[from[place - 1]].stride < l.all[i].stride; --place) from[place] = from[place - 1];
      from[place] = i;
    }
    long next = 1;
    for (int i = l.count; i-- > 0; next *= l.all[from[i]].extent)
      if (l.all[from[i]].stride != next) return {};
    if (recognised_operand const r = shuffle(l); r.number >= 0) return r;
    int const skipped = 4 - l.count;
    node n{.kind = op::permute};
    shape s;
    for (int i = 0; i < l.count; ++i) {
      extent_along(s, skipped + i) = int(l.all[from[i]].extent);
      extent_along(n.out, skipped + i) = int(l.all[i].extent);
      n.order[skipped + from[i]] = skipped + i;
    }
    return list.append(n, whole(s));
  }
  /// Each axis of the result is one of the operand's.
  constexpr recognised_operand permutation_of_axes() {
    if (!is_plain || in.rank != out.rank || in.rank > 4) return {};
    node n{.kind = op::permute, .out = shape_of(out)};
    bool used[4]{};
    for (int d = 0; d < in.rank; ++d) {
      int found = -1;
      for (int k = 0; k < out.rank && found < 0; ++k)
        if (!used[k] && (in.of[d] == 1 ? out.of[k] == 1 : at[d].plain_axis() == axis_of[k])) found = k;
      if (found < 0 || in.of[d] != out.of[found]) return {};
      used[found] = true;
      n.order[place_of(in.rank, found)] = place_of(in.rank, d);
    }
    return list.append(n, whole(shape_of(in)));
  }
  /// Two digits of the channels are exchanged.
  constexpr recognised_operand shuffle(stride_loops const& l) {
    int const channels = out.of[out.rank - 1];
    if (l.count < 2 || l.count > 3 || in.of[in.rank - 1] != channels) return {};
    stride_loop const outer = l.all[l.count - 2], inner = l.all[l.count - 1];
    if (outer.stride != 1 || inner.stride != outer.extent || outer.extent * inner.extent != channels) return {};
    node n{.kind = op::channel_shuffle, .out = shape_of(out)};
    n.groups = int(inner.extent);
    return list.append(n, whole(n.out));
  }

  /// Elements at regular distances along some dimensions.
  constexpr recognised_operand slice() {
    if (in.rank > 4) return {};
    recognised_operand x = whole(shape_of(in));
    unsigned seen = 0;
    for (int d = 0; d < in.rank; ++d) {
      unsigned const own = at[d].axes();
      if ((own & (own - 1)) || (own & seen) || (own && own < seen)) return {};  // one axis, after those before
      seen |= own;
      int const axis = own ? __builtin_ctz(own) : 0, count = own ? view.e.extent[axis] : 1;
      long const step = own ? at[d].of[axis] : 1;
      if (at[d].constant == 0 && step == 1 && in.of[d] == count) continue;
      node n{.kind = op::slice, .out = x.as};
      n.axis = place_of(in.rank, d);
      n.begin = int(at[d].constant);
      n.step = int(step);
      extent_along(n.out, n.axis) = count;
      x = list.append(n, x);
    }
    if (seen != view.wide(axes)) return {};
    x.as = shape_of(out);
    return x;
  }

  constexpr recognised_operand pad() {
    if (in.rank != out.rank || in.rank > 4) return {};
    int before[4]{}, after[4]{};
    for (int d = 0; d < in.rank; ++d) {
      unsigned const own = out.of[d] == 1 ? 0 : 1u << axis_of[d];
      if (at[d].axes() != own || (own && at[d].of[axis_of[d]] != 1)) return {};
      int const axis = place_of(in.rank, d);
      before[axis] = int(-at[d].constant);
      after[axis] = out.of[d] - in.of[d] - before[axis];
      if (before[axis] < 0 || after[axis] < 0) return {};
    }
    if (before[0] || after[0]) return {};
    node n{.kind = op::pad, .out = shape_of(out), .alpha = view.access(a).pad()};
    n.win.pad_top = before[1], n.win.pad_bottom = after[1];
    n.win.pad_left = before[2], n.win.pad_right = after[2];
    n.begin = before[3];
    return list.append(n, whole(shape_of(in)));
  }
};

/// An expression that is just an element.
constexpr void recognise_movement(index_view const& view, recognition_list& list) {
  movement_finder finder(view, list, view.e.at_root().operand[0], view.e.result_axes());
  recognised_operand x = finder.find();
  if (x.number < 0) return void(list.fail());
  if (x.is_node) return;
  shape const out = shape_of(view.e.result);
  x.as = shape_of(view.e.operands[x.number]);
  list.append({.kind = x.as == out ? op::identity : op::reshape, .out = out}, x);
}

}  // namespace ago::detail
