// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules about operators that move elements: two consecutive ones become one, or none.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/passes/rewriter.hpp>

namespace ago::passes {

/// Does permute `n` keep the order in memory of the elements of a value of this shape?
constexpr bool keeps_order(shape const& in, node const& n) {
  int last = -1;
  for (int i = 0; i < 4; ++i) {
    if (extent_along(in, n.order[i]) == 1) continue;
    if (n.order[i] < last) return false;
    last = n.order[i];
  }
  return true;
}

constexpr bool permute_of_permute(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::permute) return false;
  for (int& from : w[v].order) from = w[u].order[from];
  w.read(v, w.operand(u));
  return true;
}

/// v: a permute, or an unfold or fold of patches of one pixel, that moves no element.
constexpr bool permute_is_reshape(auto& w, int v) {
  node const& n = w[v];
  shape const& in = w.shape_of(w.operand(v));
  bool const still = n.kind == op::permute ? keeps_order(in, n) : n.patch.pixels() == 1;
  if (!still || in == n.out) return false;
  w.become(v, {.kind = op::reshape}, w.operand(v));
  return true;
}

constexpr bool reshape_of_reshape(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::reshape) return false;
  w.read(v, w.operand(u));
  return true;
}

constexpr bool slice_of_slice(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::slice || w[u].axis != w[v].axis) return false;
  w[v].begin = w[u].begin + w[v].begin * w[u].step;
  w[v].step *= w[u].step;
  w.read(v, w.operand(u));
  return true;
}

constexpr bool slice_of_concat(auto& w, int v) {
  int const u = w.operand(v);
  node& n = w[v];
  if (w[u].kind != op::concat || w[u].axis != n.axis) return false;
  int const last = n.begin + (extent_along(n.out, n.axis) - 1) * n.step;
  for (int k = 0, first = 0; k < w[u].input_count && first <= n.begin; ++k) {
    int const extent = extent_along(w.shape_of(w.operand(u, k)), n.axis);
    if (n.begin < first + extent && last >= first && last < first + extent) {
      n.begin -= first;
      w.read(v, w.operand(u, k));
      return true;
    }
    first += extent;
  }
  return false;
}

constexpr bool concat_of_slices(auto& w, int v) {
  node const& first = w[w.operand(v)];
  int next = first.begin;
  for (int k = 0; k < w[v].input_count; ++k) {
    int const u = w.operand(v, k);
    node const& n = w[u];
    if (n.kind != op::slice || n.axis != w[v].axis || n.step != 1 || n.begin != next) return false;
    if (w.operand(u) != w.operand(w.operand(v))) return false;
    next += extent_along(n.out, n.axis);
  }
  node whole{.kind = op::slice, .axis = first.axis, .begin = first.begin};
  w.become(v, whole, w.operand(w.operand(v)));
  return true;
}

/// Does `n` undo `before`?
constexpr bool is_inverse(node const& before, node const& n) {
  if (n.kind == op::channel_shuffle) return before.kind == n.kind && before.groups * n.groups == n.out.c;
  if (n.kind == op::to_nchw) return before.kind == op::from_nchw;
  bool const patches =
      (n.kind == op::fold && before.kind == op::unfold) || (n.kind == op::unfold && before.kind == op::fold);
  return patches && n.patch == before.patch;
}

/// The rules shuffle_of_shuffle, fold_of_unfold and layout_round_trip.
constexpr bool undo(auto& w, int v) {
  int const u = w.operand(v);
  if (!is_inverse(w[u], w[v]) || w.shape_of(w.operand(u)) != w[v].out) return false;
  w.become_copy(v, w.operand(u));
  return true;
}

/// For integer factors a, b, pixel y is pixel floor(floor(y / a) / b) = floor(y / (a b)). Other samplings differ.
constexpr bool resize_of_resize(auto& w, int v) {
  int const u = w.operand(v), both[] = {u, v};
  if (w[u].kind != op::resize_nearest) return false;
  for (int const i : both)
    if (w[i].positions != sampling::standard || w[i].rounds != rounding::down) return false;
  shape const &from = w.shape_of(w.operand(u)), &between = w[u].out, &to = w[v].out;
  if (between.h % from.h || between.w % from.w || to.h % between.h || to.w % between.w) return false;
  w.read(v, w.operand(u));
  return true;
}

/// v: a matmul. It reads the operand of the permute, which may have other readers.
constexpr bool matmul_of_transpose(auto& w, int v) {
  int const u = w.operand(v, 1);
  int const* const order = w[u].order;
  if (w[u].kind != op::permute || order[0] != 0 || order[1] != 1 || order[2] != 3) return false;
  w.read(v, w.operand(u), 1);
  w[v].transposed = !w[v].transposed;
  return true;
}

}  // namespace ago::passes
