// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an element of an operand is read: the indices of an access, solved for the axes of its expression.
//
// NeoFlow (section 4.2) solves systems of affine indices and of pairs of quotients and remainders. In terms of digits
// all of these are linear: z = 4 i + j determines i = z / 4 and j = z % 4 if j is below 4, and i = (z - j) / 4 for each
// j that fits otherwise.
#pragma once

#include <ago/expression/axis_values.hpp>
#include <ago/expression/common_divisor.hpp>

namespace ago::expression::detail {

/// How an index z of the operand becomes axis u of the inverse, which may have other elements:
/// y = (z - constant) / divisor, where that is a whole number; others have no u. u = y - first, or, if y is
/// stride * q + step * phase with a step beyond 1, u = stride * q + phase - first.
struct index_shift {
  bool is_used{}, is_constant{};  ///< not used: u is z. constant: u is 0, and z must be the constant
  long constant{}, divisor{}, first{}, stride{}, step{};

  /// The multiple of `step` that is 1 more than a multiple of `stride`.
  constexpr long inverse() const {
    long r = 1;
    while (r < stride && r * step % stride != 1) ++r;
    return stride == 1 ? 0 : r;
  }
  /// u + first = turn * (y * inverse / stride) + factor * y
  constexpr long turn() const { return step == 1 ? 0 : stride * (step - 1); }
  constexpr long factor() const { return step == 1 ? 1 : inverse() - (step * inverse() - 1); }
  constexpr long place(long y) const {
    return step == 1 ? y : turn() * floor_quotient(y * inverse(), stride) + factor() * y;
  }
};

/// The axes of an expression as functions of the indices of an access and of further axes, over which a gradient is a
/// sum. The new expression's first axes are the indices, shifted where that makes quotients exact.
struct index_inverse {
  /// A condition: the sum is 0, or at least 0 (`lower`), or below `extent` (`upper`).
  struct condition {
    affine_sum of{};
    bool is_zero{}, lower{}, upper{};
    long extent{};
    unsigned whole_axis{};  ///< the axis that it is a condition for, as a bit, if it is for a whole one
  };
  static constexpr int max_conditions = 16;

  index_expression const& e;
  element_access const& a;
  extents const& of;
  axis_values values;
  index_shift shift[max_rank]{};
  condition conditions[max_conditions]{};
  int condition_count{};
  unsigned summed{};  ///< axes of the new expression
  bool is_sum{};

  constexpr index_inverse(index_expression const& from, int access, canonical& into)
      : e(from), a(from.body.accesses[access]), of(from.operands[a.operand]), values{from, into} {
    choose_all();
    add_axes();
    for (int i = 0; i < chosen_count; ++i) solve(order[i]);
    for (int d = 0; d < a.rank; ++d)
      if (!is_exact[d] && a.at[d].node < 0) {
        axis_values::sum s;
        s.add({values.axis(d), 1, 0, 1});
        s.add({values.copy(a.at[d].sum), 1, 0, -1});
        require_zero(values.made(s));
      }
    for (int k = 0; k < values.in.count; ++k) check_range(k);
  }

 private:
  static constexpr int max_digits = digit_sum::max_digits;
  static constexpr int unknown = -2, free = -1;

  digit_sum at[max_rank]{};
  bool is_exact[max_rank]{};
  int solved_in[max_digits]{};  ///< the dimension; or free, unknown
  int split[max_rank]{};        ///< the digit that is divided into phases; -1: none
  int order[max_rank]{}, chosen_count{};

  constexpr digit const& digit_of(int k) const { return values.in.all[k]; }
  static constexpr long size(long x) { return x < 0 ? -x : x; }
  constexpr long size_at(int d, int k) const { return digit_of(k).extent == 1 ? 0 : size(at[d].of[k]); }
  constexpr bool is_in_result(int k) const { return digit_of(k).axis < e.result.rank; }

