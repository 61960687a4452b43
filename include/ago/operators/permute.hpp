// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes exchanged: permutations, shuffled channels, channel-first images.
#pragma once

#include <ago/ir/axis.hpp>
#include <ago/operators/parts.hpp>
#include <ago/tracing/recording.hpp>

#include <concepts>

namespace ago {

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

/// Stores an output of the network channel-first. No layer can read it.
struct to_nchw {
  int line = __builtin_LINE();
  constexpr tensor operator()(tensor x) const { return tracing::record_elementwise(x, line, {.kind = op::to_nchw}); }
};

namespace described {

constexpr operand permute(node const& n, std::same_as<operand> auto x) {
  var v[4];
  affine from[4];
  for (int k = 0; k < 4; ++k) from[n.order[k]] = v[k];
  return result(v[0], v[1], v[2], v[3]) = x(from[0], from[1], from[2], from[3]);
}

constexpr operand channel_shuffle(node const& n, std::same_as<operand> auto x) {
  var i, y, j, c{n.out.c};
  return result(i, y, j, c) = x(i, y, j, c % n.groups * (n.out.c / n.groups) + c / n.groups);
}

/// Channel-first images; the operand has the extents of its stored order.
constexpr operand from_nchw(std::same_as<operand> auto x) {
  var i, y, j, c;
  return result(i, y, j, c) = x(i, c, y, j);
}
/// The result has the extents of its stored order.
constexpr operand to_nchw(std::same_as<operand> auto x) {
  var i, y, j, c;
  return result(i, c, y, j) = x(i, y, j, c);
}

}  // namespace described

}  // namespace ago
