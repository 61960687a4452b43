// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multi-head attention.
#pragma once

#include <ago/operators/attention_products.hpp>
#include <ago/operators/norm.hpp>
#include <ago/operators/slice.hpp>

namespace ago {

namespace tracing {
/// 1 / sqrt(x), x >= 1, by Newton's method.
constexpr double reciprocal_root(int x) {
  double root = x;
  for (int i = 0; i < 40; ++i) root = (root + x / root) / 2;
  return 1 / root;
}
}  // namespace tracing

/// Multi-head attention (Vaswani et al., 2017): softmax(scale * q k^T) v, each head on its share of the channels.
/// Tokens are pixels; with a patch, each pixel attends to those at the same position in all patches (MobileViT). It is
/// recorded as two products with a softmax between them, which intensive fusion combines.
struct attention {
  int heads = 1;
  extent2 patch = 1;
  float scale = 0;  ///< 0: 1 / sqrt(channels of a head)
  int line = __builtin_LINE();

  /// Queries {n, h, w, c}, keys and values {n, h2, w2, c}.
  constexpr tensor operator()(tensor q, tensor k, tensor v) const {
    tensor const pair[] = {q, k};
    tracing::recording r(op::attention_scores, line, pair);
    shape const a = q.dims(), b = k.dims();
    int groups = r.positive(heads);
    if (a.c % groups) r.complain(ir::fault::channels_not_divisible_by_groups, groups, a.c), groups = 1;
    if (b.c != a.c) r.complain(ir::fault::channels_differ, a.c, b.c);
    if (b.n != a.n) r.complain(ir::fault::extents_differ, a.n, b.n);
    (void)tracing::with_patch(r, op::attention_scores, b, patch);
    ir::node n = tracing::with_patch(r, op::attention_scores, a, patch);
    ir::patch const patches = n.patch;
    long const places = patches.pixels();
    long const tokens = long(a.h) * a.w / places, others = long(b.h) * b.w / places;
    n.out = {r.fitting(long(a.n) * places), groups, r.fitting(tokens), r.fitting(others > 0 ? others : 1)};
    n.groups = groups;
    n.alpha = scale != 0 ? scale : float(tracing::reciprocal_root(a.c / groups));
    tensor const scores = r.append(n, pair);
    tensor const weights = r.append({.kind = op::softmax, .out = scores.dims()}, scores);

    tensor const product[] = {weights, v};
    shape const c = v.dims();
    if (c.c != a.c) r.complain(ir::fault::channels_differ, a.c, c.c);
    if (c.h != b.h) r.complain(ir::fault::extents_differ, b.h, c.h);
    if (c.w != b.w) r.complain(ir::fault::extents_differ, b.w, c.w);
    if (c.n != b.n) r.complain(ir::fault::extents_differ, b.n, c.n);
    ir::node result{.kind = op::attention_values, .out = a, .groups = groups, .patch = patches, .alpha = 1};
    return r.append(result, product);
  }
  /// Queries, keys and values are the three thirds of the channels, as one linear layer computes them.
  constexpr tensor operator()(tensor x) const {
    auto const [q, k, v] = chunk<3>(x, axis::channels, line);
    return (*this)(q, k, v);
  }
};

}  // namespace ago
