// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random index expressions as trees, with their meaning by recursion over maps of index tuples. Shares no code with
// ago/expression, and is written in another way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace expression_test {

using point = std::map<int, long>;  ///< the value of each axis

/// An index: an axis, a number, or an operation.
struct index_tree {
  enum class what { axis, number, plus, times, over, modulo } kind{};
  long number{};  ///< or the axis, or the second operand
  std::vector<index_tree> of{};

  long at(point const& p) const {
    switch (kind) {
      case what::axis: return p.at(int(number));
      case what::number: return number;
      case what::plus: return of[0].at(p) + of[1].at(p);
      case what::times: return of[0].at(p) * number;
      case what::over: return long(std::floor(double(of[0].at(p)) / double(number)));
      default: break;
    }
    long const x = of[0].at(p);
    return x - number * long(std::floor(double(x) / double(number)));
  }
  void collect(std::set<int>& axes) const {
    if (kind == what::axis) axes.insert(int(number));
    for (index_tree const& x : of) x.collect(axes);
  }
  bool has_quotient() const {
    bool r = (kind == what::over && number != 1) || kind == what::modulo;
    for (index_tree const& x : of) r |= x.has_quotient();
    return r;
  }
  /// The axis that it is, however it is written; -1: it is something else.
  int plain_axis() const {
    std::set<int> axes;
    collect(axes);
    if (has_quotient()) return -1;
    point zeros;
    for (int const x : axes) zeros[x] = 0;
    int found = -1;
    for (int const x : axes) {
      point one = zeros;
      one[x] = 1;
      long const step = at(one) - at(zeros);
      if (step != 0 && (step != 1 || found >= 0)) return -1;
      if (step == 1) found = x;
    }
    return at(zeros) == 0 ? found : -1;
  }
};
inline index_tree operator+(index_tree a, index_tree b) {
  return {index_tree::what::plus, 0, {std::move(a), std::move(b)}};
}
inline index_tree operator*(long n, index_tree a) { return {index_tree::what::times, n, {std::move(a)}}; }
inline index_tree operator/(index_tree a, long n) { return {index_tree::what::over, n, {std::move(a)}}; }
inline index_tree operator%(index_tree a, long n) { return {index_tree::what::modulo, n, {std::move(a)}}; }

struct tree;
/// A read of an operand; `by_value[d]` replaces the index of dimension d if it is not null.
struct read_tree {
  int operand{};
  bool padded{};
  double pad{};
  std::vector<index_tree> at{};
  std::vector<std::shared_ptr<tree>> by_value{};
};

/// A number for each point.
struct tree {
  enum class what {
    read,
    number,
    position,
    plus,
    minus,
    times,
    over_one_plus_size,
    larger,
    smaller,
    where_less,
    where_index_less,  ///< of[0] < of[1] ? of[2] : of[3]; index[0] < index[1] ? of[0] : of[1]
    minus_sign,
    size,
    below,
    bounded_exp,
    tangent,
    logistic,
    root_of_size,
    sum,
    product,
    largest,
    smallest,
  } kind{};
  std::vector<std::shared_ptr<tree>> of{};
  std::vector<index_tree> index{};
  read_tree read{};
  double number{};
  std::vector<int> axes{};  ///< of a fold
};
using node_ptr = std::shared_ptr<tree>;

/// A value, and the magnitude of what was added up and cancelled on the way, for the tolerance of comparisons.
struct sized {
  double value{}, size{};
};

/// An operand by the indices of its elements.
using elements = std::map<std::vector<long>, double>;

struct random_expression {
  static constexpr int operands = 4;  ///< the last is a parameter whose extents are inferred
  int rank{}, axes{};
  std::vector<long> extent{};
  std::vector<bool> is_given{};  ///< the extent of an axis; others follow from an index
  std::vector<long> extents_of[operands]{};
  node_ptr root{};
  elements data[operands]{};

  /// The elements of operands in the order of memory; those of operands that are not read, 0.
  std::vector<std::vector<double>> flat() const {
    std::vector<std::vector<double>> r;
    for (elements const& of : data) {
      r.emplace_back();
      for (auto const& [key, x] : of) r.back().push_back(x);
      if (r.back().empty()) r.back().push_back(0);
    }
    return r;
  }

