// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that hold for real numbers. They change the order of additions and multiplications, and therefore rounding.
#pragma once

#include <ago/passes/rewriter.hpp>

namespace ago::passes {

/// Node v becomes a sum or product of a and b, which precede it; the larger one is operand 0.
constexpr void become_binary(auto& w, int v, op kind, int a, int b) {
  if (w.shape_of(a).count() < w.shape_of(b).count()) {
    int const larger = b;
    b = a, a = larger;
  }
  w.read(v, a, 0);
  w.read(v, b, 1);
  w[v].kind = kind;
  w[v].out = w.shape_of(a);
  w.update_bounds(v);
}

/// v: a sum. This saves a product. One of the other factors has the shape of their sum.
constexpr bool common_factor(auto& w, int v) {
  int const operands[] = {w.operand(v, 0), w.operand(v, 1)};
  int const left = operands[0], right = operands[1], later = left > right ? left : right;
  for (int const u : operands)
    if (w[u].kind != op::mul || w[u].out != w[v].out || !w.uses.is_private(u)) return false;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      int const x = w.operand(left, i), a = w.operand(left, 1 - i), b = w.operand(right, 1 - j);
      bool const stretches_both =
          w.shape_of(a) != w.shape_of(b) && w.shape_of(a) != w[v].out && w.shape_of(b) != w[v].out;
      if (w.operand(right, j) != x || stretches_both) continue;
      become_binary(w, later, op::add, a, b);
      become_binary(w, v, op::mul, x, later);
      return true;
    }
  return false;
}

/// v: a sum or product with an operand of one pixel per image. Combining two such operands is cheaper than two images.
constexpr bool gates_first(auto& w, int v) {
  int const u = w.operand(v), second = w.operand(v, 1);
  if (w[u].kind != w[v].kind || !w.uses.is_private(u) || second > u) return false;
  int const x = w.operand(u), first = w.operand(u, 1);
  if (w.shape_of(first) == w[v].out || w.shape_of(first) != w.shape_of(second)) return false;
  become_binary(w, u, w[v].kind, first, second);
  become_binary(w, v, w[v].kind, x, u);
  return true;
}

/// v: a mean over pixels. It moves ahead of a matrix product and of the biases and batch norms between them, which then
/// have fewer pixels. Means that count pads are excluded, because they would scale down a bias.
constexpr bool average_before_product(auto& w, int v) {
  window const& win = w[v].win;
  if (w[v].count_pads && win.pad_top + win.pad_left + win.pad_bottom + win.pad_right > 0) return false;
  int product = w.operand(v);
  while ((w[product].kind == op::bias || w[product].kind == op::batch_norm) && w.uses.is_private(product))
    product = w.operand(product);
  if (!is_matrix_product(w[product].kind) || !w.uses.is_private(product)) return false;
  shape const out = w[v].out;
  if (out.pixels() >= w[product].out.pixels()) return false;
  for (int u = v; u != product; u = w.operand(u)) {
    exchange_operators(w[w.operand(u)], w[u]);
    w[w.operand(u)].out = out;
  }
  w[product].out.c = w.shape_of(w.operand(product)).c;
  for (int u = v; u >= product; u = w.operand(u)) w.bounds[u] = {};
  return true;
}

/// v: a mean over the image, of means over parts of equal size.
constexpr bool average_of_averages(auto& w, int v) {
  int const u = w.operand(v);
  if (w[u].kind != op::avg_pool || !w.uses.is_private(u)) return false;
  window const& win = w[u].win;
  shape const& in = w.shape_of(w.operand(u));
  window const tiles{
      .kernel_h = win.kernel_h, .kernel_w = win.kernel_w, .stride_h = win.kernel_h, .stride_w = win.kernel_w};
  if (win != tiles || w[u].out.h * win.kernel_h != in.h || w[u].out.w * win.kernel_w != in.w) return false;
  w.read(v, w.operand(u));
  return true;
}

}  // namespace ago::passes
