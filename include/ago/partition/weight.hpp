// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of an operator, what follows from them, and its weight, AGO Eq. (1): w = c * product of log(extents) + b.
#pragma once

#include <ago/expression/counts.hpp>
#include <ago/ir/graph.hpp>
#include <ago/partition/log.hpp>

namespace ago::partition {

/// The constants of Eq. (1), in thousandths.
struct weight_constants {
  int c = 1000;
  int b = 0;
};

/// Extents of the loops that compute an operator.
struct loop_extents {
  static constexpr int most = 7;
  array_of<int, most> extent{};
  int count = 0;

  constexpr long points() const {
    long r = 1;
    for (int i = 0; i < count; ++i) r *= extent[i];
    return r;
  }
};

/// The loops of an index expression that have several iterations; what exceeds `most` is one loop.
constexpr loop_extents loops_of_expression(expression::index_expression const& e) {
  loop_extents r;
  expression::loops const all = expression::loops_of(e);
  for (int i = 0; i < all.count; ++i)
    if (all.extent[i] == 1) continue;
    else if (r.count < loop_extents::most) r.extent[r.count++] = all.extent[i];
    else r.extent[r.count - 1] *= all.extent[i];
  return r;
}

/// The loops of operator `v`: conv2d N,O,H,W,I/groups,R,C; pointwise likewise with R = C = 1; depthwise N,O,H,W,R,C;
/// linear M,N,K with M = number of pixels; products of two values N, heads or H, M,N,K; pooling N,C,H,W,R,S; reductions
/// N,C,H,W of the operand; everything else N,C,H,W of the result. `Graph`: a graph, or a view of one.
template <class Graph>
constexpr loop_extents loops_of(Graph const& g, int v) {
  node const& n = g.nodes[v];
  shape const& out = n.out;
  shape const& in = n.input_count > 0 ? g.nodes[g.operand(v)].out : out;
  window const& w = n.win;
  int const depth = in.c / n.groups;
  switch (class_of(n.kind)) {
    case op_class::convolution:
    case op_class::matrix_product:
      if (n.kind == op::linear) return {{int(out.pixels()), out.c, depth}, 3};
      if (n.kind == op::depthwise) return {{out.n, out.c, out.h, out.w, w.kernel_h, w.kernel_w}, 6};
      return {{out.n, out.c, out.h, out.w, depth, w.kernel_h, w.kernel_w}, 7};
    case op_class::value_product:
      if (n.kind == op::attention_values) return {{in.n, in.h, in.w, in.c, out.c / n.groups}, 5};  // of the scores
      return {{out.n, out.h, out.w, out.c, depth}, 5};
    case op_class::contraction:
    case op_class::nest: return loops_of_expression(*n.described);
    case op_class::window_pool: return {{out.n, out.c, out.h, out.w, w.kernel_h, w.kernel_w}, 6};
    case op_class::global_pool: return {{out.n, out.c, 1, 1, in.h, in.w}, 6};
    case op_class::reduction: return {{in.n, in.c, in.h, in.w}, 4};
    case op_class::input:
    case op_class::constant:
    case op_class::parametric:
    case op_class::arithmetic:
    case op_class::function:
    case op_class::commutative:
    case op_class::ordered:
    case op_class::power:
    case op_class::norm:
    case op_class::movement:
    case op_class::concat:
    case op_class::pad:
    case op_class::expand:
    case op_class::layout:
    case op_class::identity:
    case op_class::resize:
    case op_class::embedding: return {{out.n, out.c, out.h, out.w}, 4};
  }
  ir::no_case_for_this_value();
}

/// The number of products that are added for each element of the result of complex operator v.
template <class Graph>
constexpr long fan_in(Graph const& g, int v) {
  if (!is_complex(g.nodes[v].kind)) ir::no_case_for_this_value();
  return loops_of(g, v).points() / g.nodes[v].out.count();
}
/// Multiply-adds of operator v; 0 unless it is complex.
template <class Graph>
constexpr long multiply_adds(Graph const& g, int v) {
  return is_complex(g.nodes[v].kind) ? loops_of(g, v).points() : 0;
}
/// Bytes of the weights of operator v, each of which serves all pixels.
template <class Graph>
constexpr long weight_bytes(Graph const& g, int v) {
  node const& n = g.nodes[v];
  if (n.kind == op::contraction && n.weight_operand >= 0) return 4 * n.described->operands[n.weight_operand].count();
  return has_weights(n.kind) ? 4 * (loops_of(g, v).points() / n.out.pixels()) : 0;
}

/// Eq. (1) in thousandths, rounded to nearest, at least 1. Loops of extent 1 are skipped, since log 1 = 0 would make
/// every convolution of a single image weightless; the empty product is 1. Integers only: see fixed_log.
constexpr long weight_of(int const* extents, int count, weight_constants constants = {}) {
  std::uint64_t p = std::uint64_t(1) << 32;  // the product, in units of 2^-32: at most 21.5^7 < 2^31
  constexpr std::uint64_t fraction = 0xffffffff;
  for (int i = 0; i < count; ++i) {
    if (extents[i] <= 1) continue;
    std::uint64_t const l = fixed_log(std::uint32_t(extents[i])), high = p >> 32, low = p & fraction;
    p = high * l + (low * (l >> 16) >> 16) + (low * (l & 0xffff) >> 32);
  }
  std::uint64_t const c = std::uint64_t(constants.c), half = std::uint64_t(1) << 31;
  long const w = long((p >> 32) * c + (((p & fraction) * c + half) >> 32)) + constants.b;
  return w > 0 ? w : 1;
}

constexpr long weight_of(graph_view g, int v, weight_constants constants = {}) {
  loop_extents const loops = loops_of(g, v);
  return weight_of(loops.extent, loops.count, constants);
}

/// The weights of the loops seen last: networks repeat blocks, and compilers limit the number of evaluation steps.
struct seen_weights {
  static constexpr unsigned slots = 64;
  loop_extents loops[slots]{};
  long weight[slots]{};

  constexpr long of(loop_extents const& l, weight_constants constants) {
    int const* e = l.extent;
    unsigned const slot = (e[0] + 3u * e[1] + 5u * e[2] + 7u * e[3] + 11u * e[4] + 13u * e[5] + 17u * e[6]) % slots;
    int const* s = loops[slot].extent;
    bool const known = weight[slot] != 0 && loops[slot].count == l.count && s[0] == e[0] && s[1] == e[1] &&
                       s[2] == e[2] && s[3] == e[3] && s[4] == e[4] && s[5] == e[5] && s[6] == e[6];
    if (known) return weight[slot];
    loops[slot] = l;
    return weight[slot] = weight_of(l.extent, l.count, constants);
  }
};

}  // namespace ago::partition
