// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index variables, and quasi-affine functions of them: sums, multiples, quotients and remainders by constants.
#pragma once

#include <ago/expression/pool.hpp>

namespace ago::expression {

struct affine;
class var;

/// The variables that an operator uses, by number.
struct variable_table {
  static constexpr int capacity = 32;

  var* all[capacity]{};   ///< null: it does not live any more
  int given[capacity]{};  ///< its extent; 0: not given
  int count{};

  constexpr variable_table() = default;
  variable_table(variable_table const&) = delete;
  variable_table& operator=(variable_table const&) = delete;
  constexpr ~variable_table();

  /// The number of a variable of this table; otherwise -1.
  constexpr int find(var const& v) const;
  /// Adds a variable, for which there must be room.
  constexpr int add(var& v);
};

/// An index variable: `var b, k, p;`. Its range is 0 ... extent - 1; the extent follows from what it indexes, unless it
/// is given: `var r{3};`. Variables are told apart by their addresses while they live (Halide's and PlaidML's by names
/// or shared pointers, which need more than constant evaluation offers), so they cannot be copied. They may be local to
/// a helper function: what it has recorded keeps the variable's number.
class var {
 public:
  constexpr var() = default;
  constexpr explicit var(int extent) : given_(extent), is_given_(true) {}
  var(var const&) = delete;
  var& operator=(var const&) = delete;
  constexpr ~var() { leave(); }

  constexpr int given() const { return given_; }
  constexpr bool is_given() const { return is_given_; }
  constexpr operator affine();

 private:
  friend variable_table;
  constexpr void leave() {
    if (in_) in_->all[number_] = nullptr;
  }

  int given_{};
  bool is_given_{};
  variable_table* in_{};  ///< the operator that uses it
  int number_{};          ///< there
};

constexpr variable_table::~variable_table() {
  for (int i = 0; i < count; ++i)
    if (all[i]) all[i]->in_ = nullptr;
}
constexpr int variable_table::find(var const& v) const { return v.in_ == this ? v.number_ : -1; }
constexpr int variable_table::add(var& v) {
  v.leave();
  v.in_ = this;
  v.number_ = count;
  all[count] = &v;
  given[count] = v.given() > 0 ? v.given() : 0;
  return count++;
}

/// A variable times a number.
struct multiple {
  var* of{};
  int coefficient{};
};

/// A constant plus multiples of variables.
struct plain_affine {
  multiple terms[max_rank]{};
  int count{}, constant{};
  bool overflows{};

  constexpr void add(var* v, int coefficient) {
    for (int i = 0; i < count; ++i)
      if (terms[i].of == v) {
        terms[i].coefficient += coefficient;
        return;
      }
    if (count == max_rank) overflows = true;
    else terms[count++] = {v, coefficient};
  }
  constexpr void add(plain_affine const& o, int factor) {
    for (int i = 0; i < o.count; ++i) add(o.terms[i].of, factor * o.terms[i].coefficient);
    constant += factor * o.constant;
    overflows |= o.overflows;
  }
};

/// coefficient * ((of / divisor) % modulus), rounded down; no remainder if the modulus is 0.
struct floor_part {
  plain_affine of{};
  int divisor{1}, modulus{}, coefficient{1};
};

/// A quasi-affine function of index variables.
struct affine {
  static constexpr int max_parts = 3;

  plain_affine plain{};
  floor_part parts[max_parts]{};
  int part_count{};
  bool overflows{};    ///< it has more terms than fit, or a quotient of quotients that has no simpler form
  int bad_divisor{1};  ///< a divisor that is not positive

  constexpr affine() = default;
  constexpr affine(int constant) { plain.constant = constant; }

  constexpr void add(affine const& o, int factor) {
    plain.add(o.plain, factor);
    for (int i = 0; i < o.part_count; ++i) {
      if (part_count == max_parts) {
        overflows = true;
        break;
      }
      parts[part_count] = o.parts[i];
      parts[part_count++].coefficient *= factor;
    }
    overflows |= o.overflows;
    if (o.bad_divisor != 1) bad_divisor = o.bad_divisor;
  }
  /// Is it one quotient, or a remainder, alone?
  constexpr bool is_part() const {
    return part_count == 1 && plain.count == 0 && plain.constant == 0 && parts[0].coefficient == 1;
  }
};

constexpr var::operator affine() {
  affine r;
  r.plain.add(this, 1);
  return r;
}

constexpr affine operator+(affine a, affine const& b) {
  a.add(b, 1);
  return a;
}
constexpr affine operator-(affine a, affine const& b) {
  a.add(b, -1);
  return a;
}
constexpr affine operator-(affine const& a) { return affine() - a; }
constexpr affine operator*(int factor, affine const& a) {
  affine r;
  r.add(a, factor);
  return r;
}
constexpr affine operator*(affine const& a, int factor) { return factor * a; }

/// Rounded down.
constexpr affine operator/(affine const& a, int divisor) {
  affine r;
  r.overflows = a.overflows;
  r.bad_divisor = divisor > 0 ? a.bad_divisor : divisor < 0 ? divisor : 0;
  if (divisor <= 0) return r;
  if (divisor == 1) return a;
  r.part_count = 1;
  floor_part& part = r.parts[0];
  if (a.part_count == 0) {
    part = {a.plain, divisor, 0, 1};
    return r;
  }
  // ((x / d) % m) / e = (x / (d e)) % (m / e) if e divides m
  part = a.parts[0];
  part.divisor *= divisor;
  if (part.modulus) part.modulus = part.modulus % divisor ? -1 : part.modulus / divisor;
  r.overflows |= !a.is_part() || part.modulus < 0;
  return r;
}
/// The remainder; never negative.
constexpr affine operator%(affine const& a, int divisor) {
  affine r;
  r.overflows = a.overflows;
  r.bad_divisor = divisor > 0 ? a.bad_divisor : divisor < 0 ? divisor : 0;
  if (divisor <= 0) return r;
  r.part_count = 1;
  if (a.part_count == 0) {
    r.parts[0] = {a.plain, 1, divisor, 1};
    return r;
  }
  // ((x / d) % m) % e = (x / d) % e if e divides m
  r.parts[0] = a.parts[0];
  r.overflows |= !a.is_part() || a.parts[0].modulus % divisor != 0;
  r.parts[0].modulus = divisor;
  return r;
}

}  // namespace ago::expression
