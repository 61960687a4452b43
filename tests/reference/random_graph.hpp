// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs with every operator and much for passes to do: norms after convolutions, repeated work, dead ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "activation.hpp"
#include "random_builder.hpp"

namespace reference {

/// The functions of `map` nodes in random graphs: a bounded square, and a sine.
inline constexpr ago::ir::user_function random_functions[2]{};

class random_graph : public random_builder {
 public:
  explicit random_graph(unsigned seed) : random_builder(seed) {
    define(&random_functions[0], [](double x, double a, double b) { return std::min(x * x + a, 4. + b); });
    define(&random_functions[1], [](double x) { return std::sin(x); });
    int const inputs = any(1, 2);
    ago::shape const s{any(1, 2), any(1, 6), any(1, 6), any(1, 6)};
    for (int i = 0; i < inputs; ++i) input(s);
    int const size = any(4, 40);
    while (graph.node_count < size) grow(any(0, graph.node_count - 1));
    // Outputs: the last value, and some values with readers. All other values without readers are dead.
    output_once(graph.node_count - 1);
    for (int i = any(0, 3); i > 0; --i) output_once(any(inputs, graph.node_count - 1));
  }

 private:
  using op = ago::op;

  void grow(int x) {
    switch (any(0, 16)) {
      case 0:
      case 1:
      case 2: return grow_convolution(x);
      case 3: return void(batch_norm(x, chance(50) ? 1e-5f : .1f));
      case 4: return grow_parametric(x);
      case 5: return grow_pool(x);
      case 6: return grow_join(x);
      case 7: return repeat_node();
      case 8:
      case 9:
      case 10: return grow_movement(x);
      case 11: return grow_matmul(x);
      case 12: return grow_attention(x);
      case 14: return grow_reduction(x);
      case 13: return void(any(0, 2) == 0 ? positions(x) : chance(50) ? layer_norm(x, .125f) : unary(op::softmax, x));
      default: return grow_unary(x);
    }
  }

  void grow_parametric(int x) {
    switch (any(0, 4)) {
      case 0: return void(unary(op::identity, x));
      case 4: return void(binary(op::add, x, constant({1, 1, shape(x).w, 1})));
      case 1: return void(bias(x));
      case 2: return void(scale(x));
      default: return void(prelu(x, chance(50)));
    }
  }

  void grow_reduction(int x) {
    op const kind = op(any(int(op::reduce_sum), int(op::arg_max)));
    graph.nodes[reduce(kind, x, kind == op::arg_max ? 8 : any(1, 15))].last_of_equals =
        kind == op::arg_max && chance(50);
  }

  void grow_unary(int x) {
    op const kind = op(any(int(op::relu), int(op::map)));
    int const y = kind == op::clip ? unary(kind, x, -.5f, .75f) : unary(kind, x, .125f);
    if (kind == op::map) graph.nodes[y].function = &random_functions[any(0, 1)];
  }

  /// A convolution, often followed by bias and norm; values in between sometimes have other readers.
  void grow_convolution(int x) {
    ago::shape const s = shape(x);
    op const kind = op(any(int(op::conv2d), int(op::linear)));
    ago::ir::window w{};
    if (kind == op::conv2d || kind == op::depthwise) {
      w = {.kernel_h = any(1, 3), .kernel_w = any(1, 3), .stride_h = any(1, 2), .stride_w = any(1, 2)};
      w.pad_top = any(0, w.kernel_h - 1), w.pad_bottom = any(0, w.kernel_h - 1);
      w.pad_left = any(0, w.kernel_w - 1), w.pad_right = any(0, w.kernel_w - 1);
      if (w.kernel_h > s.h + w.pad_top + w.pad_bottom || w.kernel_w > s.w + w.pad_left + w.pad_right) return;
    }
    int const groups = kind == op::conv2d && s.c % 2 == 0 && chance(50) ? 2 : 1;
    int y = convolution(kind, x, kind == op::depthwise ? s.c : groups * any(1, 3), w, groups);
    if (chance(15)) unary(op::relu, y);
    if (chance(10)) output_once_if_room(y);
    if (chance(50)) y = bias(y);
    if (chance(15)) unary(op::sigmoid, y);
    if (chance(10)) output_once_if_room(y);
    if (chance(15)) y = unary(op::identity, y);
    if (chance(70)) batch_norm(y, chance(50) ? 1e-3f : 1e-5f);
  }
  void output_once_if_room(int v) {
    if (graph.output_count < 8) output_once(v);
  }

