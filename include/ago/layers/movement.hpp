// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data movement (slices, permutations, reshaping), embeddings and trained values.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/layers/extents.hpp>
#include <ago/tracing/recording.hpp>

#include <cstddef>
#include <utility>

namespace ago {

/// `count` elements along an axis from `begin`, `step` apart; backwards with a negative step.
struct slice {
  int begin = 0, count = 1;
  ago::ir::axis axis = ago::ir::axis::channels;
  int step = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::slice, line, x);
    ir::node n{.kind = op::slice, .out = x.dims()};
    n.axis = int(axis);
    n.begin = r.not_negative(begin);
    n.step = step < 0 ? step : r.positive(step);
    int const elements = r.positive(count), extent = ir::extent_along(n.out, n.axis);
    if (elements == 1) n.step = 1;
    long const last = n.begin + long(elements - 1) * n.step, end = (last > n.begin ? last : n.begin) + 1;
    if (end > extent || last < 0) {
      r.complain(ir::fault::slice_exceeds_extent, extent, end > extent ? end : last);
      return x;
    }
    ir::extent_along(n.out, n.axis) = elements;
    return r.append(n, x);
  }
};

/// Several values: `auto [a, b] = chunk<2>(x)`.
template <int N>
struct tensor_list {
  tensor values[N];
  constexpr tensor operator[](int i) const { return values[i]; }
  template <std::size_t I>
  constexpr tensor get() const {
    return values[I];
  }
};

/// `N` equal parts along an axis, which `N` must divide.
template <int N>
constexpr tensor_list<N> chunk(tensor x, axis along = axis::channels, int line = __builtin_LINE()) {
  int const extent = ir::extent_along(x.dims(), int(along));
  if (extent % N != 0) tracing::recording(op::slice, line, x).complain(ir::fault::parts_must_divide_extent, N, extent);
  tensor_list<N> r;
  for (int i = 0; i < N; ++i) {
    r.values[i] = extent % N == 0 ? slice{i * (extent / N), extent / N, along, 1, line}(x) : x;
  }
  return r;
}

/// Interleaves the channels of `groups` groups: channel i of group a becomes channel i * groups + a.
struct channel_shuffle {
  int groups = 2;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::channel_shuffle, line, x);
    ir::node n{.kind = op::channel_shuffle, .out = x.dims()};
    n.groups = r.positive(groups);
    if (n.out.c % n.groups) r.complain(ir::fault::channels_not_divisible_by_groups, n.groups, n.out.c);
    return r.append(n, x);
  }
};

/// The same elements in memory order, with other extents; an extent of 0 keeps that of x.
struct reshape {
  int n = 0, h = 0, w = 0, c = 0;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::reshape, line, x);
    shape const in = x.dims();
    auto const extent = [&](int wanted, int before) { return wanted ? r.positive(wanted) : before; };
    shape const out{extent(n, in.n), extent(h, in.h), extent(w, in.w), extent(c, in.c)};
    long const elements = tracing::limited_count(out);
    if (elements == in.count()) return r.append({.kind = op::reshape, .out = out}, x);
    r.complain(ir::fault::elements_differ, in.count(), elements);
    return x;
  }
};

/// Axes exchanged, like torch.permute: the result's images are axis number `n` of x, its rows axis `h`, its columns
/// axis `w`, its channels axis `c`; 0 are the images of x, 3 its channels.
struct permute {
  int n = 0, h = 1, w = 2, c = 3;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::permute, line, x);
    ir::node made{.kind = op::permute, .out = x.dims()};
    int const order[] = {n, h, w, c};
    bool used[4]{};
    for (int i = 0; i < 4; ++i) {
      if (order[i] < 0 || order[i] > 3 || used[order[i]]) {
        r.complain(ir::fault::not_a_permutation, i, order[i]);
        return x;
      }
      used[order[i]] = true;
      made.order[i] = order[i];
      ir::extent_along(made.out, i) = ir::extent_along(x.dims(), order[i]);
    }
    return r.append(made, x);
  }
};

namespace tracing {
/// A node with a patch, which must divide the image; a valid one if it does not.
constexpr ir::node with_patch(recording& r, op kind, shape image, extent2 patch) {
  ir::node n{.kind = kind, .out = image};
  n.win.stride_h = r.positive(patch.h);
  n.win.stride_w = r.positive(patch.w);
  if (image.h % n.win.stride_h) r.complain(ir::fault::patch_must_divide_image, n.win.stride_h, image.h);
  if (image.w % n.win.stride_w) r.complain(ir::fault::patch_must_divide_image, n.win.stride_w, image.w);
  if (image.h % n.win.stride_h || image.w % n.win.stride_w) n.win = {};
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
    long const places = long(n.win.stride_h) * n.win.stride_w;
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
    long const places = long(n.win.stride_h) * n.win.stride_w;
    long const tokens = long(n.out.h) * n.out.w / places;
    if (in.n % places || in.h != 1 || in.w != tokens) {
      r.complain(ir::fault::elements_differ, long(in.n) * in.h * in.w, long(n.out.h) * n.out.w);
      return x;
    }
    n.out.n = int(in.n / places);
    return r.append(n, x);
  }
};

/// Rows of a trained table: {n, h, w, 1} becomes {n, h, w, width}. Row numbers are integers stored as float32; those
/// outside the table are clamped to its first or last row. Weights [entries][width].
struct embedding {
  int entries = 1, width = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::embedding, line, x);
    shape const in = x.dims();
    if (in.c != 1) r.complain(ir::fault::channels_differ, 1, in.c);
    ir::node n{.kind = op::embedding, .out = {in.n, in.h, in.w, r.positive(width)}};
    n.entries = r.positive(entries);
    if (n.entries > 1 << 24)
      r.complain(ir::fault::too_many_elements, 1 << 24, n.entries);  // float32 skips integers above
    n.weight = r.place(op::embedding, role::weight, n.entries, n.out.c);
    return r.append(n, x);
  }
};

/// A trained value, independent of x: `x + (x | constant{.h = 8, .w = 8, .c = 3})`. Weights [n][h][w][c].
struct constant {
  int n = 1, h = 1, w = 1, c = 1;
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::constant, line, x);
    ir::node made{.kind = op::constant, .out = {r.positive(n), r.positive(h), r.positive(w), r.positive(c)}};
    made.weight = r.place(op::constant, role::weight, made.out.n, made.out.h, made.out.w, made.out.c);
    return r.append(made, tensor{x.recorder, 0});  // every operator has an operand; this one does not read it
  }
};

/// Adds a trained number to each element, the same for all images. Weights [h][w][channels].
struct positions {
  int line = __builtin_LINE();

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::positions, line, x);
    ir::node n{.kind = op::positions, .out = x.dims()};
    n.weight = r.place(op::positions, role::weight, n.out.h, n.out.w, n.out.c);
    return r.append(n, x);
  }
};

}  // namespace ago

/// @cond
template <int N>
struct std::tuple_size<ago::tensor_list<N>> {
  static constexpr std::size_t value = N;
};
template <std::size_t I, int N>
struct std::tuple_element<I, ago::tensor_list<N>> {
  using type = ago::tensor;
};
/// @endcond
