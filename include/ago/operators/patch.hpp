// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images in patches: unfold, fold.
#pragma once

#include <ago/operators/extents.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

namespace tracing {
/// A node with a patch, which must divide the image; a valid one if it does not.
constexpr ir::node with_patch(recording& r, op kind, shape image, extent2 patch) {
  ir::node n{.kind = kind, .out = image};
  ir::patch const p{r.positive(patch.h), r.positive(patch.w)};
  if (image.h % p.h) r.complain(ir::fault::patch_must_divide_image, p.h, image.h);
  if (image.w % p.w) r.complain(ir::fault::patch_must_divide_image, p.w, image.w);
  if (image.h % p.h == 0 && image.w % p.w == 0) n.patch = p;
  return n;
}
}  // namespace tracing

/// The tokens of an image, as one sequence for each position within a patch: {n, h, w, c} becomes
/// {n * patch.h * patch.w, 1, (h / patch.h) * (w / patch.w), c}, MobileViT's unfolding. (`attention{.patch = ...}` does
/// not need it.)
struct unfold {
  extent2 patch = 2;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::unfold, line, x);
    ir::node n = tracing::with_patch(r, op::unfold, x.dims(), patch);
    long const places = n.patch.pixels();
    n.out = {r.fitting(long(n.out.n) * places), 1, r.fitting(long(n.out.h) * n.out.w / places), n.out.c};
    return r.append(n, x);
  }
};

/// The inverse of unfold: tokens to images of height x width.
struct fold {
  int height = 1, width = 1;
  extent2 patch = 2;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::fold, line, x);
    shape const in = x.dims();
    ir::node n = tracing::with_patch(r, op::fold, {1, r.positive(height), r.positive(width), in.c}, patch);
    long const places = n.patch.pixels();
    long const tokens = long(n.out.h) * n.out.w / places;
    if (in.n % places || in.h != 1 || in.w != tokens) {
      r.complain(ir::fault::elements_differ, long(in.n) * in.h * in.w, long(n.out.h) * n.out.w);
      return x;
    }
    n.out.n = int(in.n / places);
    return r.append(n, x);
  }
};

namespace described {

constexpr operand unfolded(node const& n, std::same_as<operand> auto x) {
  auto const [ph, pw] = n.patch;
  int const columns = x.extent(2) / pw;
  var i{n.out.n}, one{1}, t{n.out.w}, c;
  return result(i, one, t, c) = x(i / (ph * pw), t / columns * ph + i / pw % ph, t % columns * pw + i % pw, c);
}

constexpr operand folded(node const& n, std::same_as<operand> auto x) {
  auto const [ph, pw] = n.patch;
  var i{n.out.n}, y{n.out.h}, j{n.out.w}, c;
  return result(i, y, j, c) = x(i * (ph * pw) + y % ph * pw + j % pw, 0, y / ph * (n.out.w / pw) + j / pw, c);
}

}  // namespace described

}  // namespace ago