  void grow_pool(int x) {
    ago::shape const s = shape(x);
    if (s.h * s.w > 1 && chance(30))
      return void(global_pool(chance(50) ? op::global_avg_pool : op::global_max_pool, x));
    ago::ir::window const w{.kernel_h = std::min(s.h, 2),
                            .kernel_w = std::min(s.w, 3),
                            .stride_w = std::min(s.w, 2),
                            .pad_top = s.h > 1 && chance(50)};
    int const out_h = (s.h + w.pad_top - w.kernel_h) / w.stride_h + 1, out_w = (s.w - w.kernel_w) / w.stride_w + 1;
    pool(chance(50) ? op::max_pool : op::avg_pool, x, w, out_h, out_w, chance(50));
  }

  void grow_join(int x) {
    ago::shape const s = shape(x);
    std::vector<int> same, gates, images;
    for (int v = 0; v < graph.node_count; ++v) {
      ago::shape const t = shape(v);
      if (t == s) same.push_back(v);
      if (t == ago::shape{s.n, 1, 1, s.c}) gates.push_back(v);
      if (t.n == s.n && t.h == s.h && t.w == s.w && t.c + s.c < 12) images.push_back(v);
    }
    auto const pick = [&](std::vector<int> const& from) { return from[std::size_t(any(0, int(from.size()) - 1))]; };
    op const kind = op(any(int(op::add), int(op::power)));
    int const what = any(0, 2);
    auto const operate = [&](int y) {
      graph.nodes[binary(kind, x, y)].exchanged = (kind == op::sub || kind == op::less) && chance(50);
    };
    if (kind == op::div) operate(unary(op::sigmoid, pick(same)));
    else if (kind == op::power) binary(kind, unary(op::sigmoid, x), unary(op::sigmoid, pick(same)));
    else if (what == 0 && !gates.empty()) operate(pick(gates));
    else if (what == 0) operate(slice(x, 3, 0, 1));
    else if (what == 1) operate(pick(same));
    if (chance(20) && fits(2 * s.count())) concat({x, x}, any(0, 2));
    if (what == 2 && !images.empty()) chance(30) ? concat({x}) : concat({x, pick(images)});
  }

  static bool fits(long count) { return count <= 2000; }
  /// A random divisor of n.
  int part_of(int n) {
    int const d = any(1, n);
    return n % d == 0 ? d : 1;
  }
  void append_if_fits(ago::ir::node const& n, int x) {
    if (fits(n.out.count())) append(n, {x});
  }

  void grow_movement(int x) {
    ago::ir::node n{.kind = op(any(int(op::slice), int(op::embedding))), .out = shape(x), .alpha = .5f};
    ago::shape s = n.out;
    switch (n.kind) {
      case op::slice: return grow_slice(x);
      case op::channel_shuffle: n.groups = part_of(s.c); break;
      case op::reshape: n.out = chance(50) ? ago::shape{s.n, s.w, s.c, s.h} : ago::shape{s.n, 1, s.h * s.w, s.c}; break;
      case op::permute:
        shuffle_axes(n);
        for (int i = 0; i < 4; ++i) extent(n.out, i) = extent(s, n.order[i]);
        break;
      case op::fold:
      case op::unfold: return grow_patches(x);
      case op::pad:
        n.win.pad_top = any(0, 2), n.win.pad_left = any(0, 2), n.win.pad_bottom = any(0, 2);
        n.out.h += n.win.pad_top + n.win.pad_bottom, n.out.w += n.win.pad_left;
        break;
      case op::expand:
        for (int i = 0; i < 4; ++i)
          if (extent(s, i) == 1) extent(n.out, i) = any(1, 3);
        break;
      case op::embedding: return void(embedding(slice(x, 3, any(0, s.c - 1), 1), any(1, 4), any(1, 6)));
      default:
        n.out.h = any(1, 6), n.out.w = any(1, 6), n.positions = ago::sampling(any(0, 4));
        if (n.kind == op::resize_nearest) n.rounds = ago::rounding(any(1, 4) - 1);
        break;
    }
    append_if_fits(n, x);
  }
  void grow_slice(int x) {
    ago::shape s = shape(x);
    int const axis = any(0, 3), extents = extent(s, axis), begin = any(0, extents - 1), step = any(1, 3);
    slice(x, axis, begin, any(1, (extents - 1 - begin) / step + 1), step);
  }
  /// Slices an image, and sometimes concatenates the slices again.
  void grow_patches(int x) {
    ago::shape const s = shape(x);
    ago::ir::patch const patch{part_of(s.h), part_of(s.w)};
    int const sequences = patch.pixels();
    int const y =
        append({.kind = op::unfold, .out = {s.n * sequences, 1, s.h * s.w / sequences, s.c}, .patch = patch}, {x});
    if (chance(60)) append({.kind = op::fold, .out = s, .patch = patch}, {y});
  }

