// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise expressions as elementwise operators, from the operands up.
#pragma once

#include <ago/ir/functions.hpp>
#include <ago/recognition/formulas.hpp>
#include <ago/recognition/recognise_movement.hpp>

namespace ago::recognition {

/// The four axes in which an expression is computed: groups of axes of its result, such that every operand has all axes
/// of a group or none.
struct axis_groups {
  int of[expression::max_rank]{};  ///< the axis of `shape` that each axis of the result belongs to
  bool fits{};

  /// `masks`: the axes of each operand. Of several ways, one in which each operand is read in place.
  constexpr axis_groups(index_view const& view, unsigned const* masks, int count) {
    int const rank = view.e.result.rank;
    as_shape_of(rank);
    fits = are_whole(view, masks, count);
    if (fits && are_in_place(view, masks, count)) return;
    axis_groups const before = *this;
    if (rank == 2 || rank == 3) of[0] = 0;
    else if (rank > 4) unite(view, masks, count);
    if (before.fits && !are_in_place(view, masks, count)) *this = before;
  }
  constexpr shape shape_of(index_view const& view, unsigned mask) const {
    shape s;
    for (int x = 0; x < view.e.result.rank; ++x)
      if (mask >> x & 1) extent_along(s, of[x]) *= view.e.extent[x];
    return s;
  }

 private:
  constexpr void as_shape_of(int rank) {
    for (int x = 0; x < rank; ++x) of[x] = rank - x < 4 ? 4 - rank + x : 0;
  }
  constexpr unsigned group(int g, index_view const& view) const {
    unsigned r = 0;
    for (int x = 0; x < view.e.result.rank; ++x) r |= unsigned(of[x] == g && view.e.extent[x] > 1) << x;
    return r;
  }
  constexpr bool are_whole(index_view const& view, unsigned const* masks, int count) const {
    for (int g = 0; g < 4; ++g)
      for (int i = 0; i < count; ++i)
        if (unsigned const all = group(g, view); (masks[i] & all) && (masks[i] & all) != all) return false;
    return true;
  }
  constexpr bool are_in_place(index_view const& view, unsigned const* masks, int count) const {
    shape const whole = shape_of(view, view.result_axes());
    for (int i = 0; i < count; ++i)
      if (!tracing::is_read_in_place(shape_of(view, masks[i]), whole)) return false;
    return true;
  }
  /// Unites the first axes that can be one until there are four.
  constexpr void unite(index_view const& view, unsigned const* masks, int count) {
    int const rank = view.e.result.rank;
    int groups = rank;
    for (int x = 0; x < rank; ++x) of[x] = x;
    for (int x = 0; x + 1 < rank && groups > 4; ++x) {
      bool together = true;
      unsigned const a = group(of[x], view), b = group(of[x + 1], view);
      for (int i = 0; i < count; ++i) together &= !a || !b || bool(masks[i] & a) == bool(masks[i] & b);
      if (!together) continue;
      for (int y = x + 1; y < rank; ++y) --of[y];
      --groups;
    }
    fits = groups <= 4 && are_whole(view, masks, count);
  }
};

struct elementwise_finder {
  static constexpr int nodes = decltype(expression::index_expression::body)::node_capacity,
                       accesses = decltype(expression::index_expression::body)::access_capacity;
  using kind = expression::node_kind;

  index_view const& view;
  recognition_list& list;
  unsigned parameters{};
  formulas form{view.e};
  unsigned mask[accesses]{};
  bool is_in_order[accesses]{};  ///< the operand's elements are those of the mask's axes, in order
  recognised_operand made[nodes]{};
  bool is_made[nodes]{};

  constexpr elementwise_finder(index_view const& v, recognition_list& l, unsigned trained)
      : view(v), list(l), parameters(trained) {
    for (int a = 0; a < view.e.body.access_count; ++a) inspect(a);
  }

  constexpr void find() {
    if (list.failed) return;
    axis_groups const of(view, mask, view.e.body.access_count);
    if (!of.fits) return void(list.fail());
    groups = &of;
    shape const whole = of.shape_of(view, view.result_axes());
    recognised_operand const root = value(view.e.root());
    if (list.failed || root.number < 0) return void(list.fail());
    list.expanded(root, whole);
  }

 private:
  axis_groups const* groups{};

  constexpr void inspect(int a) {
    if (view.access(a).operand < 0) return;
    expression::digit_sum const place = view.address(a);
    axis_sum const s = view.by_axes(place);
    mask[a] = view.wide(expression::axes_of(view.e.body, view.access(a)));
    is_in_order[a] = !view.access(a).padded && s.is_exact && s.constant == 0 && !view.is_dependent(a);
    long next = 1;
    for (int x = view.e.result.rank; x-- > 0;)
      if (mask[a] >> x & 1) {
        is_in_order[a] &= s.of[x] == next;
        next *= view.e.extent[x];
      }
    is_in_order[a] &= next == view.operand_of(a).count();
  }

