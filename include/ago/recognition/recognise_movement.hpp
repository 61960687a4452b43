// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions whose elements are elements of an operand, as operators that move elements.
#pragma once

#include <ago/recognition/index_view.hpp>
#include <ago/recognition/recognised.hpp>

namespace ago::recognition {

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

  /// The order of loops by their strides, outermost first; false if they do not reach each element once.
  static constexpr bool order_of(stride_loops const& l, int* from) {
    for (int i = 0; i < l.count; ++i) {
      int place = i;
      for (; place > 0 && l.all[from[place - 1]].stride < l.all[i].stride; --place) from[place] = from[place - 1];
      from[place] = i;
    }
    long next = 1;
    for (int i = l.count; i-- > 0; next *= l.all[from[i]].extent)
      if (l.all[from[i]].stride != next) return false;
    return true;
  }
  constexpr recognised_operand permutation(stride_loops const& l) {
    if (recognised_operand const r = permutation_of_axes(); r.number >= 0) return r;
    int from[stride_loops::capacity]{};
    if (!order_of(l, from)) return {};
    int const channels = in.of[in.rank - 1], made = out.of[out.rank - 1];
    if (l.count <= 4) return permuted(whole(shape_of(in)), l, channels == made ? channels : 0);
    if (l.count > 6) return {};
    // Two steps: adjacent groups of loops are exchanged, such that up to four remain; if possible, one step exchanges
    // digits of the channels.
    stride_loops steps[2];
    for (int first = 0; first < l.count; ++first)
      for (int middle = first + 1; middle < l.count; ++middle)
        for (int last = middle + 1; last <= l.count; ++last) {
          long stride[6]{}, next = 1, size[4]{1, 1, 1, 1};
          for (int i = l.count; i-- > 0;) {  // the loops after the first step
            int const k = i < first || i >= last      ? i
                          : i < first + last - middle ? i - first + middle
                                                      : i - last + middle;
            stride[from[k]] = next;
            next *= l.all[from[k]].extent;
            size[k < first ? 0 : k < middle ? 1 : k < last ? 2 : 3] *= l.all[from[k]].extent;
          }
          stride_loops rest, exchange;
          for (int i = 0; i < l.count; ++i) rest.add(l.all[i].extent, stride[i]);
          exchange.add(size[0], size[1] * size[2] * size[3]);
          exchange.add(size[2], size[3]);
          exchange.add(size[1], size[2] * size[3]);
          exchange.add(size[3], 1);
          bool const shuffles = is_shuffle(exchange, channels) || is_shuffle(rest, made);
          if (rest.count <= 4 && (shuffles || steps[0].count == 0)) steps[0] = exchange, steps[1] = rest;
          if (rest.count <= 4 && shuffles) first = middle = last = l.count;
        }
    if (steps[0].count == 0) return {};
    recognised_operand x = permuted(whole(shape_of(in)), steps[0], channels);
    if (is_shuffle(steps[1], made)) x.as = shape_of(out);
    return permuted(x, steps[1], made);
  }
  /// Are two digits of such channels exchanged?
  static constexpr bool is_shuffle(stride_loops const& l, int channels) {
    if (l.count < 2 || l.count > 3) return false;
    stride_loop const outer = l.all[l.count - 2], inner = l.all[l.count - 1];
    return outer.stride == 1 && inner.stride == outer.extent && outer.extent * inner.extent == channels;
  }
  /// Up to four loops over x, which reach each element once.
  constexpr recognised_operand permuted(recognised_operand x, stride_loops const& l, int channels) {
    if (is_shuffle(l, channels)) {
      node n{.kind = op::channel_shuffle, .out = x.as};
      n.groups = int(l.all[l.count - 1].extent);
      return list.append(n, x);
    }
    int from[4]{};
    order_of(l, from);
    int const skipped = 4 - l.count;
    node n{.kind = op::permute};
    x.as = {};
    for (int i = 0; i < l.count; ++i) {
      extent_along(x.as, skipped + i) = int(l.all[from[i]].extent);
      extent_along(n.out, skipped + i) = int(l.all[i].extent);
      n.order[skipped + from[i]] = skipped + i;
    }
    return list.append(n, x);
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
    n.pad_channels = before[3];
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

}  // namespace ago::recognition
