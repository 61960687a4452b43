// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The factors of a sum of products, and what to compute before the sum so that it becomes one of two elements, which is
// a matrix product: functions of elements, and products of factors, that the sum would compute again and again.
#pragma once

#include <ago/expression/facts.hpp>

#include <cstdint>

namespace ago::expression::detail {

/// A factor, and how it is computed before.
struct sum_factor {
  enum class how : std::uint8_t {
    as_it_is,
    on_operand,  ///< a function of one element, for each element of its operand
    by_axes,     ///< for each point of its axes
  };
  int node{};
  unsigned axes{};
  how way{};
  int access{};              ///< on_operand: the element
  std::uint32_t pad_bits{};  ///< on_operand: the function of what is read outside
};

struct sum_factors {
  static constexpr int most = 6;

  index_expression const& e;
  sum_factor all[most]{};
  int count{};
  float scale{1};
  bool fits{};
  long points{1};  ///< of the sum

  constexpr explicit sum_factors(index_expression const& of, unsigned const* free) : e(of) {
    node const& root = e.at_root();
    if (root.kind != node_kind::sum) return;
    for (int x = 0; x < e.axis_count; ++x) points *= e.extent[x];
    fits = flatten(root.operand[0]) && count >= 2;
    bool plain = count == 2;
    for (int i = 0; fits && i < count; ++i) {
      all[i].axes = free[all[i].node];
      for (int k = 0; k < i; ++k) fits &= all[k].node != all[i].node;
      fits = fits && choose(all[i]);
      plain &= all[i].way == sum_factor::how::as_it_is;
    }
    fits = fits && !plain;
  }

  constexpr long points_of(unsigned axes) const {
    long r = 1;
    for (int x = 0; x < e.axis_count; ++x)
      if (axes >> x & 1) r *= e.extent[x];
    return r;
  }
  /// Is it much less than the sum to compute a value of `elements` elements?
  constexpr bool saves(long elements) const { return 4 * elements <= points; }

 private:
  constexpr bool flatten(int n) {
    node const& x = e.body.nodes[n];
    if (x.kind == node_kind::multiply) return flatten(x.operand[0]) && flatten(x.operand[1]);
    if (x.kind == node_kind::number) return scale *= x.number(), true;
    if (count == most) return false;
    all[count++].node = n;
    return true;
  }
  constexpr bool choose(sum_factor& f) const {
    node const& x = e.body.nodes[f.node];
    if (x.kind == node_kind::read && is_affine(x.operand[0])) return true;
    bool reads[decltype(index_expression::body)::node_capacity]{};
    reads[f.node] = true;
    int accesses = 0;
    bool simple = true;
    for (int n = f.node; n >= 0; --n) {
      if (!reads[n]) continue;
      node const& y = e.body.nodes[n];
      if (is_fold(y.kind)) return false;
      simple &= y.kind != node_kind::position;
      if (y.kind == node_kind::read) {
        simple &= is_affine(y.operand[0]);
        f.access = y.operand[0];
        ++accesses;
      }
      for_each_node_read(e.body, y, [&](int k) { reads[k] = true; });
    }
    if (simple && accesses == 1) {
      element_access const& a = e.body.accesses[f.access];
      if (saves(e.operands[a.operand].count()) && (!a.padded || evaluate_outside(f, reads))) {
        f.way = sum_factor::how::on_operand;
        return true;
      }
    }
    f.way = sum_factor::how::by_axes;
    return __builtin_popcount(f.axes) <= max_rank && saves(points_of(f.axes));
  }
  constexpr bool is_affine(int access) const {
    return e.body.accesses[access].operand >= 0 && !e.body.accesses[access].is_dependent();
  }
  /// The function of what is read outside of the operand, if constant evaluation has its operations.
  constexpr bool evaluate_outside(sum_factor& f, bool const* reads) const {
    double v[decltype(index_expression::body)::node_capacity]{};
    for (int n = 0; n <= f.node; ++n) {
      if (!reads[n]) continue;
      node const& x = e.body.nodes[n];
      auto const of = [&](int i) { return x.operand[i] < 0 ? 0. : v[x.operand[i]]; };
      if (x.kind == node_kind::read) v[n] = double(e.body.accesses[f.access].pad());
      else if (x.kind == node_kind::number) v[n] = double(x.number());
      else if (x.kind > node_kind::absolute || x.kind == node_kind::power || x.kind == node_kind::divide) return false;
      else v[n] = apply(x.kind, of(0), of(1), of(2));
      if (!(v[n] > -1e30 && v[n] < 1e30)) return false;
    }
    f.pad_bits = __builtin_bit_cast(std::uint32_t, float(v[f.node]));
    return true;
  }
};

}  // namespace ago::expression::detail
