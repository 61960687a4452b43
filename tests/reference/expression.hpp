// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index expressions, element by element and node by node, with an estimate of the error of float32 arithmetic.
#pragma once

#include <ago/ir/graph.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "value.hpp"

namespace reference::detail {

/// A number, and how far float32 may be from it.
struct estimate {
  double exact = 0, error = 0;
};

class expression_nodes {
 public:
  using index_expression = ago::expression::index_expression;
  using kind = ago::expression::node_kind;

  /// `operands`: the values that the expression reads.
  expression_nodes(index_expression const& e, std::vector<value const*> operands)
      : e_(e), operands_(std::move(operands)) {}

  void compute(value& out) {
    for (long i = 0; i < long(out.exact.size()); ++i) {
      long rest = i;
      for (int x = e_.result.rank; x-- > 0;) {
        at_[x] = int(rest % e_.extent[x]);
        rest /= e_.extent[x];
      }
      estimate const y = node(e_.root());
      out.exact[std::size_t(i)] = y.exact;
      out.error[std::size_t(i)] = y.error;
    }
  }

 private:
  static bool between(estimate const& a, estimate const& b) {  // can rounding decide which is larger?
    return std::abs(a.exact - b.exact) <= a.error + b.error && a.error + b.error > 0;
  }
  static estimate rounded(double exact, double carried, double roundings = 1) {
    return {exact, carried + roundings * roundoff * std::abs(exact)};
  }

  estimate node(int n) {
    auto const& x = e_.body.nodes[n];
    if (x.kind == kind::number) return {double(x.number()), 0};
    if (x.kind == kind::read || x.kind == kind::position) return read(e_.body.accesses[x.operand[0]]);
    if (ago::expression::is_fold(x.kind)) return folded(x);
    estimate const a = node(x.operand[0]), b = x.operand[1] < 0 ? estimate{} : node(x.operand[1]);
    switch (x.kind) {
      case kind::add: return rounded(a.exact + b.exact, a.error + b.error);
      case kind::subtract: return rounded(a.exact - b.exact, a.error + b.error);
      case kind::multiply: return product(a, b);
      case kind::divide:
        return rounded(a.exact / b.exact, (a.error + std::abs(a.exact / b.exact) * b.error) / std::abs(b.exact));
      case kind::maximum: return {std::max(a.exact, b.exact), std::max(a.error, b.error)};
      case kind::minimum: return {std::min(a.exact, b.exact), std::max(a.error, b.error)};
      case kind::less: return {double(a.exact < b.exact), double(between(a, b))};
      case kind::less_equal: return {double(a.exact <= b.exact), double(between(a, b))};
      case kind::equal: return {double(a.exact == b.exact), double(between(a, b))};
      case kind::select: {
        estimate const c = node(x.operand[2]), chosen = a.exact != 0 ? b : c;
        return {chosen.exact, a.error > 0 ? std::abs(b.exact - c.exact) + std::max(b.error, c.error) : chosen.error};
      }
      case kind::power: {
        double const y = std::pow(a.exact, b.exact);
        double const moved = std::abs(b.exact * a.error / a.exact) + std::abs(std::log(std::abs(a.exact)) * b.error);
        return rounded(y, std::abs(y) * (std::isfinite(moved) ? moved : 0), 16);
      }
      default: return function(x.kind, a);
    }
  }

