// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs with many patterns for the algebraic rules, and with similar ones.
#pragma once

#include <algorithm>

#include "random_builder.hpp"

namespace reference {

class random_patterns : public random_builder {
 public:
  explicit random_patterns(unsigned seed) : random_builder(seed) {
    int const inputs = any(1, 2);
    for (int i = 0; i < inputs; ++i) input({any(1, 2), any(1, 6), any(1, 6), any(1, 3) * 2});
    int const size = any(4, 30);
    while (graph.node_count < size) {
      int const before = graph.node_count, x = chance(60) ? graph.node_count - 1 : any(0, graph.node_count - 1);
      if (shape(x).count() < 1500) grow(x);
      if (chance(15) && graph.node_count > before) unary(op::gelu, any(before, graph.node_count - 1));  // a reader
    }
    output(graph.node_count - 1);
    for (int i = any(0, 2); i > 0; --i) output_once(any(inputs, graph.node_count - 1));
    if (graph.outputs[0] < inputs) graph.outputs[0] = unary(op::identity, graph.outputs[0]);
  }

 private:
  using op = ago::op;

  void grow(int x) {
    switch (any(0, 11)) {
      case 0:
        return void(clamp(chance(50)   ? clamp(x)
                          : chance(50) ? pad(unary(op::sigmoid, x), float(any(-1, 1)))
                                       : unary(op::sigmoid, x)));
      case 1: return pool(chance(50) ? clamp(x) : monotone(x));
      case 2: return turn(x);
      case 3: return cut(x);
      case 4: return join(x);
      case 5: return undo(x);
      case 6: return pad_window(x);
      case 7: return resize(x);
      case 8: return combine(x);
      case 9: return average(x);
      case 10: return trained();
      default: return multiply(x);
    }
  }

  int clamp(int x) {
    int const lower = any(-2, 1);
    op const kind = op(any(int(op::relu), int(op::clip)));
    return kind == op::clip ? unary(kind, x, float(lower), float(lower + any(0, 3))) : unary(kind, x, .25f);
  }
  int monotone(int x) {
    return chance(50) ? unary(op::hard_sigmoid, x) : unary(op::leaky_relu, x, float(any(-1, 1)) / 2);
  }

  void pool(int x) {
    ago::shape const s = shape(x);
    if (s.h < 2 || s.w < 2 || chance(30)) return void(global_pool(op::global_max_pool, x));
    ago::ir::window const w{.kernel_h = any(1, 2), .kernel_w = any(1, 2), .stride_h = any(1, 2), .stride_w = any(1, 2)};
    int const h = (s.h - w.kernel_h) / w.stride_h + 1, columns = (s.w - w.kernel_w) / w.stride_w + 1;
    int const y = builder::pool(op::max_pool, x, w, h, columns);
    if (chance(70)) global_pool(op::global_max_pool, y);
  }

  int permute(int x) {
    ago::ir::node n{.kind = op::permute, .out = shape(x)};
    shuffle_axes(n);
    for (int i = 0; i < 4; ++i) {
      ago::shape s = shape(x);
      extent(n.out, i) = extent(s, n.order[i]);
    }
    return append(n, {x});
  }
  int reshape(int x) {
    ago::shape const s = shape(x);
    ago::shape const to[] = {{s.n, s.w, s.h, s.c}, {1, s.n, s.h * s.w, s.c}, {s.n, 1, 1, s.h * s.w * s.c}};
    return append({.kind = op::reshape, .out = to[any(0, 2)]}, {x});
  }
  void turn(int x) {
    for (int i = any(1, 3); i > 0; --i) x = chance(50) ? permute(x) : reshape(x);
  }

  int part(int x, int axis) {
    ago::shape s = shape(x);
    int const extents = extent(s, axis), begin = any(0, extents - 1), step = any(1, 2);
    if (chance(25)) return slice(x, axis, begin, any(1, begin / step + 1), -step);
    return slice(x, axis, begin, any(1, (extents - 1 - begin) / step + 1), step);
  }
  void cut(int x) {
    int const axis = any(0, 3);
    int const y = chance(50) ? part(x, axis) : concat({x, unary(op::relu, x)}, axis);
    part(y, chance(70) ? axis : any(0, 3));
  }
  void join(int x) {
    int const axis = any(0, 3), y = unary(op::sigmoid, x);
    ago::shape s = shape(x);
    int const extents = extent(s, axis);
    if (chance(50) && extents > 1) {
      int const middle = any(1, extents - 1), first = slice(x, axis, 0, middle);
      return void(concat({first, slice(chance(70) ? x : y, axis, middle, extents - middle)}, axis));
    }
    int const inner = concat({x, y}, axis), other = chance(70) ? axis : any(0, 3);
    if (other == axis) concat({y, inner, x}, axis);
    else concat({inner, inner}, other);
  }

