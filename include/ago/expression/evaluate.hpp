// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference: index expressions as naive loop nests in double precision, at run time or, without functions that
// round, in constant evaluation.
#pragma once

#include <ago/expression/index_expression.hpp>

namespace ago::expression {

namespace detail {

/// The loops of an expression. A node is computed in the outermost loops that give its axes a value.
struct nest {
  static constexpr int capacity = decltype(index_expression::body)::node_capacity;

  index_expression const& e;
  double const* const* operands;
  unsigned free[capacity]{};        ///< the axes that a node depends on
  std::uint64_t below[capacity]{};  ///< the nodes that a node depends on
  double value[capacity]{};
  int at[max_axes]{};

  constexpr nest(index_expression const& of, double const* const* data) : e(of), operands(data) {
    static_assert(capacity <= 64);
    for (int n = 0; n < e.body.node_count; ++n) {
      node const& x = e.body.nodes[n];
      if (is_leaf(x.kind) && x.kind != node_kind::number) free[n] = axes_of(e.body, e.body.accesses[x.operand[0]]);
      for_each_node_read(e.body, x, [&](int k) {
        free[n] |= free[k];
        below[n] |= below[k] | std::uint64_t(1) << k;
      });
      if (is_fold(x.kind)) free[n] &= ~x.bits;
    }
  }

  constexpr double read(element_access const& a) const {
    if (a.operand < 0) return double(value_of(e.body, a.at[0].sum, at));
    extents const& of = e.operands[a.operand];
    long place = 0;
    for (int d = 0; d < a.rank; ++d) {
      long const last = of.of[d] - 1;
      long i = 0;
      if (a.at[d].node < 0) {
        i = value_of(e.body, a.at[d].sum, at);
      } else {
        double const x = value[a.at[d].node];
        bool const far = !(x > -1e15 && x < 1e15);
        i = far ? (x > 0 ? last + 1 : -1) : floor_of(x);
        if (!a.padded) i = i < 0 ? 0 : i > last ? last : i;
      }
      if (a.padded && (i < 0 || i > last)) return a.pad();
      place = place * of.of[d] + i;
    }
    return operands[a.operand][place];
  }
  static constexpr long floor_of(double x) {
    long const i = long(x);
    return i - (double(i) > x);
  }

  /// Computes nodes of `which` up to `end` whose axes all have values, one of them in a loop of `fresh` axes; with
  /// fresh 0, those of no loop and of the result's.
  constexpr void compute(std::uint64_t which, int end, unsigned fresh, unsigned bound) {
    for (int n = 0; n < end; ++n) {
      if (!(which >> n & 1) || (free[n] & ~bound) || (fresh && !(free[n] & fresh))) continue;
      node const& x = e.body.nodes[n];
      if (x.kind == node_kind::number) value[n] = x.number();
      else if (is_leaf(x.kind)) value[n] = read(e.body.accesses[x.operand[0]]);
      else if (is_fold(x.kind)) value[n] = folded(n, bound);
      else value[n] = apply(x.kind, value[x.operand[0]], other(x, 1), other(x, 2));
    }
  }
  constexpr double other(node const& x, int i) const { return x.operand[i] < 0 ? 0. : value[x.operand[i]]; }

  constexpr double folded(int n, unsigned bound) {
    node const& x = e.body.nodes[n];
    double sum = identity_of(x.kind);
    for (int i = 0; i < e.axis_count; ++i)
      if (x.bits >> i & 1) at[i] = 0;
    do {
      compute(below[n], n, x.bits, bound | x.bits);
      sum = accumulate(x.kind, sum, value[x.operand[0]]);
    } while (advance(x.bits));
    return sum;
  }

  /// The next point of a box of axes, the last of which runs fastest.
  constexpr bool advance(unsigned axes) {
    for (int i = e.axis_count; i-- > 0;) {
      if (!(axes >> i & 1)) continue;
      if (++at[i] < e.extent[i]) return true;
      at[i] = 0;
    }
    return false;
  }

  constexpr void run(double* result) {
    do {
      compute(~std::uint64_t(0), e.body.node_count, 0, e.result_axes());
      *result++ = value[e.root()];
    } while (advance(e.result_axes()));
  }
};

}  // namespace detail

/// Computes `result` from the operands of the expression, in its order.
constexpr void evaluate(index_expression const& e, double const* const* operands, double* result) {
  detail::nest(e, operands).run(result);
}

/// Doubles that `evaluate` needs for values that are neither given nor results.
constexpr long workspace_of(definition const& d) {
  long r = 0;
  for (int v = 0; v < d.value_count; ++v)
    if (d.values[v].role == value_role::computed) r += d.values[v].extents.count();
  return r;
}

/// Computes an operator: `given` has the inputs and the parameters, in the order of its values; `results` its results.
constexpr void evaluate(definition const& d, double const* const* given, double* const* results, double* workspace) {
  double const* at[definition::max_values]{};
  for (int v = 0, next = 0; v < d.value_count; ++v)
    if (d.values[v].role != value_role::computed) at[v] = given[next++];
  for (int i = 0; i < d.expression_count; ++i) {
    double const* operands[index_expression::max_operands]{};
    for (int k = 0; k < d.expressions[i].operand_count; ++k) operands[k] = at[d.reads[i][k]];
    at[d.makes[i]] = workspace;
    evaluate(d.expressions[i], operands, workspace);
    workspace += d.expressions[i].result.count();
  }
  for (int i = 0; i < d.result_count; ++i)
    for (long k = 0; k < d.result(i).count(); ++k) results[i][k] = at[d.results[i]][k];
}

}  // namespace ago::expression