  sized at(tree const& t, point const& p) const {
    using what = tree::what;
    if (t.kind == what::number) return {t.number, std::abs(t.number)};
    if (t.kind == what::position) return {double(t.index[0].at(p)), double(std::abs(t.index[0].at(p)))};
    if (t.kind == what::read) {
      std::vector<long> key;
      for (std::size_t d = 0; d < t.read.at.size(); ++d) {
        if (!t.read.by_value[d]) {
          key.push_back(t.read.at[d].at(p));
          continue;
        }
        long const i = long(std::floor(at(*t.read.by_value[d], p).value));
        key.push_back(t.read.padded ? i : std::clamp(i, 0l, extents_of[t.read.operand][d] - 1));
      }
      auto const found = data[t.read.operand].find(key);
      if (found != data[t.read.operand].end()) return {found->second, std::abs(found->second)};
      if (!t.read.padded) throw std::logic_error("outside of an operand");
      return {t.read.pad, std::abs(t.read.pad)};
    }
    if (t.kind >= what::sum) return folded(t, p);
    if (t.kind == what::where_index_less) return at(*t.of[t.index[0].at(p) < t.index[1].at(p) ? 0 : 1], p);
    sized const a = at(*t.of[0], p), b = t.of.size() > 1 ? at(*t.of[1], p) : sized{};
    switch (t.kind) {
      case what::plus: return {a.value + b.value, a.size + b.size};
      case what::minus: return {a.value - b.value, a.size + b.size};
      case what::times: return {a.value * b.value, a.size * b.size};
      case what::over_one_plus_size: return {a.value / (1 + std::abs(b.value)), a.size * (1 + b.size)};
      case what::larger: return {std::max(a.value, b.value), a.size + b.size};
      case what::smaller: return {std::min(a.value, b.value), a.size + b.size};
      case what::where_less: return at(*t.of[a.value < b.value ? 2 : 3], p);
      case what::minus_sign: return {-a.value, a.size};
      case what::size: return {std::abs(a.value), a.size};
      case what::below: return {std::floor(a.value), a.size + 1};
      case what::bounded_exp: return {std::exp(std::min(a.value, 2.)), 8 * (1 + a.size)};
      case what::tangent: return {std::tanh(a.value), 1 + a.size};
      case what::logistic: return {1 / (1 + std::exp(-a.value)), 1 + a.size};
      default: return {std::sqrt(1 + std::abs(a.value)), 1 + a.size};
    }
  }
  sized folded(tree const& t, point const& p) const {
    using what = tree::what;
    std::vector<sized> all;
    std::vector<point> points{p};
    for (int const x : t.axes) {
      std::vector<point> more;
      for (point const& q : points)
        for (long i = 0; i < extent[std::size_t(x)]; ++i) (more.push_back(q), more.back()[x] = i);
      points = std::move(more);
    }
    for (point const& q : points) all.push_back(at(*t.of[0], q));
    sized r = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      sized const x = all[i];
      r.value = t.kind == what::sum       ? r.value + x.value
                : t.kind == what::product ? r.value * x.value
                : t.kind == what::largest ? std::max(r.value, x.value)
                                          : std::min(r.value, x.value);
      r.size = t.kind == what::product ? r.size * x.size : r.size + x.size;
    }
    return r;
  }
  /// The elements of the result, in the order of their indices.
  std::vector<sized> result() const {
    std::vector<point> points{{}};
    for (int x = 0; x < rank; ++x) {
      std::vector<point> more;
      for (point const& q : points)
        for (long i = 0; i < extent[std::size_t(x)]; ++i) (more.push_back(q), more.back()[x] = i);
      points = std::move(more);
    }
    std::vector<sized> r;
    for (point const& q : points) r.push_back(at(*root, q));
    return r;
  }
  /// Calls f(point) for each point of some axes.
  template <class F>
  void for_each_point(std::set<int> const& of, F const& f) const {
    std::vector<point> points{{}};
    for (int const x : of) {
      std::vector<point> more;
      for (point const& q : points)
        for (long i = 0; i < extent[std::size_t(x)]; ++i) (more.push_back(q), more.back()[x] = i);
      points = std::move(more);
    }
    for (point const& q : points) f(q);
  }
};

}  // namespace expression_test
