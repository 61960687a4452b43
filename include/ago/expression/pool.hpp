// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an index expression consists of, as flat arrays: sums of axes, quotients, accesses, and the nodes of its body.
#pragma once

#include <ago/expression/node_kind.hpp>

#include <cstdint>

namespace ago::expression {

/// The most axes of a value; of the loops of an expression.
inline constexpr int max_rank = 6, max_axes = 12;

/// An atom times a number. Atoms below `max_axes` are axes, the others quotients.
struct term {
  std::int16_t atom{};
  std::int32_t coefficient{};
  constexpr bool operator==(term const&) const = default;
};

/// A constant plus terms[first ... first + count). In an index_expression the terms are in the order of their atoms,
/// each of which occurs once.
struct affine_sum {
  std::int16_t first{}, count{};
  std::int32_t constant{};
  constexpr bool operator==(affine_sum const&) const = default;
};

/// sum / divisor, rounded down; of it the remainder modulo `modulus`, unless that is 0. The sum has only axes.
struct quotient {
  affine_sum of{};
  std::int32_t divisor{1}, modulus{};
  constexpr bool operator==(quotient const&) const = default;
};

/// The index of one dimension: a sum, or the value of a node, rounded down and clamped to the dimension.
struct index_map {
  affine_sum sum{};
  std::int16_t node{-1};
  constexpr bool operator==(index_map const&) const = default;
};

/// An element of an operand. Operand -1: the index at[0] itself is the value.
struct element_access {
  std::int16_t operand{-1}, rank{};
  bool padded{};             ///< outside of the operand, `pad` is read
  std::uint32_t pad_bits{};  ///< a float's
  index_map at[max_rank]{};
  constexpr bool operator==(element_access const&) const = default;
  constexpr float pad() const { return __builtin_bit_cast(float, pad_bits); }
  /// Is an index a value?
  constexpr bool is_dependent() const {
    for (int d = 0; d < rank; ++d)
      if (at[d].node >= 0) return true;
    return false;
  }
};

/// A node of a body, which reads nodes before it. Floats are stored as bits, since clang 14 takes no floating-point
/// template arguments.
struct node {
  node_kind kind{};
  std::int16_t operand[3]{-1, -1, -1};  ///< nodes; of a `read` or `position`, operand[0] is an access
  std::uint32_t bits{};                 ///< of a `number`: the float's; of a fold: its axes
  constexpr bool operator==(node const&) const = default;
  constexpr float number() const { return __builtin_bit_cast(float, bits); }
};

/// Calls f(node) for each node that `n` reads; an access's data-dependent indices count.
template <class Pool>
constexpr void for_each_node_read(Pool const& p, node const& n, auto const& f) {
  if (is_leaf(n.kind)) {
    if (n.kind == node_kind::number) return;
    element_access const& a = p.accesses[n.operand[0]];
    for (int d = 0; d < a.rank; ++d)
      if (a.at[d].node >= 0) f(a.at[d].node);
    return;
  }
  for (int i = 0; i < operands_of(n.kind); ++i) f(n.operand[i]);
}

/// The parts of expressions, with capacities.
template <int Terms, int Quotients, int Accesses, int Nodes>
struct pool {
  static constexpr int term_capacity = Terms, quotient_capacity = Quotients, access_capacity = Accesses,
                       node_capacity = Nodes;

  term terms[Terms]{};
  quotient quotients[Quotients]{};
  element_access accesses[Accesses]{};
  node nodes[Nodes]{};
  std::int16_t term_count{}, quotient_count{}, access_count{}, node_count{};

  constexpr bool operator==(pool const&) const = default;
};

/// How often nodes of a body read each node, and the last one that does.
template <class Pool>
struct node_uses {
  std::int16_t readers[Pool::node_capacity]{};
  std::int16_t reader[Pool::node_capacity]{};  ///< if there are any

  constexpr explicit node_uses(Pool const& body) {
    for (int n = 0; n < body.node_count; ++n)
      for_each_node_read(body, body.nodes[n], [&](int k) {
        ++readers[k];
        reader[k] = std::int16_t(n);
      });
  }
  /// The node that reads n, if it is read once; otherwise -1.
  constexpr int only_reader(int n) const { return readers[n] == 1 ? reader[n] : -1; }
};

/// The axes of a sum, as bits.
template <class Pool>
constexpr unsigned axes_of(Pool const& p, affine_sum const& s) {
  unsigned r = 0;
  for (int i = s.first; i < s.first + s.count; ++i)
    r |= p.terms[i].atom < max_axes ? 1u << p.terms[i].atom : axes_of(p, p.quotients[p.terms[i].atom - max_axes].of);
  return r;
}
/// The axes of an access's indices, as bits, without those of nodes that are indices.
template <class Pool>
constexpr unsigned axes_of(Pool const& p, element_access const& a) {
  unsigned r = 0;
  for (int d = 0; d < a.rank; ++d) r |= axes_of(p, a.at[d].sum);
  return r;
}

/// Quotients as in number theory: rounded down, the remainder not negative. `d` is positive.
constexpr long floor_quotient(long x, long d) { return x >= 0 ? x / d : -((d - 1 - x) / d); }
constexpr long floor_remainder(long x, long d) { return x - floor_quotient(x, d) * d; }

/// The value of a sum, where axis i is at[i].
template <class Pool>
constexpr long value_of(Pool const& p, affine_sum const& s, int const* at) {
  long r = s.constant;
  for (int i = s.first; i < s.first + s.count; ++i) {
    term const& t = p.terms[i];
    if (t.atom < max_axes) {
      r += long(t.coefficient) * at[t.atom];
      continue;
    }
    quotient const& q = p.quotients[t.atom - max_axes];
    long const x = floor_quotient(value_of(p, q.of, at), q.divisor);
    r += t.coefficient * (q.modulus ? floor_remainder(x, q.modulus) : x);
  }
  return r;
}

/// The smallest and the largest value.
struct range {
  long lower{}, upper{};
};

/// Bounds of a sum over the box of `extent`; exact if no axis occurs in two of its terms.
template <class Pool>
constexpr range range_of(Pool const& p, affine_sum const& s, int const* extent) {
  range r{s.constant, s.constant};
  for (int i = s.first; i < s.first + s.count; ++i) {
    term const& t = p.terms[i];
    range x{0, 0};
    if (t.atom < max_axes) {
      x.upper = extent[t.atom] - 1;
    } else {
      quotient const& q = p.quotients[t.atom - max_axes];
      x = range_of(p, q.of, extent);
      x = {floor_quotient(x.lower, q.divisor), floor_quotient(x.upper, q.divisor)};
      if (q.modulus) {
        bool const one_period = floor_quotient(x.lower, q.modulus) == floor_quotient(x.upper, q.modulus);
        x = one_period ? range{floor_remainder(x.lower, q.modulus), floor_remainder(x.upper, q.modulus)}
                       : range{0, q.modulus - 1};
      }
    }
    r.lower += t.coefficient * (t.coefficient > 0 ? x.lower : x.upper);
    r.upper += t.coefficient * (t.coefficient > 0 ? x.upper : x.lower);
  }
  return r;
}

/// Is it one axis alone? Then its number, otherwise -1.
template <class Pool>
constexpr int plain_axis(Pool const& p, index_map const& m) {
  bool const plain = m.node < 0 && m.sum.count == 1 && m.sum.constant == 0 && p.terms[m.sum.first].coefficient == 1 &&
                     p.terms[m.sum.first].atom < max_axes;
  return plain ? p.terms[m.sum.first].atom : -1;
}

}  // namespace ago::expression
