// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values as index expressions.
#pragma once

#include <ago/operators/described/parts.hpp>

namespace ago::described {

// [matmul]
constexpr operand matmul(node const& n, operand a, operand b) {
  var i, y, j, k, m;
  affine const image = b.extent(0) == 1 ? affine(0) : affine(i), row = b.extent(1) == 1 ? affine(0) : affine(y);
  scalar const right = n.transposed ? b(image, row, m, k) : b(image, row, k, m);
  scalar const product = sum(k)(a(i, y, j, k) * right);
  return result(i, y, j, m) = n.alpha == 1 ? product : product * n.alpha;
}
// [/matmul]

/// Row and column of token t in sequence s of an image that is divided into patches.
struct token_pixel {
  affine row, column;
  constexpr token_pixel(window const& patch, int width, var& t, var& s) {
    int const columns = width / patch.stride_w;
    row = t / columns * patch.stride_h + s / patch.stride_w % patch.stride_h;
    column = t % columns * patch.stride_w + s % patch.stride_w;
  }
};

/// Dot products of the tokens of queries and keys, in each sequence and head.
constexpr operand attention_scores(node const& n, operand q, operand k) {
  int const sequences = n.win.stride_h * n.win.stride_w, depth = q.extent(3) / n.groups;
  var s{n.out.n}, head{n.groups}, t{n.out.w}, u{n.out.c}, c{depth};
  token_pixel const of_q(n.win, q.extent(2), t, s), of_k(n.win, k.extent(2), u, s);
  affine const image = s / sequences, channel = depth * head + c;
  return result(s, head, t, u) =
             sum(c)(q(image, of_q.row, of_q.column, channel) * k(image, of_k.row, of_k.column, channel)) * n.alpha;
}

/// Sums of the tokens of values, weighted by scores, as an image.
constexpr operand attention_values(node const& n, operand p, operand v) {
  int const ph = n.win.stride_h, pw = n.win.stride_w, columns = n.out.w / pw, others = v.extent(2) / pw;
  var i{n.out.n}, y{n.out.h}, x{n.out.w}, c, u;
  return result(i, y, x, c) =
             sum(u)(p(ph * pw * i + y % ph * pw + x % pw, c / (n.out.c / n.groups), y / ph * columns + x / pw, u) *
                    v(i, u / others * ph + y % ph, u % others * pw + x % pw, c));
}

}  // namespace ago::described
