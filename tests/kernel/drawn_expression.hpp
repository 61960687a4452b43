// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index expressions drawn in constant evaluation, so that kernels can be compiled for them.
#pragma once

#include <ago/expression/notation.hpp>

namespace drawn {

using namespace ago::expression;

class dice {
 public:
  constexpr explicit dice(unsigned seed) : state_(seed * 2654435761u + 12345u) {}
  /// 0 ... n - 1
  constexpr int below(int n) {
    state_ = state_ * 1664525u + 1013904223u;
    return int((state_ >> 8) % unsigned(n));
  }
  constexpr bool chance(int percent) { return below(100) < percent; }
  constexpr int one_of(auto const&... x) {
    int const all[] = {x...};
    return all[below(int(sizeof...(x)))];
  }

 private:
  unsigned state_;
};

inline constexpr int most_axes = 6;

/// (factor * axis + other_factor * other + constant) / over % modulo; over and modulo 0: not applied.
struct index {
  int axis{-1}, factor{1}, other{-1}, other_factor{}, constant{}, over{}, modulo{};

  constexpr long at(int x, int y) const {
    long r = long(factor) * x + long(other_factor) * y + constant;
    if (over) r = floor_quotient(r, over);
    return modulo ? floor_remainder(r, modulo) : r;
  }
  constexpr range over_axes(int const* extent) const {
    range r{at(0, 0), at(0, 0)};
    for (int x = 0; x < (axis < 0 ? 1 : extent[axis]); ++x)
      for (int y = 0; y < (other < 0 ? 1 : extent[other]); ++y) {
        long const i = at(x, y);
        if (i < r.lower) r.lower = i;
        if (i > r.upper) r.upper = i;
      }
    return r;
  }
  constexpr affine written(var* v) const {
    affine r = axis < 0 ? affine(constant) : factor * affine(v[axis]) + constant;
    if (other >= 0) r = r + other_factor * affine(v[other]);
    if (over) r = r / over;
    return modulo ? r % modulo : r;
  }
};

/// An element of an operand.
struct element {
  int rank{};
  index at[4]{};
  bool is_padded{};

  constexpr void add(index const& i) {
    if (rank < 4) at[rank++] = i;
  }
  /// The extents of the operand, which the indices exceed if it is padded. Shifts indices that are negative.
  constexpr extents fit(int const* extent) {
    extents r;
    r.rank = rank;
    for (int d = 0; d < rank; ++d) {
      range const x = at[d].over_axes(extent);
      if (is_padded) {
        r.of[d] = x.upper >= 2 ? int(x.upper) : int(x.upper) + 1;
        if (r.of[d] < 1) r.of[d] = 1;
        continue;
      }
      if (x.lower < 0) at[d].constant -= int(x.lower) * (at[d].over ? at[d].over : 1);
      r.of[d] = int(at[d].over_axes(extent).upper) + 1;
    }
    return r;
  }
  constexpr scalar read(operand o, var* v) const {
    subscript s[max_rank];
    for (int d = 0; d < rank; ++d) s[d] = subscript(at[d].written(v));
    return (is_padded ? padded(o, .5f) : o)(s[0], s[1], s[2], s[3], s[4], s[5]);
  }
};

struct choice {
  int rank{}, axes{};
  int extent[most_axes]{};
  element of[3]{};
  node_kind fold{node_kind::sum};
  int body{};