  void grow_matmul(int x) {
    ago::shape const s = shape(x);
    for (int trial = 0; trial < 20; ++trial) {
      int const y = any(0, graph.node_count - 1);
      ago::shape const t = shape(y);
      bool const transposed = chance(50);
      if ((t.n != 1 && t.n != s.n) || (t.h != 1 && t.h != s.h) || (transposed ? t.c : t.w) != s.c) continue;
      if (fits(s.pixels() * (transposed ? t.w : t.c))) return void(matmul(x, y, transposed, .125f));
    }
  }

  void grow_attention(int x) {
    ago::shape const s = shape(x);
    ago::ir::patch const patch{part_of(s.h), part_of(s.w)};
    int const sequences = patch.pixels();
    if (!fits(s.pixels() * s.pixels() / s.n / sequences * s.c)) return;
    int const p = attention_scores(x, x, part_of(s.c), patch, .25f);
    attention_values(chance(70) ? unary(op::softmax, p) : p, x, s, patch);
  }

  /// Repeats an operator with the same operands and parameters: a common subexpression, unless a detail differs.
  void repeat_node() {
    if (graph.node_count == graph.input_count) return;
    ago::ir::node n = graph.nodes[any(graph.input_count, graph.node_count - 1)];
    std::vector<int> operands(graph.edges + n.input_first, graph.edges + n.input_first + n.input_count);
    if (chance(50)) change_detail(n, operands);
    append(n, operands);
  }

  void change_detail(ago::ir::node& n, std::vector<int>& operands) {
    if (n.kind == op::leaky_relu || n.kind == op::batch_norm) n.alpha *= 2;
    if (n.kind == op::clip) (chance(50) ? n.alpha : n.beta) *= .5f;
    if (n.kind == op::scale || n.kind == op::prelu) n.weight = reserve(n.out.c);
    if (n.kind == op::sub) n.exchanged = !n.exchanged;
    if (n.kind == op::map && chance(50)) n.alpha += .5f;
    else if (n.kind == op::map) n.function = &random_functions[n.function == random_functions];
    if (n.kind == op::avg_pool) n.count_pads = !n.count_pads;
    if (n.kind == op::bias) n.shift = reserve(n.out.c);
    if (n.kind == op::matmul || n.kind == op::attention_scores || n.kind == op::pad) n.alpha /= 2;
    if (n.kind == op::slice && n.begin > 0) --n.begin;
    if (n.kind == op::positions) n.weight = reserve(n.out.h * n.out.w * n.out.c);
    if (n.kind == op::embedding && n.entries > 1) --n.entries;
    if (n.kind == op::layer_norm) n.shift = reserve(n.out.c);
    if (has_weights(n.kind)) n.weight = reserve(n.out.c * shape(operands[0]).c * n.win.kernel_h * n.win.kernel_w);
    if (n.kind == op::concat || is_binary(n.kind)) std::swap(operands.front(), operands.back());
    if (is_binary(n.kind) && shape(operands[0]) != n.out) std::swap(operands.front(), operands.back());
    if (n.kind >= op::sigmoid && n.kind <= op::gelu_tanh) n.kind = n.kind == op::silu ? op::sigmoid : op::silu;
  }
};

}  // namespace reference