  constexpr bool is_parameter(int n) const {
    if (!form.is(n, kind::read)) return false;
    int const a = form.left(n);
    return parameters >> view.access(a).operand & 1 && is_in_order[a];
  }
  /// The operand of a read parameter whose shape is `s`; otherwise -1.
  constexpr int parameter(int n, shape const& s) const {
    if (!is_parameter(n)) return -1;
    int const a = form.left(n);
    return groups->shape_of(view, mask[a]) == s ? int(view.access(a).operand) : -1;
  }

  constexpr recognised_operand value(int n) {
    if (list.failed || is_made[n]) return made[n];
    made[n] = compute(n);
    is_made[n] = true;
    if (made[n].number < 0) list.fail();
    return made[n];
  }

  constexpr recognised_operand read(int a) {
    if (view.access(a).operand < 0) return list.fail();
    shape const s = groups->shape_of(view, mask[a]);
    if (is_in_order[a]) return {view.access(a).operand, false, s};
    movement_finder finder(view, list, a, mask[a]);
    recognised_operand r = finder.find();
    r.as = s;
    return r;
  }

  constexpr recognised_operand unary(node n, recognised_operand const& x) {
    n.out = x.as;
    return list.append(n, x);
  }
  template <class F>
  constexpr recognised_operand map(F const&, char const* name, int x, double alpha = 0, double beta = 0) {
    return unary(
        {.kind = op::map, .alpha = float(alpha), .beta = float(beta), .function = &user_map<F>, .function_name = name},
        value(x));
  }
  constexpr recognised_operand affine(linear_form const& f) {
    if (f.factor == 1 && f.summand == 0) return value(f.of);
    if (f.factor == -1 && f.summand == 0) return map(ir::negated, "negative", f.of);
    return map(ir::affine_function, "affine", f.of, f.factor, f.summand);
  }

  constexpr recognised_operand compute(int n) {
    if (form.is(n, kind::read)) return read(form.left(n));
    if (activation_form const f = form.activation(n); f.of >= 0) {
      recognised_operand const r = activation(f);
      if (r.number >= 0 || list.failed) return r;
    }
    linear_form const f = form.linear(n);
    if (f.of != n) return affine(f);
    int const a = form.left(n), b = form.right(n);
    switch (form.at(n).kind) {
      case kind::add:
        if (recognised_operand const r = normalised(n); r.number >= 0) return r;
        if (recognised_operand const r = shifted(a, b); r.number >= 0) return r;
        if (recognised_operand const r = shifted(b, a); r.number >= 0) return r;
        return binary(op::add, a, b);
      case kind::multiply:
        if (recognised_operand const r = scaled(a, b); r.number >= 0) return r;
        if (recognised_operand const r = scaled(b, a); r.number >= 0) return r;
        return binary(op::mul, a, b);
      case kind::subtract: return binary(op::sub, a, b);
      case kind::divide: return quotient(a, b);
      case kind::maximum: return binary(op::maximum, a, b);
      case kind::minimum: return binary(op::minimum, a, b);
      case kind::less: return binary(op::less, a, b);
      case kind::power:
        if (form.is_number(b)) return map(ir::power_function, "to_power", a, double(form.at(b).number()));
        return binary(op::power, a, b);
      case kind::absolute: return map(ir::absolute_value, "absolute", a);
      case kind::exp: return map(ir::exponential_function, "exponential", a);
      case kind::expm1: return map(ir::exponential_minus_one, "exponential_minus_one", a);
      case kind::log: return map(ir::logarithm_function, "logarithm", a);
      case kind::log1p: return map(ir::logarithm_of_one_plus, "logarithm_of_one_plus", a);
      case kind::sqrt: return map(ir::root, "square_root", a);
      case kind::rsqrt: return map(ir::inverse_root, "reciprocal_root", a);
      case kind::erf: return map(ir::error_function_of, "error_function", a);
      case kind::sin: return map(ir::sine_function, "sine", a);
      case kind::cos: return map(ir::cosine_function, "cosine", a);
      case kind::floor: return map(ir::rounded_down, "round_down", a);
      case kind::ceil: return map(ir::rounded_up, "round_up", a);
      case kind::round: return map(ir::rounded, "round_off", a);
      default: return {};
    }
  }

