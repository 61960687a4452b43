// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random networks with consistent shapes: all operators, several inputs and outputs, values read twice, broadcasts.
#pragma once

#include "graphs.hpp"

namespace test {

using random_graph = ago::ir::graph<160, 400, 6>;

inline random_graph make_random_network(random& r, int operators) {
  using ago::op;
  builder<160, 400, 6> b;
  for (int i = pick(r, 1, 3); i > 0; --i) b.input({pick(r, 1, 2), 6, 6, 8});
  int const inputs = b.g.input_count, window = pick(r, 0, 2) ? 3 : operators;
  constexpr op pools[] = {op::max_pool, op::avg_pool};
  constexpr op moves[] = {op::identity, op::from_nchw, op::to_nchw};
  while (b.g.node_count < inputs + operators) {
    int const count = b.g.node_count, x = pick(r, std::max(0, count - window), count - 1);
    ago::shape const s = b.shape_of(x);
    int const what = pick(r, 0, 99);
    if (what < 10) b.pointwise(x, pick(r, 0, 1) ? s.c : 8);
    else if (what < 18) b.depthwise(x);
    else if (what < 21) b.add({.kind = op::conv2d, .out = s, .win = {.kernel_h = 3, .kernel_w = 3}}, {x});
    else if (what < 24) b.add({.kind = op::linear, .out = b.with_channels(x, 8)}, {x});
    else if (what < 36) b.unary(op::bias, x);
    else if (what < 60) b.unary(op(pick(r, int(op::bias), int(op::map))), x);
    else if (what < 63) b.add({.kind = pools[pick(r, 0, 1)], .out = s, .win = {.kernel_h = 3, .kernel_w = 3}}, {x});
    else if (what < 66) b.add({.kind = op::global_avg_pool, .out = {s.n, 1, 1, s.c}}, {x});
    else if (what < 67)
      b.add({.kind = op(pick(r, int(op::reduce_sum), int(op::arg_max))), .out = b.with_channels(x, 1)}, {x});
    else if (what < 68) b.add({.kind = op::constant, .out = s}, {0});
    else if (what < 70) b.unary(moves[pick(r, 0, 2)], x);
    else {
      int const y = pick(r, std::max(0, count - 2 * window), count - 1);
      ago::shape const t = b.shape_of(y);
      if (what < 74) {
        if (t.n == s.n && t.h == s.h && s.c + t.c < 64) b.concat(x, y);
      } else if (t == s || t == ago::shape{s.n, 1, 1, s.c}) {
        b.binary(op(pick(r, int(op::add), int(op::power))), x, y);
      }
    }
  }
  for (int i = pick(r, 1, 6); i > 0; --i) b.output(pick(r, inputs, b.g.node_count - 1));
  return b.g;
}

/// Operators on values of which some have one element in some dimensions: broadcasts, reductions over any dimensions,
/// reshapes, transpositions, a few products.
inline random_graph make_broadcasting_network(random& r, int operators) {
  using ago::op;
  builder<160, 400, 6> b;
  int const images = pick(r, 1, 2);
  auto const extent = [&](int full) { return pick(r, 0, 3) ? full : 1; };
  for (int i = pick(r, 1, 3); i > 0; --i) b.input({images, extent(6), extent(6), extent(8)});
  int const inputs = b.g.input_count, window = pick(r, 0, 2) ? 4 : operators;
  while (b.g.node_count < inputs + operators) {
    int const count = b.g.node_count, x = pick(r, std::max(0, count - window), count - 1);
    ago::shape const s = b.shape_of(x);
    int const what = pick(r, 0, 99);
    if (what < 25) {
      b.unary(op(pick(r, int(op::relu), int(op::tanh))), x);
    } else if (what < 65) {
      int const y = pick(r, std::max(0, count - 2 * window), count - 1);
      ago::shape const t = b.shape_of(y);
      bool const fits = (s.n == t.n) && (s.h == t.h || s.h == 1 || t.h == 1) && (s.w == t.w || s.w == 1 || t.w == 1) &&
                        (s.c == t.c || s.c == 1 || t.c == 1);
      ago::shape const out{s.n, std::max(s.h, t.h), std::max(s.w, t.w), std::max(s.c, t.c)};
      if (fits) b.add({.kind = op(pick(r, int(op::add), int(op::power))), .out = out}, {x, y});
    } else if (what < 80) {
      auto const kept = [&](int extent_before) { return pick(r, 0, 1) ? extent_before : 1; };
      b.add({.kind = op(pick(r, int(op::reduce_sum), int(op::reduce_product))),
             .out = {s.n, kept(s.h), kept(s.w), kept(s.c)}},
            {x});
    } else if (what < 84) {
      b.add({.kind = op::expand, .out = {s.n, std::max(s.h, 6), std::max(s.w, 6), std::max(s.c, 8)}}, {x});
    } else if (what < 88) {
      b.add({.kind = op::reshape, .out = {s.n, s.w, s.h, s.c}}, {x});
    } else if (what < 92) {
      b.add({.kind = op::permute, .out = {s.n, s.w, s.h, s.c}}, {x});
    } else if (what < 95) {
      b.pointwise(x, 8);
    } else if (what < 98) {
      b.add({.kind = op::linear, .out = b.with_channels(x, 8)}, {x});
    } else {
      b.unary(op::softmax, x);
    }
  }
  b.output(b.g.node_count - 1);
  return b.g;
}

/// A sequence of operators with skips: a network with few execution orders, and with chains.
inline random_graph make_line(random& r, int operators) {
  builder<160, 400, 6> b;
  int const side = pick(r, 16, 56);
  int x = b.input({1, side, side, 8}), skipped = x;
  while (b.g.node_count <= operators) {
    int const what = pick(r, 0, 99);
    if (what < 35) x = b.pointwise(x, 8 * pick(r, 1, 12));
    else if (what < 65) x = b.depthwise(x);
    else if (what < 70)
      x = b.add({.kind = ago::op::max_pool, .out = b.shape_of(x), .win = {.kernel_h = 3, .kernel_w = 3}}, {x});
    else if (what < 85) x = b.unary(what < 78 ? ago::op::relu : ago::op::bias, x);
    else if (b.shape_of(skipped) == b.shape_of(x)) x = b.binary(ago::op::add, x, skipped);
    if (pick(r, 0, 3) == 0) skipped = x;
  }
  b.output(x);
  return b.g;
}

}  // namespace test
