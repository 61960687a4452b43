// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of an index expression, their elements, and arithmetic on these.
#pragma once

#include <ago/expression/recorder.hpp>

namespace ago::expression {

/// A number that an expression computes for each point of its loops. During tracing it is a handle: all have this type,
/// so that variables, loops and functions work on them and no types nest.
struct scalar {
  recorder* in{};  ///< null: `number`, not recorded yet
  int node{};
  double number{};
  bool is_lost{};  ///< an operation on numbers alone that had to be recorded, but there was no operand to know where

  constexpr scalar(double x) : number(x) {}
  constexpr scalar(recorder* r, int n) : in(r), node(n) {}
  static constexpr scalar lost() {
    scalar r(0.);
    r.is_lost = true;
    return r;
  }
};

/// Comparisons of index variables, such as `i <= j && i > 2`; for `select`.
struct relation {
  static constexpr int most = 4;

  affine difference[most]{};  ///< compared with 0
  node_kind kind[most]{};
  int count{};
  bool overflows{};

  constexpr friend relation operator&&(relation a, relation const& b) {
    for (int i = 0; i < b.count; ++i) {
      if (a.count == most) {
        a.overflows = true;
        break;
      }
      a.difference[a.count] = b.difference[i];
      a.kind[a.count++] = b.kind[i];
    }
    return a;
  }
};

namespace detail {

constexpr int recorded(recorder& r, scalar const& x) {
  if (x.is_lost) r.complain({.what = fault::reads_nothing});
  if (x.in == nullptr) return r.number(x.number);
  if (x.in != &r) r.complain({.what = fault::operand_of_another_operator});
  return x.in == &r ? x.node : r.number(0);
}
constexpr scalar record(node_kind k, scalar const& a, scalar const& b = 0., scalar const& c = 0.) {
  recorder* const r = a.in ? a.in : b.in ? b.in : c.in;
  if (r == nullptr) {
    bool const rounds = k == node_kind::power || k >= node_kind::exp;  // Clang does not evaluate these
    return rounds || a.is_lost || b.is_lost || c.is_lost ? scalar::lost() : apply(k, a.number, b.number, c.number);
  }
  scalar const* const all[] = {&a, &b, &c};
  node n{k};
  for (int i = 0; i < operands_of(k); ++i) n.operand[i] = std::int16_t(recorded(*r, *all[i]));
  return {r, r->push(n)};
}
constexpr int position(recorder& r, affine const& a, int line) {
  element_access p{.rank = 1};
  p.at[0].sum = r.record(a, line);
  return r.record(p, node_kind::position, line);
}
constexpr scalar recorded(recorder& r, relation const& c) {
  if (c.overflows) r.complain({.what = fault::too_large, .expected = relation::most, .actual = relation::most + 1});
  scalar all = 1.;
  for (int i = 0; i < c.count; ++i) {
    scalar const x = record(c.kind[i], scalar(&r, position(r, c.difference[i], 0)), 0.);
    all = i == 0 ? x : record(node_kind::multiply, all, x);
  }
  return all;
}

}  // namespace detail

constexpr scalar operator+(scalar const& a, scalar const& b) { return detail::record(node_kind::add, a, b); }
constexpr scalar operator-(scalar const& a, scalar const& b) { return detail::record(node_kind::subtract, a, b); }
constexpr scalar operator*(scalar const& a, scalar const& b) { return detail::record(node_kind::multiply, a, b); }
constexpr scalar operator/(scalar const& a, scalar const& b) { return detail::record(node_kind::divide, a, b); }
constexpr scalar operator-(scalar const& a) { return detail::record(node_kind::negate, a); }
/// Comparisons are 1 or 0.
constexpr scalar operator<(scalar const& a, scalar const& b) { return detail::record(node_kind::less, a, b); }
constexpr scalar operator>(scalar const& a, scalar const& b) { return b < a; }
constexpr scalar operator<=(scalar const& a, scalar const& b) { return detail::record(node_kind::less_equal, a, b); }
constexpr scalar operator>=(scalar const& a, scalar const& b) { return b <= a; }
constexpr scalar operator==(scalar const& a, scalar const& b) { return detail::record(node_kind::equal, a, b); }
constexpr scalar maximum(scalar const& a, scalar const& b) { return detail::record(node_kind::maximum, a, b); }
constexpr scalar minimum(scalar const& a, scalar const& b) { return detail::record(node_kind::minimum, a, b); }
constexpr scalar pow(scalar const& a, scalar const& b) { return detail::record(node_kind::power, a, b); }
constexpr scalar abs(scalar const& a) { return detail::record(node_kind::absolute, a); }
constexpr scalar exp(scalar const& a) { return detail::record(node_kind::exp, a); }
constexpr scalar expm1(scalar const& a) { return detail::record(node_kind::expm1, a); }
constexpr scalar log(scalar const& a) { return detail::record(node_kind::log, a); }
constexpr scalar log1p(scalar const& a) { return detail::record(node_kind::log1p, a); }
constexpr scalar sqrt(scalar const& a) { return detail::record(node_kind::sqrt, a); }
constexpr scalar rsqrt(scalar const& a) { return detail::record(node_kind::rsqrt, a); }
constexpr scalar erf(scalar const& a) { return detail::record(node_kind::erf, a); }
constexpr scalar tanh(scalar const& a) { return detail::record(node_kind::tanh, a); }
constexpr scalar sigmoid(scalar const& a) { return detail::record(node_kind::sigmoid, a); }
constexpr scalar sin(scalar const& a) { return detail::record(node_kind::sin, a); }
constexpr scalar cos(scalar const& a) { return detail::record(node_kind::cos, a); }
constexpr scalar floor(scalar const& a) { return detail::record(node_kind::floor, a); }
constexpr scalar ceil(scalar const& a) { return detail::record(node_kind::ceil, a); }
constexpr scalar round(scalar const& a) { return detail::record(node_kind::round, a); }

constexpr relation operator<(affine const& a, affine const& b) { return {{a - b}, {node_kind::less}, 1}; }
constexpr relation operator>(affine const& a, affine const& b) { return b < a; }
constexpr relation operator<=(affine const& a, affine const& b) { return {{a - b}, {node_kind::less_equal}, 1}; }
constexpr relation operator>=(affine const& a, affine const& b) { return b <= a; }
constexpr relation operator==(affine const& a, affine const& b) { return {{a - b}, {node_kind::equal}, 1}; }

/// `a` where the condition is not 0, `b` elsewhere. Both are computed, so neither may read outside of an operand.
constexpr scalar select(scalar const& condition, scalar const& a, scalar const& b) {
  return detail::record(node_kind::select, condition, a, b);
}
/// One of `a` and `b` must read something: `x.number(1)` is a number that counts as read from x.
constexpr scalar select(relation const& condition, scalar const& a, scalar const& b) {
  recorder* const r = a.in ? a.in : b.in;
  return r ? select(detail::recorded(*r, condition), a, b) : scalar::lost();
}

/// The index of one dimension of an access, and where it is written.
struct subscript {
  affine index{};
  recorder* in{};
  int node{-1};  ///< a data-dependent index
  int line{};
  bool is_used{};

