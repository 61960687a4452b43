// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The derivative of a body with respect to one of the elements that it reads.
#pragma once

#include <ago/expression/arithmetic_writer.hpp>

namespace ago::expression::detail {

/// Derivatives of the nodes of an expression with respect to what access `by` reads. `value(n)` is node n in the
/// expression that is being written.
template <class Value>
struct derivative {
  static constexpr int zero = -1;

  index_expression const& e;
  int by;
  arithmetic_writer write;
  Value const& value;
  bool is_known[decltype(index_expression::body)::node_capacity]{};
  std::int16_t known[decltype(index_expression::body)::node_capacity]{};
  node_uses<decltype(index_expression::body)> uses{e.body};

  /// That of node n, which is no fold; `zero` if it does not depend on the access.
  constexpr int of(int n) {
    if (!is_known[n]) {
      known[n] = std::int16_t(computed(n));
      is_known[n] = true;
    }
    return known[n];
  }

 private:
  constexpr int product(int a, int b) const { return write.multiply(a, b); }
  constexpr int ratio(int a, int b) const { return write.make(node_kind::divide, a, b); }

  constexpr int computed(int n) {
    node const& x = e.body.nodes[n];
    if (x.kind == node_kind::read) return x.operand[0] == by ? write.number(1) : zero;
    if (is_leaf(x.kind) || is_fold(x.kind)) return zero;
    if (operands_of(x.kind) == 1) return of_function(n);
    int const a = x.operand[0], b = x.operand[1];
    if (x.kind == node_kind::select) return chosen([&] { return value(a); }, of(b), of(x.operand[2]));
    int const da = of(a), db = of(b);
    if (da == zero && db == zero) return zero;
    switch (x.kind) {
      case node_kind::add: return sum(da, db);
      case node_kind::subtract: return sum(da, db == zero ? zero : write.negate(db));
      case node_kind::multiply:
        return sum(da == zero ? zero : product(da, value(b)), db == zero ? zero : product(value(a), db));
      case node_kind::divide: {  // (da - a / b * db) / b
        if (db == zero && write.is_number(value(b)))
          return product(da, write.number(1 / double(e.body.nodes[b].number())));
        int const change = db == zero ? zero : write.negate(product(result(n), db));
        return ratio(sum(da, change), value(b));
      }
      case node_kind::maximum:
      case node_kind::minimum: return of_larger_or_smaller(n, da, db);
      case node_kind::power: return sum(by_base(n, da), by_exponent(n, db));
      default: return zero;  // comparisons
    }
  }
  /// Where both are equal, the number counts, or else the second one: relu's derivative at 0 is 0.
  constexpr int of_larger_or_smaller(int n, int da, int db) const {
    node const& x = e.body.nodes[n];
    bool const is_maximum = x.kind == node_kind::maximum;
    int const limit = limit_of(x);
    if (limit < 0) {
      int const a = value(x.operand[0]), b = value(x.operand[1]);
      return chosen([&] { return write.make(node_kind::less, is_maximum ? b : a, is_maximum ? a : b); }, da, db);
    }
    int const c = value(x.operand[limit]), y = result(n);
    return chosen([&] { return write.make(node_kind::less, is_maximum ? c : y, is_maximum ? y : c); },
                  limit == 0 ? db : da, zero);
  }
  /// Which operand of a maximum or minimum is a number; -1: none.
  constexpr int limit_of(node const& x) const {
    if (x.kind != node_kind::maximum && x.kind != node_kind::minimum) return -1;
    for (int i = 0; i < 2; ++i)
      if (e.body.nodes[x.operand[i]].kind == node_kind::number) return i;
    return -1;
  }
  /// The value of node n, as far as its derivative needs it.
  constexpr int result(int n) const { return value(same_as(n)); }
  /// A node that equals node n wherever the derivative is not 0: what clamps n, and nothing else reads n. So clamped
  /// values are differentiated from the result, too.
  constexpr int same_as(int n) const {
    for (int r = uses.only_reader(n); r >= 0 && limit_of(e.body.nodes[r]) >= 0; r = uses.only_reader(n)) n = r;
    return n;
  }
  constexpr int sum(int a, int b) const { return a == zero ? b : b == zero ? a : write.add(a, b); }
  constexpr int chosen(auto const& condition, int a, int b) const {
    if (a == zero && b == zero) return zero;
    int const none = a == zero || b == zero ? write.number(0) : zero;
    return write.make(node_kind::select, condition(), a == zero ? none : a, b == zero ? none : b);
  }
  constexpr int by_base(int n, int da) const {
    if (da == zero) return zero;
    int const a = value(e.body.nodes[n].operand[0]), b = value(e.body.nodes[n].operand[1]);
    if (write.is_number(b, 2)) return product(da, product(a, b));
    int const less = write.is_number(b) ? write.number(double(e.body.nodes[e.body.nodes[n].operand[1]].number()) - 1)
                                        : write.subtract(b, write.number(1));
    return product(da, product(b, write.make(node_kind::power, a, less)));
  }
  /// a^b log(a), whose limit at a = 0 is 0
  constexpr int by_exponent(int n, int db) const {
    if (db == zero) return zero;
    int const a = value(e.body.nodes[n].operand[0]);
    int const slope = product(result(n), write.make(node_kind::log, a)), nothing = write.number(0);
    return product(db, write.make(node_kind::select, write.make(node_kind::equal, a, nothing), nothing, slope));
  }

  constexpr int of_function(int n) {
    node const& x = e.body.nodes[n];
    int const a = x.operand[0], da = of(a);
    if (da == zero) return zero;
    auto const one_minus = [&](int y) { return write.subtract(write.number(1), y); };
    switch (x.kind) {
      case node_kind::negate: return write.negate(da);
      case node_kind::absolute: {
        int const none = write.number(0), v = value(a);
        return product(da, write.subtract(write.make(node_kind::less, none, v), write.make(node_kind::less, v, none)));
      }
      case node_kind::exp: return product(da, result(n));
      case node_kind::expm1: return product(da, write.add(result(n), write.number(1)));
      case node_kind::log: return ratio(da, value(a));
      case node_kind::log1p: return ratio(da, write.add(value(a), write.number(1)));
      case node_kind::sqrt: return ratio(product(da, write.number(.5)), result(n));
      case node_kind::rsqrt: {
        int const y = result(n);
        return product(da, product(product(product(y, y), y), write.number(-.5)));
      }
      case node_kind::erf: {  // 2 / sqrt(pi) exp(-a^2)
        int const v = value(a), square = write.negate(product(v, v));
        return product(da, product(write.make(node_kind::exp, square), write.number(1.1283791670955126)));
      }
      case node_kind::tanh: return product(da, one_minus(product(result(n), result(n))));
      case node_kind::sigmoid: return product(da, product(result(n), one_minus(result(n))));
      case node_kind::sin: return product(da, write.make(node_kind::cos, value(a)));
      case node_kind::cos: return product(da, write.negate(write.make(node_kind::sin, value(a))));
      default: return zero;  // floor, ceil, round
    }
  }
};

}  // namespace ago::expression::detail