  static estimate product(estimate const& a, estimate const& b) {
    return rounded(a.exact * b.exact, std::abs(a.exact) * b.error + std::abs(b.exact) * a.error);
  }
  static estimate function(kind k, estimate const& a) {
    double const y = apply(k, a.exact);
    double moved = 0;
    for (double const x : {a.exact - a.error, a.exact + a.error})
      if (double const d = std::abs(apply(k, x) - y); std::isfinite(d)) moved = std::max(moved, d);
    bool const exact =
        k == kind::negate || k == kind::absolute || k == kind::floor || k == kind::ceil || k == kind::round;
    return exact ? estimate{y, moved} : estimate{y, moved + 8 * roundoff * std::max(std::abs(y), 1e-30)};
  }
  static double apply(kind k, double x) {
    switch (k) {
      case kind::negate: return -x;
      case kind::absolute: return std::abs(x);
      case kind::exp: return std::exp(x);
      case kind::expm1: return std::expm1(x);
      case kind::log: return std::log(x);
      case kind::log1p: return std::log1p(x);
      case kind::sqrt: return std::sqrt(x);
      case kind::rsqrt: return 1 / std::sqrt(x);
      case kind::erf: return std::erf(x);
      case kind::tanh: return std::tanh(x);
      case kind::sigmoid: return 1 / (1 + std::exp(-x));
      case kind::sin: return std::sin(x);
      case kind::cos: return std::cos(x);
      case kind::floor: return std::floor(x);
      case kind::ceil: return std::ceil(x);
      case kind::round: return std::nearbyint(x);
      default: break;
    }
    throw std::logic_error("reference: not a function");
  }

  estimate folded(ago::expression::node const& x) {
    accumulator sum;
    estimate r{x.kind == kind::product      ? 1
               : x.kind == kind::maximum_of ? -HUGE_VAL
               : x.kind == kind::minimum_of ? HUGE_VAL
                                            : 0,
               0};
    std::vector<int> axes;
    for (int i = 0; i < e_.axis_count; ++i)
      if (x.bits >> i & 1) axes.push_back(i);
    for (int const i : axes) at_[i] = 0;
    for (;;) {
      estimate const y = node(x.operand[0]);
      if (x.kind == kind::sum) sum.add(1, y.exact, y.error);
      if (x.kind == kind::product) r = product(r, y);
      if (x.kind == kind::maximum_of) r = {std::max(r.exact, y.exact), std::max(r.error, y.error)};
      if (x.kind == kind::minimum_of) r = {std::min(r.exact, y.exact), std::max(r.error, y.error)};
      std::size_t i = axes.size();
      while (i > 0 && ++at_[axes[i - 1]] == e_.extent[axes[i - 1]]) at_[axes[--i]] = 0;
      if (i == 0) break;
    }
    return x.kind == kind::sum ? estimate{sum.sum, sum.error()} : r;
  }

  long index(ago::expression::affine_sum const& s) const {
    long r = s.constant;
    for (int i = s.first; i < s.first + s.count; ++i) {
      auto const& t = e_.body.terms[i];
      if (t.atom < ago::expression::max_axes) {
        r += long(t.coefficient) * at_[t.atom];
        continue;
      }
      auto const& q = e_.body.quotients[t.atom - ago::expression::max_axes];
      long x = long(std::floor(double(index(q.of)) / q.divisor));
      if (q.modulus) x = (x % q.modulus + q.modulus) % q.modulus;
      r += t.coefficient * x;
    }
    return r;
  }

  estimate read(ago::expression::element_access const& a) {
    if (a.operand < 0) return {double(index(a.at[0].sum)), 0};
    auto const& of = e_.operands[a.operand];
    long place = 0;
    for (int d = 0; d < a.rank; ++d) {
      long i = 0;
      if (a.at[d].node < 0) {
        i = index(a.at[d].sum);
      } else {
        double const x = std::floor(node(a.at[d].node).exact);
        i = long(std::clamp(x, -1., double(of.of[d])));
        if (!a.padded) i = std::clamp(i, 0L, of.of[d] - 1L);
      }
      if (a.padded && (i < 0 || i >= of.of[d])) return {double(a.pad()), 0};
      place = place * of.of[d] + i;
    }
    value const& v = *operands_[std::size_t(a.operand)];
    return {v.exact[std::size_t(place)], v.error[std::size_t(place)]};
  }

  index_expression const& e_;
  std::vector<value const*> operands_;
  int at_[ago::expression::max_axes]{};
};

}  // namespace reference::detail