  constexpr recognised_operand binary(op k, int a, int b) {
    if (form.is_number(a) || form.is_number(b)) return {};
    recognised_operand const x = value(a), y = value(b);
    return list.failed ? recognised_operand{} : list.binary(k, x, y);
  }
  constexpr recognised_operand quotient(int a, int b) {
    if (!form.is_number(a)) return binary(op::div, a, b);
    bool const of_root = form.is(b, kind::sqrt);
    double const number = double(form.at(a).number());
    recognised_operand const inverse =
        of_root ? map(ir::inverse_root, "reciprocal_root", form.left(b)) : map(ir::inverse, "reciprocal", b);
    if (number == 1 || list.failed) return inverse;
    return unary({.kind = op::map,
                  .alpha = float(number),
                  .function = &user_map<std::remove_cvref_t<decltype(ir::affine_function)>>,
                  .function_name = "affine"},
                 inverse);
  }

  constexpr recognised_operand activation(activation_form const& f) {
    node n{.kind = f.kind, .alpha = float(f.alpha), .beta = float(f.beta)};
    if (f.kind == op::clip) {
      n.alpha = f.alpha < -largest ? -largest : n.alpha;
      n.beta = f.beta > largest ? largest : n.beta;
    }
    if (f.kind != op::prelu) return unary(n, value(f.of));
    if (!is_parameter(f.slope)) return {};
    recognised_operand const x = value(f.of);
    int const each = parameter(f.slope, {1, 1, 1, x.as.c}), all = parameter(f.slope, {});
    if (list.failed || (each < 0 && all < 0)) return {};
    n.out = x.as;
    n.entries = all >= 0 ? 1 : x.as.c;
    return list.append({.made = n, .operands = {x}, .operand_count = 1, .weight = all >= 0 ? all : each});
  }
  static constexpr float largest = 3.402823466e38f;

  /// x + parameter
  constexpr recognised_operand shifted(int x, int p) {
    if (!is_parameter(p) || is_parameter(x)) return {};
    recognised_operand const v = value(x);
    if (list.failed) return {};
    if (int const each = parameter(p, {1, 1, 1, v.as.c}); each >= 0)
      return list.append({.made = {.kind = op::bias, .out = v.as}, .operands = {v}, .operand_count = 1, .shift = each});
    if (int const table = parameter(p, {1, v.as.h, v.as.w, v.as.c}); table >= 0)
      return list.append(
          {.made = {.kind = op::positions, .out = v.as}, .operands = {v}, .operand_count = 1, .weight = table});
    return {};
  }
  /// x * parameter
  constexpr recognised_operand scaled(int x, int p) {
    if (!is_parameter(p) || is_parameter(x)) return {};
    recognised_operand const v = value(x);
    int const each = list.failed ? -1 : parameter(p, {1, 1, 1, v.as.c});
    if (each < 0) return {};
    return list.append({.made = {.kind = op::scale, .out = v.as}, .operands = {v}, .operand_count = 1, .weight = each});
  }
  /// (x - mean) * gamma / sqrt(variance + epsilon) + beta
  constexpr recognised_operand normalised(int n) {
    for (int i = 0; i < 2; ++i) {
      int const beta = form.at(n).operand[i];
      product_form const p = form.product(form.at(n).operand[1 - i]);
      if (!is_parameter(beta) || p.count != 3 || p.scale != 1) continue;
      int gamma = -1, variance = -1, difference = -1;
      double epsilon = 0;
      for (int k = 0; k < 3; ++k) {
        int const f = p.of[k];
        if (form.is(f, p.inverse[k] ? kind::sqrt : kind::rsqrt)) {
          linear_form const v = form.linear(form.left(f));
          if (v.factor != 1 || v.summand < 0) return {};
          variance = v.of, epsilon = v.summand;
        } else if (!p.inverse[k]) {
          (is_parameter(f) ? gamma : difference) = f;
        }
      }
      if (gamma < 0 || variance < 0 || difference < 0 || !form.is(difference, kind::subtract)) continue;
      int const mean = form.right(difference), x = form.left(difference);
      if (!is_parameter(mean) || !is_parameter(variance) || is_parameter(x) || form.is_number(x)) continue;
      recognised_operand const v = value(x);
      if (list.failed) return {};
      shape const channels{1, 1, 1, v.as.c};
      recognised_node r{
          .made = {.kind = op::batch_norm, .out = v.as, .alpha = float(epsilon)}, .operands = {v}, .operand_count = 1};
      int const of[] = {gamma, beta, mean, variance};
      bool all = true;
      for (int k = 0; k < 4; ++k) {
        r.norm[k] = parameter(of[k], channels);
        all &= r.norm[k] >= 0;
      }
      if (all) return list.append(r);
    }
    return {};
  }
};

}  // namespace ago::recognition
