// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formulas in the body of an index expression, whatever the order of their terms and factors: activations.
#pragma once

#include <ago/expression/index_expression.hpp>
#include <ago/ir/op.hpp>

namespace ago::recognition {

/// Numbers that may differ by what float32 rounds.
constexpr bool is_near(double a, double b) {
  double const difference = a < b ? b - a : a - b, size = b < 0 ? -b : b;
  return difference <= 1e-6 * size;
}

/// factor * node `of` + summand
struct linear_form {
  int of{};
  double factor{1}, summand{};
};

/// scale * the product of some nodes, or of their inverses.
struct product_form {
  static constexpr int most = 8;
  double scale{1};
  int of[most]{};
  bool inverse[most]{};
  int count{}, seen{};  ///< count is most + 1 if there are too many
};

/// The smaller of `upper` and the larger of `lower` and a node.
struct clamp_form {
  int of{-1};  ///< -1: it is none
  double lower{-__builtin_huge_val()}, upper{__builtin_huge_val()};
};

/// An activation of a node; op::identity: it is none.
struct activation_form {
  op kind{op::identity};
  int of{-1};
  double alpha{}, beta{};
  int slope{-1};  ///< prelu: the node that is the slope
};

struct formulas {
  expression::index_expression const& e;
  using kind = expression::node_kind;

  constexpr expression::node const& at(int n) const { return e.body.nodes[n]; }
  constexpr bool is(int n, kind k) const { return at(n).kind == k; }
  constexpr bool is_number(int n) const { return is(n, kind::number); }
  constexpr bool is_number(int n, double x) const { return is_number(n) && double(at(n).number()) == x; }
  constexpr int left(int n) const { return at(n).operand[0]; }
  constexpr int right(int n) const { return at(n).operand[1]; }

  constexpr linear_form linear(int n) const {
    auto const number = [&](int i) { return double(at(at(n).operand[i]).number()); };
    linear_form r{n};
    switch (at(n).kind) {
      case kind::negate: return scaled(linear(left(n)), -1, 0);
      case kind::add:
        if (is_number(right(n))) return scaled(linear(left(n)), 1, number(1));
        if (is_number(left(n))) return scaled(linear(right(n)), 1, number(0));
        return r;
      case kind::subtract:
        if (is_number(right(n))) return scaled(linear(left(n)), 1, -number(1));
        if (is_number(left(n))) return scaled(linear(right(n)), -1, number(0));
        return r;
      case kind::multiply:
        if (is_number(right(n))) return scaled(linear(left(n)), number(1), 0);
        if (is_number(left(n))) return scaled(linear(right(n)), number(0), 0);
        return r;
      case kind::divide:
        if (is_number(right(n)) && number(1) != 0) return scaled(linear(left(n)), 1 / number(1), 0);
        return r;
      default: return r;
    }
  }

  constexpr product_form product(int n) const {
    product_form r;
    multiply(r, n, false);
    return r;
  }

  /// x as a polynomial of node `of` up to degree 3: whether it is one, and its coefficients.
  constexpr bool polynomial(int n, int of, double (&c)[4], int depth = 0) const {
    if (depth > 8) return false;  // shared parts are visited more than once
    for (double& x : c) x = 0;
    if (n == of) return c[1] = 1, true;
    if (is_number(n)) return c[0] = double(at(n).number()), true;
    double a[4]{}, b[4]{};
    switch (at(n).kind) {
      case kind::negate:
        if (!polynomial(left(n), of, a, depth + 1)) return false;
        for (int i = 0; i < 4; ++i) c[i] = -a[i];
        return true;
      case kind::power:
        if (left(n) != of || !(is_number(right(n), 2) || is_number(right(n), 3))) return false;
        return c[is_number(right(n), 2) ? 2 : 3] = 1, true;
      case kind::add:
      case kind::subtract:
        if (!polynomial(left(n), of, a, depth + 1) || !polynomial(right(n), of, b, depth + 1)) return false;
        for (int i = 0; i < 4; ++i) c[i] = is(n, kind::add) ? a[i] + b[i] : a[i] - b[i];
        return true;
      case kind::divide:
        if (!is_number(right(n)) || is_number(right(n), 0) || !polynomial(left(n), of, a, depth + 1)) return false;
        for (int i = 0; i < 4; ++i) c[i] = a[i] / double(at(right(n)).number());
        return true;
      case kind::multiply:
        if (!polynomial(left(n), of, a, depth + 1) || !polynomial(right(n), of, b, depth + 1)) return false;
        for (int i = 0; i < 4; ++i)
          for (int k = 0; k < 4; ++k) {
            if (i + k > 3 && a[i] * b[k] != 0) return false;
            if (i + k <= 3) c[i + k] += a[i] * b[k];
          }
        return true;
      default: return false;
    }
  }