  constexpr definition written() {
    extents const sizes[] = {of[0].fit(extent), of[1].fit(extent), of[2].fit(extent)};
    auto const make = compute("drawn", [this](operand a, operand b, operand c) {
      var v[most_axes]{var(extent[0]), var(extent[1]), var(extent[2]), var(extent[3]), var(extent[4]), var(extent[5])};
      scalar const x = of[0].read(a, v), y = of[1].read(b, v), z = of[2].read(c, v);
      scalar value = x;
      switch (body) {
        case 0: value = x * y; break;
        case 1: value = x + .5 * y; break;
        case 2: value = select(x < y, x, -z); break;
        case 3: value = exp(minimum(x, 1)) * y + a.position(of[2].at[0].written(v)); break;
        case 4: value = x * y * z; break;
        case 5: value = b(y) + abs(x); break;  // b has one axis: an index that is a value
        case 6: value = select(affine(v[0]) < affine(v[1]), x, y / (2 + abs(z))); break;
        case 7: value = maximum(x, sigmoid(y)); break;
        default: value = x;
      }
      if (axes > rank) {
        ago::expression::fold f{fold};
        for (int i = rank; i < axes; ++i) f.over[f.count++] = &v[i];
        value = f(value);
        if (body == 1) value = x_of_result(a, v) - value;
      }
      result_index at[max_rank];
      for (int i = 0; i < rank; ++i) at[i] = v[i];
      return result(at[0], at[1], at[2], at[3], at[4], at[5]) = value;
    });
    return make(sizes[0], sizes[1], sizes[2]);
  }
  /// An element of operand a that no fold runs over.
  constexpr scalar x_of_result(operand a, var* v) const {
    element first = of[0];
    for (int d = 0; d < first.rank; ++d)
      if (first.at[d].axis >= rank || first.at[d].other >= rank) first.at[d] = index{};
    first.is_padded = of[0].is_padded;
    return first.read(a, v);
  }
};

/// An expression of any kind.
constexpr definition any_nest(unsigned seed) {
  dice d(seed);
  choice c;
  c.rank = 1 + d.below(4);
  c.axes = c.rank + d.below(3);
  for (int i = 0; i < most_axes; ++i) c.extent[i] = 1;
  for (int i = 0, last = c.rank - 1; i < c.axes; ++i)
    c.extent[i] = i == last ? d.one_of(3, 4, 7, 16, 21, 37, 70) : i < last ? 1 + d.below(4) : d.one_of(2, 3, 5, 19);
  c.body = d.below(9);
  c.fold = d.chance(50) ? node_kind::sum : d.chance(50) ? node_kind::maximum_of : node_kind::minimum_of;
  for (element& e : c.of) {
    e.is_padded = d.chance(25);
    for (int i = 0; i < c.axes; ++i) {
      bool const needed = i >= c.rank && &e == c.of;
      if (e.rank == 4 || (!needed && d.chance(30))) continue;
      index at{.axis = i};
      if (d.chance(20)) at = {i, 1 + d.below(2), d.below(c.axes), 1 + d.below(2), d.below(3) - 1};
      else if (d.chance(15)) at.over = 2 + d.below(2);
      else if (d.chance(15)) at.modulo = 2 + d.below(2);
      else if (d.chance(10)) at = {i, -1, -1, 0, 0};
      e.add(at);
    }
    if (e.rank == 0) e.add({.axis = 0});
    if (c.body == 5 && &e == &c.of[1]) e.rank = 1;
    if (d.chance(30) && e.rank > 1) {  // transposed
      index const first = e.at[0];
      e.at[0] = e.at[e.rank - 1];
      e.at[e.rank - 1] = first;
    }
  }
  return c.written();
}

/// A sum of products.
constexpr definition any_product(unsigned seed) {
  dice d(seed);
  choice c;
  c.rank = 2 + d.below(3);
  c.axes = c.rank + 1 + d.below(2);
  for (int i = 0; i < most_axes; ++i) c.extent[i] = 1;
  for (int i = 0; i < c.axes; ++i) c.extent[i] = d.one_of(1, 2, 3, 5, 8, 17);
  c.extent[d.below(c.axes)] = d.one_of(16, 35, 70);
  for (int i = 0; i < c.axes; ++i) {
    bool const fold = i >= c.rank;
    int const where = fold ? 2 : d.chance(10) ? 2 : d.below(2);  // in one factor, or both
    for (int k = 0; k < 2; ++k)
      if (where == 2 || where == k) c.of[k].add({.axis = i});
  }
  for (int k = 0; k < 2; ++k) {
    element& e = c.of[k];
    if (e.rank == 0) e.add({});
    e.is_padded = d.chance(30);
    if (d.chance(40)) {  // a window: an index of the result and a folded one in one dimension
      int const folded = c.rank + d.below(c.axes - c.rank);
      for (int i = 0; i < e.rank; ++i)
        if (e.at[i].axis >= 0 && e.at[i].axis < c.rank) {
          e.at[i].factor = 1 + d.below(2);
          e.at[i].other = folded;
          e.at[i].other_factor = 1;
          e.at[i].constant = e.is_padded ? -1 : 0;
          break;
        }
    }
    for (int i = e.rank; i-- > 1;) {  // any order
      int const j = d.below(i + 1);
      index const x = e.at[i];
      e.at[i] = e.at[j];
      e.at[j] = x;
    }
  }
  c.of[2].add({});
  return c.written();
}

}  // namespace drawn