  /// Digits that dimension d determines, from the smallest multiple.
  struct chain {
    int all[max_digits]{};
    int count{};
  };
  constexpr chain chain_of(int d) const {
    chain r;
    for (int k = 0; k < values.in.count; ++k) {
      if (solved_in[k] != d || size_at(d, k) == 0) continue;
      int place = r.count++;
      for (; place > 0 && size_at(d, r.all[place - 1]) > size_at(d, k); --place) r.all[place] = r.all[place - 1];
      r.all[place] = k;
    }
    return r;
  }
  /// Are different values of the digits different indices, whose digits are quotients and remainders?
  constexpr bool is_unique(int d) const {
    chain const c = chain_of(d);
    for (int i = 1; i < c.count; ++i) {
      long const below = size_at(d, c.all[i - 1]), above = size_at(d, c.all[i]);
      if (above % below != 0 || above < below * digit_of(c.all[i - 1]).extent) return false;
    }
    return true;
  }

  constexpr void choose_all() {
    for (int k = 0; k < values.in.count; ++k) solved_in[k] = unknown;
    for (int d = 0; d < a.rank; ++d) {
      split[d] = -1;
      if (a.at[d].node >= 0) continue;
      at[d] = values.in(e, a.at[d].sum);
      is_exact[d] = at[d].is_exact;
    }
    bool done[max_rank]{};
    for (;;) {  // the dimension with the fewest unknown digits
      int next = -1, fewest = 0;
      for (int d = 0; d < a.rank; ++d) {
        if (done[d] || !is_exact[d]) continue;
        int count = 0;
        for (int k = 0; k < values.in.count; ++k) count += solved_in[k] == unknown && size_at(d, k) != 0;
        if (next < 0 || count < fewest) next = d, fewest = count;
      }
      if (next < 0) break;
      done[next] = true;
      order[chosen_count++] = next;
      choose(next);
    }
    for (int k = 0; k < values.in.count; ++k) {
      if (solved_in[k] == unknown) solved_in[k] = free;
      is_sum |= solved_in[k] == free && digit_of(k).extent > 1;
    }
  }
  /// Decides which digits dimension d determines: those of the result first, since their range needs no condition, then
  /// those of large multiples.
  constexpr void choose(int d) {
    bool has_known = false, was_free[max_digits]{};
    for (int k = 0; k < values.in.count; ++k) {
      has_known |= solved_in[k] >= 0 && size_at(d, k) != 0;
      was_free[k] = solved_in[k] == free;
    }
    for (;;) {
      int next = -1;
      for (int k = 0; k < values.in.count; ++k) {
        if (solved_in[k] != unknown || size_at(d, k) == 0) continue;
        if (next < 0 || comes_before(d, k, next)) next = k;
      }
      if (next < 0) break;
      solved_in[next] = d;
      if (!is_unique(d)) solved_in[next] = free;
    }
    if (!has_known) choose_split(d, was_free);
  }
  constexpr bool comes_before(int d, int a, int b) const {
    if (is_in_result(a) != is_in_result(b)) return is_in_result(a);
    if (size_at(d, a) != size_at(d, b)) return size_at(d, a) > size_at(d, b);
    return digit_of(a).extent > digit_of(b).extent;
  }
  /// z = stride * p + step * r: r is divided into stride * m + phase, so that each phase has its own r.
  constexpr void choose_split(int d, bool const* was_free) {
    chain const c = chain_of(d);
    long const unit = common_unit(d), stride = c.count ? size_at(d, c.all[0]) / unit : 1;
    if (stride == 1) return;
    int found = -1, others = 0;
    for (int k = 0; k < values.in.count; ++k) {
      if (solved_in[k] != free || size_at(d, k) / unit % stride == 0) continue;
      ++others;
      if (!was_free[k]) found = k;
    }
    bool const fits =
        others == 1 && found >= 0 && ago::expression::common_divisor(size_at(d, found) / unit, stride) == 1;
    if (fits && c.count == 1) split[d] = found;
  }
  constexpr long common_unit(int d) const {
    long r = 0;
    for (int k = 0; k < values.in.count; ++k)
      if (size_at(d, k) != 0) r = ago::expression::common_divisor(size_at(d, k), r);
    return r == 0 ? 1 : r;
  }