  constexpr subscript() = default;
  constexpr subscript(int i, int at = __builtin_LINE()) : index(i), line(at), is_used(true) {}
  constexpr subscript(var& i, int at = __builtin_LINE()) : index(i), line(at), is_used(true) {}
  constexpr subscript(affine const& i, int at = __builtin_LINE()) : index(i), line(at), is_used(true) {}
  /// The value rounded down, and clamped to the dimension unless the operand is `padded`.
  constexpr subscript(scalar const& i, int at = __builtin_LINE())
      : in(i.in), node(i.in ? i.node : -1), line(at), is_used(true) {
    if (i.in) return;
    index = int(i.number);
    index.overflows = i.is_lost;
  }
};

/// A value that an expression reads.
class operand {
 public:
  constexpr operand() = default;
  constexpr operand(recorder* r, int value) : in_(r), value_(value) {}

  constexpr scalar operator()(subscript const& a = {}, subscript const& b = {}, subscript const& c = {},
                              subscript const& d = {}, subscript const& e = {}, subscript const& f = {}) const {
    if (in_ == nullptr) return scalar::lost();
    subscript const* const all[] = {&a, &b, &c, &d, &e, &f};
    element_access r{.operand = std::int16_t(value_), .padded = padded_};
    r.pad_bits = __builtin_bit_cast(std::uint32_t, pad_);
    for (; r.rank < max_rank && all[r.rank]->is_used; ++r.rank) {
      subscript const& s = *all[r.rank];
      if (s.in && s.in != in_) in_->complain({.what = fault::operand_of_another_operator, .line = s.line});
      if (s.node >= 0 && s.in == in_) r.at[r.rank].node = std::int16_t(s.node);
      else r.at[r.rank].sum = in_->record(s.index, s.line);
    }
    return {in_, in_->record(r, node_kind::read, a.line)};
  }

  constexpr int rank() const { return dims().rank; }
  /// The extent of dimension d, which must exist.
  constexpr int extent(int d, int line = __builtin_LINE()) const {
    if (d >= 0 && d < rank()) return dims().of[d];
    diagnostic const bad{fault::rank_differs, -1, value_, -1, line, rank(), d + 1};
    if (in_) in_->complain(bad);
    return 1;
  }
  /// A number that is recorded with this operand, for expressions that read nothing.
  constexpr scalar number(double x) const { return in_ ? scalar(in_, in_->number(x)) : scalar(x); }
  /// The value of an index.
  constexpr scalar position(affine const& i, int line = __builtin_LINE()) const {
    return in_ ? scalar(in_, detail::position(*in_, i, line)) : scalar::lost();
  }

  constexpr recorder* in() const { return in_; }
  constexpr int value() const { return value_; }
  constexpr friend operand padded(operand x, float outside) {
    x.padded_ = true;
    x.pad_ = outside;
    return x;
  }

 private:
  constexpr extents dims() const { return in_ ? in_->made.values[value_].extents : extents{}; }

  recorder* in_{};
  int value_{};
  bool padded_{};
  float pad_{};
};
/// The same value, which is `outside` where an index is outside of it.
constexpr operand padded(operand x, float outside);

}  // namespace ago::expression
