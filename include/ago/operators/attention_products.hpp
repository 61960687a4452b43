// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two matrix products of attention, on images that may be divided into patches.
#pragma once

#include <ago/operators/parts.hpp>
#include <ago/operators/patch.hpp>

#include <concepts>

namespace ago {

namespace described {

/// Row and column of token t in sequence s of an image that is divided into patches.
struct token_pixel {
  affine row, column;
  constexpr token_pixel(ir::patch const& p, int width, var& t, var& s) {
    int const columns = width / p.w;
    row = t / columns * p.h + s / p.w % p.h;
    column = t % columns * p.w + s % p.w;
  }
};

/// Dot products of the tokens of queries and keys, in each sequence and head.
constexpr operand attention_scores(node const& n, std::same_as<operand> auto q, operand k) {
  int const sequences = n.patch.pixels(), depth = q.extent(3) / n.groups;
  var s{n.out.n}, head{n.groups}, t{n.out.w}, u{n.out.c}, c{depth};
  token_pixel const of_q(n.patch, q.extent(2), t, s), of_k(n.patch, k.extent(2), u, s);
  affine const image = s / sequences, channel = depth * head + c;
  return result(s, head, t, u) =
             sum(c)(q(image, of_q.row, of_q.column, channel) * k(image, of_k.row, of_k.column, channel)) * n.alpha;
}

/// Sums of the tokens of values, weighted by scores, as an image.
constexpr operand attention_values(node const& n, std::same_as<operand> auto p, operand v) {
  auto const [ph, pw] = n.patch;
  int const columns = n.out.w / pw, others = v.extent(2) / pw;
  var i{n.out.n}, y{n.out.h}, x{n.out.w}, c, u;
  return result(i, y, x, c) =
             sum(u)(p(ph * pw * i + y % ph * pw + x % pw, c / (n.out.c / n.groups), y / ph * columns + x / pw, u) *
                    v(i, u / others * ph + y % ph, u % others * pw + x % pw, c));
}

}  // namespace described

}  // namespace ago