  void undo(int x) {
    ago::shape const s = shape(x);
    int const rows = s.h % 2 == 0 && chance(70) ? 2 : 1, columns = s.w % 2 == 0 && chance(50) ? 2 : 1;
    ago::ir::patch const patch{rows, columns};
    int const places = patch.pixels();
    if (chance(50)) {
      int const groups = s.c % 2 ? s.c : chance(50) ? 2 : s.c / 2;
      int const y = append({.kind = op::channel_shuffle, .out = s, .groups = groups}, {x});
      append({.kind = op::channel_shuffle, .out = s, .groups = s.c / groups}, {y});
    } else if (chance(30) && x < graph.input_count && graph.output_count < 3) {
      int const y = append({.kind = op::from_nchw, .out = s}, {x});
      output(append({.kind = op::to_nchw, .out = s}, {y}));
    } else {
      int const y =
          append({.kind = op::unfold, .out = {s.n * places, 1, s.h * s.w / places, s.c}, .patch = patch}, {x});
      int const z = append({.kind = op::fold, .out = s, .patch = patch}, {chance(50) ? y : unary(op::tanh, y)});
      if (chance(30)) append({.kind = op::unfold, .out = shape(y), .patch = patch}, {z});
    }
  }

  int pad(int x, float value) {
    ago::ir::node n{.kind = op::pad, .out = shape(x), .alpha = value};
    n.win.pad_top = any(0, 1), n.win.pad_left = any(0, 1), n.win.pad_bottom = any(0, 1), n.win.pad_right = any(0, 1);
    n.pad_channels = chance(20);
    n.out.h += n.win.pad_top + n.win.pad_bottom, n.out.w += n.win.pad_left + n.win.pad_right;
    n.out.c += n.pad_channels * any(1, 2);
    return append(n, {x});
  }
  void pad_window(int x) {
    float const value = chance(80) ? 0.f : .5f;
    if (chance(40)) x = unary(op::relu, x);
    x = pad(x, value);
    if (chance(30)) x = pad(x, chance(70) ? value : 1.f);
    ago::shape const s = shape(x);
    ago::ir::window w{.kernel_h = std::min(s.h, any(1, 3)), .kernel_w = std::min(s.w, any(1, 3))};
    w.stride_h = any(1, w.kernel_h), w.stride_w = any(1, w.kernel_w);
    w.pad_top = chance(30) && w.kernel_h > 1;
    int const h = (s.h + w.pad_top - w.kernel_h) / w.stride_h + 1, columns = (s.w - w.kernel_w) / w.stride_w + 1;
    switch (any(0, 3)) {
      case 0: return void(convolution(op::conv2d, x, any(1, 2) * 2, w, s.c % 2 == 0 && chance(50) ? 2 : 1));
      case 1: return void(convolution(op::depthwise, x, s.c, w));
      default: builder::pool(chance(50) ? op::max_pool : op::avg_pool, x, w, h, columns, chance(60));
    }
  }

  void resize(int x) {
    ago::shape s = shape(x);
    for (int i = 0; i < 2; ++i) {
      s.h = chance(70) ? s.h * any(1, 2) : any(1, 6), s.w *= any(1, 2);
      bool const other = chance(15);  // align_corners, upwards
      x = append(
          {.kind = op::resize_nearest, .out = s, .positions = ago::sampling(3 * other), .rounds = ago::rounding(other)},
          {x});
    }
  }

  int gate(int x) { return unary(op::tanh, global_pool(op::global_max_pool, x)); }
  void combine(int x) {
    op const kind = chance(50) ? op::add : op::mul;
    int const a = chance(50) ? gate(x) : unary(op::softmax, x), b = chance(50) ? gate(unary(op::gelu, x)) : gate(x);
    if (chance(50)) return void(binary(kind, binary(kind, x, a), b));
    int const left = binary(op::mul, x, a), right = binary(op::mul, chance(80) ? x : unary(op::silu, x), b);
    binary(op::add, left, right);
  }

  void average(int x) {
    ago::shape const s = shape(x);
    int const h = s.h % 2 == 0 ? 2 : 1, w = s.w % 3 == 0 ? 3 : 1;
    ago::ir::window const tiles{.kernel_h = h, .kernel_w = w, .stride_h = h, .stride_w = w};
    if (chance(40)) {
      x = builder::pool(op::avg_pool, x, tiles, s.h / h, s.w / w);
      return void(global_pool(op::global_avg_pool, x));
    }
    x = convolution(chance(50) ? op::linear : op::pointwise, x, any(1, 3) * 2);
    if (chance(50)) x = bias(x);
    if (chance(50)) x = batch_norm(x);
    if (chance(50)) global_pool(op::global_avg_pool, x);
    else builder::pool(op::avg_pool, x, tiles, s.h / h, s.w / w, chance(50));
  }

  void trained() {
    int const x = constant({any(1, 2), any(1, 3), any(1, 3), any(1, 6)});
    for (int i = any(1, 2), y = x; i > 0; --i) y = chance(50) ? reshape(y) : part(y, any(0, 3));
  }

  void multiply(int x) {
    ago::shape const s = shape(x);
    ago::ir::node turned{.kind = op::permute, .out = {s.n, s.h, s.c, s.w}, .order = {0, 1, 3, 2}};
    int const y = append(turned, {unary(op::sigmoid, x)});
    if (s.h * s.w * s.w < 500) matmul(x, y);
  }
};

}  // namespace reference