  constexpr int add_axis(long extent, bool is_summed) {
    index_expression& to = values.into.to;
    if (!values.into.has_room(to.axis_count, max_axes)) return 0;
    to.extent[to.axis_count] = int(extent);
    if (is_summed) summed |= 1u << to.axis_count;
    return to.axis_count++;
  }
  constexpr void add_axes() {
    for (int d = 0; d < a.rank; ++d) add_axis(of.of[d], false);
    for (int x = 0; x < e.axis_count; ++x) {
      bool whole = e.extent[x] > 1;
      for (int k = 0; k < values.in.count; ++k)
        if (digit_of(k).axis == x && digit_of(k).extent > 1) whole &= solved_in[k] == free && stride_for(k) == 1;
      int const one = whole ? add_axis(e.extent[x], true) : -1;
      for (int k = 0; k < values.in.count; ++k) {
        digit const& g = digit_of(k);
        if (g.axis != x || g.extent == 1 || solved_in[k] != free) continue;
        if (whole) {
          long const next = g.weight * g.extent;
          values.value[k] = {values.axis(one), g.weight, next == e.extent[x] ? 0 : g.extent};
        } else {
          long const stride = stride_for(k), count = (g.extent + stride - 1) / stride;
          values.value[k] = {count == 1 ? affine_sum{} : values.axis(add_axis(count, true)), 1, 0};
        }
      }
    }
  }
  /// The stride by whose phases free digit k is divided.
  constexpr long stride_for(int k) const {
    for (int d = 0; d < a.rank; ++d)
      if (split[d] == k) return size_at(d, chain_of(d).all[0]) / common_unit(d);
    return 1;
  }

  constexpr void require_zero(affine_sum const& s) {
    range const r = values.range_of(s);
    if (r.lower != 0 || r.upper != 0) add({s, true, false, false, 0, 0});
  }
  constexpr void add(condition const& c) {
    if (values.into.has_room(condition_count, max_conditions)) conditions[condition_count++] = c;
  }
  constexpr void check_range(int k) {
    if (digit_of(k).extent == 1 || (solved_in[k] == free && stride_for(k) == 1)) return;
    axis_values::sum s;
    values.add(s, k, 1);
    affine_sum const v = values.made(s);
    range const r = values.range_of(v);
    long const extent = digit_of(k).extent;
    bool const is_whole = extent == e.extent[digit_of(k).axis];
    if (r.lower < 0 || r.upper >= extent)
      add({v, false, r.lower < 0, r.upper >= extent, extent, unsigned(is_whole) << digit_of(k).axis});
  }

  /// Solves t = sum of multiples of the digits of c.
  constexpr void set_digits(int d, chain const& c, affine_sum const& t, long unit) {
    for (int i = 0; i < c.count; ++i) {
      int const k = c.all[i];
      long const step = size_at(d, k) / unit, next = i + 1 < c.count ? size_at(d, c.all[i + 1]) / unit : 0;
      values.value[k] = {t, step, next / step, at[d].of[k] < 0};
    }
    long const smallest = c.count ? size_at(d, c.all[0]) / unit : 1;
    if (smallest == 1) return;
    axis_values::sum rest;
    rest.add({t, 1, smallest, 1});
    require_zero(values.made(rest));
  }