  constexpr clamp_form clamp(int n) const {
    clamp_form r = bounded(n);
    if (r.of < 0) return r;
    if (clamp_form const below = bounded(r.of); below.of >= 0) {
      bool const outer_is_upper = r.upper < __builtin_huge_val(), inner_is_upper = below.upper < __builtin_huge_val();
      if (outer_is_upper != inner_is_upper) {
        clamp_form const both{below.of, outer_is_upper ? below.lower : r.lower, outer_is_upper ? r.upper : below.upper};
        if (both.lower <= both.upper) return both;
      }
    }
    return r;
  }

  /// 1 / (1 + exp(-x)): x, or -1.
  constexpr int sigmoid_of(int n) const {
    if (is(n, kind::sigmoid)) return left(n);
    product_form const p = product(n);
    return p.count == 1 && p.inverse[0] && is_near(p.scale, 1) ? one_plus_exp(p.of[0]) : -1;
  }

  constexpr activation_form activation(int n) const {
    if (int const x = sigmoid_of(n); x >= 0) return {op::sigmoid, x};
    if (is(n, kind::tanh)) return {op::tanh, left(n)};
    if (activation_form const f = hard_sigmoid(n, 1); f.of >= 0) return f;
    if (activation_form const f = gate(n); f.of >= 0) return f;
    if (activation_form const f = slope(n); f.of >= 0) return f;
    clamp_form const c = clamp(n);
    if (c.of < 0) return {};
    bool const from_zero = c.lower == 0;
    if (from_zero && c.upper == __builtin_huge_val()) return {op::relu, c.of};
    if (from_zero && c.upper == 6) return {op::relu6, c.of};
    return {op::clip, c.of, c.lower, c.upper};
  }

