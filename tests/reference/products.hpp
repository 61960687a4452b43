// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values: batches of matrices, and the two halves of attention.
#pragma once

#include "value.hpp"
#include "windows.hpp"

namespace reference::detail {

/// out[n, h, w, m] = alpha * sum over c of a[n, h, w, c] * b[n, h, c, m]; transposed: b[n, h, m, c]. A single image or
/// row of b is used for all.
inline void matmul(ago::ir::node const& n, value const& a, value const& b, value& out) {
  ago::shape const &s = a.extents, &t = b.extents;
  check(n.out == ago::shape{s.n, s.h, s.w, n.out.c}, n, "shape");
  check((t.n == 1 || t.n == s.n) && (t.h == 1 || t.h == s.h), n, "batches of the second operand");
  check((n.transposed ? t.c : t.w) == s.c && (n.transposed ? t.w : t.c) == n.out.c, n, "second operand");
  for (int i = 0; i < n.out.n; ++i)
    for (int y = 0; y < n.out.h; ++y)
      for (int x = 0; x < n.out.w; ++x)
        for (int m = 0; m < n.out.c; ++m) {
          accumulator acc;
          for (int c = 0; c < s.c; ++c) {
            int const j = t.n == 1 ? 0 : i, z = t.h == 1 ? 0 : y;
            auto const p = std::size_t(a.index(i, y, x, c));
            auto const q = std::size_t(n.transposed ? b.index(j, z, m, c) : b.index(j, z, c, m));
            acc.add_product(a.exact[p], a.error[p], b.exact[q], b.error[q]);
          }
          store(acc, n.alpha, out, out.index(i, y, x, m));
        }
}

/// The tokens of an image: each place (py, px) in the patches of ph x pw pixels has its own sequence, with one token
/// per patch, row by row.
struct token_grid {
  int patch_h, patch_w, columns, count;

  token_grid(ago::ir::node const& n, ago::shape const& image)
      : patch_h{n.patch.h}, patch_w{n.patch.w}, columns{image.w / patch_w}, count{image.h / patch_h * columns} {
    check(image.h % patch_h == 0 && image.w % patch_w == 0, n, "patches do not divide the image");
  }
  int sequences() const { return patch_h * patch_w; }
  /// The position of channel c of token t of a sequence; sequences are counted over all images.
  long index(value const& v, int sequence, int t, int c) const {
    int const px = sequence % patch_w, py = sequence / patch_w % patch_h, image = sequence / sequences();
    return v.index(image, t / columns * patch_h + py, t % columns * patch_w + px, c);
  }
};

/// out[sequence, head, t, u] = alpha * (query t) . (key u), over the channels of each head.
inline void attention_scores(ago::ir::node const& n, value const& q, value const& k, value& out) {
  token_grid const queries(n, q.extents), keys(n, k.extents);
  check(q.extents.n == k.extents.n && q.extents.c == k.extents.c && q.extents.c % n.groups == 0, n, "operands");
  check(n.out == ago::shape{q.extents.n * queries.sequences(), n.groups, queries.count, keys.count}, n, "shape");
  int const depth = q.extents.c / n.groups;
  for (int s = 0; s < n.out.n; ++s)
    for (int head = 0; head < n.groups; ++head)
      for (int t = 0; t < queries.count; ++t)
        for (int u = 0; u < keys.count; ++u) {
          accumulator acc;
          for (int c = head * depth; c < (head + 1) * depth; ++c) {
            auto const a = std::size_t(queries.index(q, s, t, c)), b = std::size_t(keys.index(k, s, u, c));
            acc.add_product(q.exact[a], q.error[a], k.exact[b], k.error[b]);
          }
          store(acc, n.alpha, out, out.index(s, head, t, u));
        }
}

/// Channel c of token t of the result: the sum over u of p[sequence, head of c, t, u] * v[token u, c].
inline void attention_values(ago::ir::node const& n, value const& p, value const& v, value& out) {
  token_grid const results(n, n.out), values(n, v.extents);
  check(v.extents.n == n.out.n && v.extents.c == n.out.c && n.out.c % n.groups == 0, n, "operands");
  check(p.extents == ago::shape{n.out.n * results.sequences(), n.groups, results.count, values.count}, n, "weights");
  for (int s = 0; s < p.extents.n; ++s)
    for (int t = 0; t < results.count; ++t)
      for (int c = 0; c < n.out.c; ++c) {
        accumulator acc;
        for (int u = 0; u < values.count; ++u) {
          auto const a = std::size_t(p.index(s, c / (n.out.c / n.groups), t, u));
          auto const b = std::size_t(values.index(v, s, u, c));
          acc.add_product(p.exact[a], p.error[a], v.exact[b], v.error[b]);
        }
        store(acc, 1, out, results.index(out, s, t, c));
      }
}

}  // namespace reference::detail