  /// Solves dimension d for its digits.
  constexpr void solve(int d) {
    chain const c = chain_of(d);
    int const phases = split[d];
    bool has_known = false, has_others = phases >= 0;
    long constant = at[d].constant;
    for (int k = 0; k < values.in.count; ++k) {
      if (size_at(d, k) == 0) continue;
      if (solved_in[k] >= 0 && solved_in[k] != d) has_known = true;
      if (solved_in[k] == free) has_others = true;
      if ((solved_in[k] == d || k == phases) && at[d].of[k] < 0) constant += at[d].of[k] * (digit_of(k).extent - 1);
    }
    long const unit = common_unit(d), extent = of.of[d];
    if (is_sum && !has_known && c.count == 0 && !has_others) {
      if (extent == 1) return require_zero(values.made({.constant = constant}));
      shift[d] = {.is_used = true, .is_constant = true, .constant = constant};
      values.into.to.extent[d] = 1;
      return;
    }
    bool const is_shifted = is_sum && !has_known && (phases >= 0 || (c.count > 0 && size_at(d, c.all[0]) == unit));
    if (is_shifted && solve_shifted(d, c, constant, unit, has_others)) return;
    axis_values::sum t;
    t.constant = -constant;
    t.add({values.axis(d), 1, 0, 1});
    subtract_others(t, d, -1, 1);
    affine_sum const rest = values.made(t);
    if (c.count == 0) require_zero(rest);
    else set_digits(d, c, rest, 1);
  }
  /// Subtracts multiples of digits that dimension d does not determine, each divided by `unit`.
  constexpr void subtract_others(axis_values::sum& t, int d, int but, long unit) const {
    for (int k = 0; k < values.in.count; ++k)
      if (size_at(d, k) != 0 && solved_in[k] != d && k != but) values.add(t, k, -at[d].of[k] / unit);
  }
  /// Likewise, with the axis shifted such that quotients of it are digits. False: it cannot be.
  constexpr bool solve_shifted(int d, chain const& c, long constant, long unit, bool has_others) {
    int const phases = split[d];
    index_shift s{.constant = constant, .divisor = unit, .stride = 1, .step = 1};
    long const first = -floor_quotient(constant, unit), last = floor_quotient(of.of[d] - 1 - constant, unit);
    if (last < first) return false;
    long const top = size_at(d, c.all[c.count - 1]) / unit;
    if (top == 1) {  // one digit
      s.first = first;
      shift_axis(d, s, last - first + 1);
      axis_values::sum t;
      t.constant = first;
      t.add({values.axis(d), 1, 0, 1});
      subtract_others(t, d, -1, unit);
      set_digits(d, c, values.made(t), unit);
      return true;
    }
    for (int k = 0; k < values.in.count; ++k)
      if (solved_in[k] == free && k != phases && size_at(d, k) / unit % top != 0) return false;
    if (phases >= 0) {
      s.stride = top;
      s.step = size_at(d, phases) / unit;
    }
    long least = s.place(first), most = least;
    for (long y = s.step == 1 ? last : first; y <= last; ++y) {
      long const u = s.place(y);
      least = u < least ? u : least;
      most = u > most ? u : most;
    }
    bool const fits = phases >= 0 && phases_fit(s, first, last, digit_of(phases).extent);
    long const whole = floor_quotient(least, top) + fits;
    s.first = fits ? first : whole * top;
    shift_axis(d, s, fits ? last - first + 1 : (floor_quotient(most, top) - whole + 1) * top);
    affine_sum const u = values.axis(d);
    axis_values::sum multiples;  // of `top`
    multiples.constant = whole;
    multiples.add({u, top, 0, 1});
    if (phases >= 0) {
      set_phases(d, c.all[0], multiples, s, unit);
      return true;
    }
    axis_values::sum t;
    t.constant = s.first;
    t.add({u, 1, 0, 1});
    if (!has_others) {
      set_digits(d, c, values.made(t), unit);
      return true;
    }
    set_digits(d, c, u, unit);
    int const k = c.all[c.count - 1];
    subtract_others(multiples, d, -1, unit * top);
    values.value[k] = {values.made(multiples), 1, 0, at[d].of[k] < 0};
    return true;
  }
  /// Can phases be counted from the first index y on, although it is no multiple of the stride, with neither more steps
  /// for the digit of `extent`, whose first values are then below 0, nor a part of the stride at the end? Then the axis
  /// has no other elements, which would be computed and cut off.
  static constexpr bool phases_fit(index_shift const& s, long first, long last, long extent) {
    long const phase = first - floor_quotient(first, s.stride) * s.stride;
    return s.step == 1 && phase > (extent - 1) % s.stride && (last - first + 1) % s.stride == 0;
  }
  /// Sets the digit that is divided into phases, and digit k, which has the multiples of the stride that the phases do
  /// not make up for.
  constexpr void set_phases(int d, int k, axis_values::sum multiples, index_shift const& s, long unit) {
    int const phases = split[d];
    axis_values::sum r;
    r.constant = s.first - multiples.constant * s.stride;
    r.add({values.value[phases].of, 1, 0, s.stride});
    r.add({values.axis(d), 1, s.stride, 1});
    multiples.add({values.value[phases].of, 1, 0, -s.step});
    subtract_others(multiples, d, phases, unit * s.stride);
    values.value[phases] = {values.made(r), 1, 0, at[d].of[phases] < 0};
    values.value[k] = {values.made(multiples), 1, 0, at[d].of[k] < 0};
  }
  constexpr void shift_axis(int d, index_shift s, long extent) {
    s.is_used = s.divisor > 1 || s.step > 1 || s.constant + s.first != 0 || extent != of.of[d];
    shift[d] = s;
    values.into.to.extent[d] = int(extent);
  }
};

}  // namespace ago::expression::detail