 private:
  static constexpr linear_form scaled(linear_form f, double factor, double summand) {
    return {f.of, f.factor * factor, f.summand * factor + summand};
  }
  constexpr void multiply(product_form& to, int n, bool inverse) const {
    if (to.count > product_form::most) return;
    if (++to.seen > 4 * product_form::most) return void(to.count = product_form::most + 1);
    if (is(n, kind::multiply) || is(n, kind::divide)) {
      multiply(to, left(n), inverse);
      multiply(to, right(n), inverse != is(n, kind::divide));
    } else if (is(n, kind::negate)) {
      to.scale = -to.scale;
      multiply(to, left(n), inverse);
    } else if (is_number(n) && !(inverse && is_number(n, 0))) {
      to.scale = inverse ? to.scale / double(at(n).number()) : to.scale * double(at(n).number());
    } else if (to.count == product_form::most) {
      ++to.count;
    } else {
      to.of[to.count] = n;
      to.inverse[to.count++] = inverse;
    }
  }
  /// A minimum or maximum with a number.
  constexpr clamp_form bounded(int n) const {
    if (!is(n, kind::maximum) && !is(n, kind::minimum)) return {};
    for (int i = 0; i < 2; ++i) {
      int const x = at(n).operand[i], bound = at(n).operand[1 - i];
      if (!is_number(bound)) continue;
      clamp_form r{x};
      (is(n, kind::maximum) ? r.lower : r.upper) = double(at(bound).number());
      return r;
    }
    return {};
  }
  /// 1 + exp(-x): x, or -1.
  constexpr int one_plus_exp(int n) const {
    linear_form const f = linear(n);
    if (!is_near(f.factor, 1) || !is_near(f.summand, 1) || !is(f.of, kind::exp)) return -1;
    linear_form const x = linear(left(f.of));
    return x.factor == -1 && x.summand == 0 ? x.of : -1;
  }
  /// min(max(x / 6 + 1/2, 0), 1), of which n is `factor` times a multiple.
  constexpr activation_form hard_sigmoid(int n, double factor) const {
    linear_form outer = linear(n);
    clamp_form const c = clamp(outer.of);
    if (c.of < 0 || c.lower == -__builtin_huge_val() || c.upper == __builtin_huge_val()) return {};
    outer.factor *= factor, outer.summand *= factor;
    linear_form const inner = linear(c.of);
    bool const fits =
        is_near(outer.factor * inner.factor, 1 / 6.) && is_near(outer.factor * inner.summand + outer.summand, .5) &&
        is_near(outer.factor * c.upper + outer.summand, 1) && is_near(outer.factor * c.lower + outer.summand + 1, 1);
    return fits ? activation_form{op::hard_sigmoid, inner.of} : activation_form{};
  }
  /// x * f(x): gelu, silu, hard_swish.
  constexpr activation_form gate(int n) const {
    product_form const p = product(n);
    if (p.count != 2) return {};
    for (int i = 0; i < 2; ++i) {
      int const x = p.of[i], g = p.of[1 - i];
      if (p.inverse[i]) continue;
      if (p.inverse[1 - i]) {
        if (is_near(p.scale, 1) && one_plus_exp(g) == x) return {op::silu, x};
        continue;
      }
      if (is_near(p.scale, 1) && sigmoid_of(g) == x) return {op::silu, x};
      if (activation_form const h = hard_sigmoid(g, p.scale); h.of == x) return {op::hard_swish, x};
      linear_form const f = linear(g);
      if (!is_near(p.scale * f.factor, .5) || !is_near(p.scale * f.summand, .5)) continue;
      double c[4]{};
      if ((!is(f.of, kind::erf) && !is(f.of, kind::tanh)) || !polynomial(left(f.of), x, c)) continue;
      if (c[0] != 0 || c[2] != 0) continue;
      if (is(f.of, kind::erf) && is_near(c[1], .70710678118654752) && c[3] == 0) return {op::gelu, x};
      if (is(f.of, kind::tanh) && is_near(c[1], .79788456080286536) && is_near(c[3], .044715 * .79788456080286536))
        return {op::gelu_tanh, x};
    }
    return {};
  }
  /// x where positive, elsewhere a multiple: leaky_relu, prelu, relu.
  constexpr activation_form slope(int n) const {
    int x = -1, other = -1;
    if (is(n, kind::select)) {
      int const c = left(n), a = right(n), b = at(n).operand[2];
      if (!is(c, kind::less) && !is(c, kind::less_equal)) return {};
      if (is_number(right(c), 0) && left(c) == b) x = b, other = a;
      else if (is_number(left(c), 0) && right(c) == a) x = a, other = b;
      if (x < 0) return {};
      // A number here would also be selected where x is NaN.
      if (is_number(other, 0)) return x == b ? activation_form{op::relu, x} : activation_form{};
      return multiple(x, other);
    }
    if (!is(n, kind::maximum) && !is(n, kind::minimum)) return {};
    for (int i = 0; i < 2; ++i) {
      activation_form const f = multiple(at(n).operand[i], at(n).operand[1 - i]);
      if (f.kind != op::leaky_relu) continue;
      if (is(n, kind::maximum) ? f.alpha >= 0 && f.alpha <= 1 : f.alpha >= 1) return f;
    }
    return {};
  }
  constexpr activation_form multiple(int x, int other) const {
    product_form const p = product(other);
    if (p.count == 1 && p.of[0] == x && !p.inverse[0]) return {op::leaky_relu, x, p.scale};
    if (p.count != 2 || p.scale != 1 || p.inverse[0] || p.inverse[1]) return {};
    for (int i = 0; i < 2; ++i)
      if (p.of[i] == x && is(p.of[1 - i], kind::read)) return {op::prelu, x, 0, 0, p.of[1 - i]};
    return {};
  }
};

}  // namespace ago::recognition
