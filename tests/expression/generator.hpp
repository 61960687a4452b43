// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws random index expressions, and writes them in the notation.
#pragma once

#include <ago/expression/notation.hpp>

#include <utility>

#include "random_expression.hpp"

namespace expression_test {

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}

  /// Any expression.
  random_expression draw() {
    begin(any(0, chance(20) ? 6 : 3), any(0, 3), 5);
    std::vector<int> axes;
    for (int x = 0; x < e_.rank; ++x) axes.push_back(x);
    e_.root = number(chance(30) ? 2 : 3, axes, true);
    return finished();
  }

  /// The sum of the product of two elements, the second of operand `second`. `quotients`: in some indices.
  random_expression draw_product(bool quotients, bool pads, int second = 1) {
    int const rank = any(1, 4), reduced = any(1, 3);
    begin(rank, reduced, rank + reduced <= 3 ? 12 : 4);
    quotients_ = quotients;
    pads_ = pads;
    std::vector<int> all;
    for (int x = 0; x < e_.axes; ++x) all.push_back(x);
    auto const factor = [&](int operand) {
      std::vector<int> some;
      for (int const x : all)
        if (chance(65)) some.push_back(x);
      return read(operand, some, false);
    };
    node_ptr product = make(tree::what::times, {factor(0), factor(1)});
    node_ptr sum = make(tree::what::sum, {product});
    for (int x = e_.rank; x < e_.axes; ++x) sum->axes.push_back(x);
    e_.root = sum;
    for (auto const& extents : e_.extents_of) {
      long count = 1;
      for (long const extent : extents) count *= extent;
      if (count > 2000) return draw_product(quotients, pads, second);
    }
    return finished();
  }

 private:
  using what = tree::what;

  int any(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool chance(int percent) { return any(1, 100) <= percent; }
  double eighths() { return any(-16, 16) / 8.; }

  void begin(int rank, int reduced, int largest) {
    e_ = random_expression();
    unused_.clear();
    reads_.clear();
    left_ = 6;
    e_.rank = rank;
    e_.axes = rank + reduced;
    for (int x = 0; x < e_.axes; ++x) e_.extent.push_back(any(1, rank > 3 ? 3 : largest));
    for (int x = e_.rank; x < e_.axes; ++x) unused_.push_back(x);
    is_plain_.assign(std::size_t(e_.axes), false);
  }

  node_ptr make(what k, std::vector<node_ptr> of) {
    auto r = std::make_shared<tree>();
    r->kind = k;
    r->of = std::move(of);
    return r;
  }

  static index_tree axis(int x) { return {index_tree::what::axis, x, {}}; }
  static index_tree constant(long n) { return {index_tree::what::number, n, {}}; }

  /// An index of axes.
  index_tree index(std::vector<int> const& axes) {
    if (axes.empty() || chance(5)) return constant(any(0, 2));
    auto const some = [&] { return axes[std::size_t(any(0, int(axes.size()) - 1))]; };
    auto const linear = [&] {
      index_tree r = any(1, 3) * axis(some());
      if (chance(60)) r = std::move(r) + any(1, 3) * axis(some());
      return chance(40) ? std::move(r) + constant(any(0, 2)) : r;
    };
    switch (any(0, quotients_ ? 12 : 5)) {
      case 0:
      case 1:
      case 2: return axis(some());
      case 3: return linear();
      case 4: return constant(any(0, 5)) + any(-3, -1) * axis(some());
      case 5: return any(1, 3) * axis(some()) + any(-2, 2) * axis(some());
      case 6: return axis(some()) / any(1, 4);
      case 7: return axis(some()) % any(1, 4);
      case 8: return (linear() + constant(any(-4, 0))) / any(2, 5);
      case 9: return any(1, 3) * ((linear() + constant(any(-4, 0))) % any(2, 5)) + axis(some()) / 2;
      case 10: {
        int const part = any(1, 3);
        return chance(50) ? axis(some()) % (part * any(1, 3)) / part : axis(some()) % (part * any(1, 3)) % part;
      }
      case 11: {  // the same quotient twice
        int const x = some(), part = any(2, 3);
        return axis(x) / part + any(1, 2) * (axis(x) / part);
      }
      default: return linear() / 2 / any(1, 3) + any(1, 2) * (axis(some()) % 2);
    }
  }

  node_ptr read(int operand, std::vector<int> const& axes, bool may_depend) {
    if (left_-- <= 0) return constant_number();
    node_ptr r = make(what::read, {});
    read_tree& t = r->read;
    t.operand = operand;
    auto& extents = e_.extents_of[operand];
    bool const first = extents.empty();
    int const rank = first ? any(1, chance(20) ? 6 : 3) : int(extents.size());
    bool const inferred = operand == random_expression::operands - 1;
    t.padded = pads_ && !inferred && chance(30);
    t.pad = eighths();
    for (int d = 0; d < rank; ++d) {
      t.by_value.emplace_back();
      index_tree i = index(axes);
      if (may_depend && !inferred && chance(4)) {
        t.by_value.back() = read((operand + 1) % 3, axes, false);
        i = constant(0);
      }
      std::set<int> used;
      i.collect(used);
      long low = 1000, high = -1000;
      e_.for_each_point(used, [&](point const& p) {
        low = std::min(low, i.at(p));
        high = std::max(high, i.at(p));
      });
      if (!t.padded && low < 0) {
        i = std::move(i) + constant(-low);
        high -= low;
      } else if (t.padded && chance(60)) {
        i = std::move(i) + constant(-any(0, 2));
      }
      long const wanted = t.padded ? any(1, 4) : high + 1 + (inferred ? 0 : chance(20));
      if (first) extents.push_back(wanted);
      else if (!t.padded) extents[std::size_t(d)] = std::max(extents[std::size_t(d)], wanted);
      t.at.push_back(std::move(i));
    }
    reads_.push_back(r);
    return r;
  }

  node_ptr constant_number() {
    node_ptr r = make(what::number, {});
    r->number = eighths();
    return r;
  }

  /// A number from `axes`. `inexact`: it may round, so nothing that jumps may be computed from it.
  node_ptr number(int depth, std::vector<int> const& axes, bool inexact) {
    if (!unused_.empty() && chance(depth > 2 ? 70 : 30)) return fold(depth, axes, inexact);
    if (depth == 0 || chance(10)) {
      if (chance(12)) return constant_number();
      if (chance(12) && !axes.empty()) {
        node_ptr r = make(what::position, {});
        r->index.push_back(index(axes));
        return r;
      }
      return read(any(0, random_expression::operands - 1), axes, true);
    }
    auto const one = [&] { return number(depth - 1, axes, inexact); };
    auto const exact = [&] { return number(depth - 1, axes, false); };
    switch (any(0, inexact ? 15 : 10)) {
      case 0:
      case 1: return make(what::plus, {one(), one()});
      case 2: return make(what::minus, {one(), one()});
      case 3:
      case 4: return make(what::times, {one(), one()});
      case 5: return make(what::larger, {one(), one()});
      case 6: return make(what::smaller, {one(), one()});
      case 7: {
        node_ptr const a = exact(), b = exact();
        return make(what::where_less, {a, b, one(), one()});
      }
      case 8: {
        node_ptr r = make(what::where_index_less, {one(), one()});
        r->index = {index(axes), index(axes)};
        return r;
      }
      case 9: return make(chance(50) ? what::minus_sign : what::size, {one()});
      case 10: return make(what::below, {exact()});
      case 11: return make(what::over_one_plus_size, {one(), one()});
      case 12: return make(what::bounded_exp, {one()});
      case 13: return make(what::tangent, {one()});
      case 14: return make(what::logistic, {one()});
      default: return make(what::root_of_size, {one()});
    }
  }

  node_ptr fold(int depth, std::vector<int> const& axes, bool inexact) {
    std::vector<int> inside = axes, over;
    do {
      over.push_back(unused_.back());
      inside.push_back(unused_.back());
      unused_.pop_back();
    } while (!unused_.empty() && chance(60));
    std::shuffle(inside.begin(), inside.end(), random_);
    what const kinds[] = {what::sum, what::sum, what::sum, what::product, what::largest, what::smallest};
    node_ptr r = make(kinds[any(0, 5)], {number(std::max(depth - 1, 0), inside, inexact)});
    r->axes = over;
    return r;
  }

  /// Extents that follow from an index are not given: those of axes that index whole dimensions alone, no larger ones.
  random_expression finished() {
    for (bool const whole : {true, false})
      for (node_ptr const& r : reads_)
        for (std::size_t d = 0; d < r->read.at.size(); ++d) {
          int const x = r->read.by_value[d] ? -1 : r->read.at[d].plain_axis(), operand = r->read.operand;
          if (x < 0 || (e_.extents_of[operand][d] == e_.extent[std::size_t(x)]) != whole) continue;
          if (!whole) is_plain_[std::size_t(x)] = false;
          else if (operand != random_expression::operands - 1) is_plain_[std::size_t(x)] = chance(80);
        }
    for (int x = 0; x < e_.axes; ++x) e_.is_given.push_back(!is_plain_[std::size_t(x)]);
    for (int k = 0; k < random_expression::operands; ++k) {
      std::vector<std::vector<long>> keys{{}};
      for (long const extent : e_.extents_of[k]) {
        std::vector<std::vector<long>> more;
        for (auto const& key : keys)
          for (long i = 0; i < extent; ++i) (more.push_back(key), more.back().push_back(i));
        keys = std::move(more);
      }
      for (auto const& key : keys) e_.data[k][key] = eighths();
    }
    return std::exchange(e_, random_expression());
  }

  std::mt19937 random_;
  random_expression e_{};
  std::vector<int> unused_{};
  std::vector<node_ptr> reads_{};
  std::vector<bool> is_plain_{};
  int left_{};
  bool quotients_{true}, pads_{true};
};

/// Writes an expression in the notation.
class writer {
 public:
  explicit writer(random_expression const& e) : e_(e) {
    using ago::expression::var;
    for (std::size_t x = 0; x < std::size_t(e.axes); ++x)
      variables_.push_back(e.is_given[x] ? std::make_unique<var>(int(e.extent[x])) : std::make_unique<var>());
  }

  /// The operator, which takes operands of extents_of(0), (1) and (2) and refers to this.
  auto operation() const {
    using namespace ago::expression;
    return compute("random", [this](operand a, operand b, operand c, weights parameter) {
      operand const all[] = {a, b, c, parameter("inferred")};
      result_index at[max_rank];
      for (int x = 0; x < e_.rank; ++x) at[x] = variable(x);
      scalar const x = number(*e_.root, all);
      return result(at[0], at[1], at[2], at[3], at[4], at[5]) = x.in ? x : a.number(x.number);
    });
  }
  ago::expression::definition written() const { return operation()(extents_of(0), extents_of(1), extents_of(2)); }

  ago::expression::extents extents_of(int k) const {
    ago::expression::extents r;
    for (long const extent : e_.extents_of[k]) r.of[r.rank++] = int(extent);
    return r.rank ? r : ago::expression::extents(1);
  }

 private:
  ago::expression::var& variable(int x) const { return *variables_[std::size_t(x)]; }

  ago::expression::affine index(index_tree const& t) const {
    using what = index_tree::what;
    switch (t.kind) {
      case what::axis: return variable(int(t.number));
      case what::number: return int(t.number);
      case what::plus: return index(t.of[0]) + index(t.of[1]);
      case what::times: return int(t.number) * index(t.of[0]);
      case what::over: return index(t.of[0]) / int(t.number);
      default: return index(t.of[0]) % int(t.number);
    }
  }

  ago::expression::scalar read(read_tree const& r, ago::expression::operand const* operands) const {
    using namespace ago::expression;
    subscript at[max_rank];
    for (std::size_t d = 0; d < r.at.size(); ++d)
      if (r.by_value[d]) at[d] = subscript(recorded(number(*r.by_value[d], operands), operands));
      else at[d] = subscript(index(r.at[d]));
    operand const from = r.padded ? padded(operands[r.operand], float(r.pad)) : operands[r.operand];
    return from(at[0], at[1], at[2], at[3], at[4], at[5]);
  }

  static ago::expression::scalar recorded(ago::expression::scalar const& x, ago::expression::operand const* operands) {
    return x.in ? x : operands[0].number(x.number);
  }

  ago::expression::scalar number(tree const& t, ago::expression::operand const* operands) const {
    using namespace ago::expression;
    using what = tree::what;
    if (t.kind == what::number) return t.number;
    if (t.kind == what::position) return operands[0].position(index(t.index[0]));
    if (t.kind == what::read) return read(t.read, operands);
    std::vector<scalar> x;
    for (node_ptr const& n : t.of) { x.push_back(recorded(number(*n, operands), operands)); }
    if (t.kind >= what::sum) {
      node_kind const kinds[] = {node_kind::sum, node_kind::product, node_kind::maximum_of, node_kind::minimum_of};
      fold f{kinds[int(t.kind) - int(what::sum)]};
      for (int const a : t.axes) f.over[f.count++] = &variable(a);
      return f(x[0]);
    }
    switch (t.kind) {
      case what::plus: return x[0] + x[1];
      case what::minus: return x[0] - x[1];
      case what::times: return x[0] * x[1];
      case what::over_one_plus_size: return x[0] / (1 + abs(x[1]));
      case what::larger: return maximum(x[0], x[1]);
      case what::smaller: return minimum(x[0], x[1]);
      case what::where_less: return select(x[0] < x[1], x[2], x[3]);
      case what::where_index_less: return select(index(t.index[0]) < index(t.index[1]), x[0], x[1]);
      case what::minus_sign: return -x[0];
      case what::size: return abs(x[0]);
      case what::below: return floor(x[0]);
      case what::bounded_exp: return exp(minimum(x[0], 2));
      case what::tangent: return tanh(x[0]);
      case what::logistic: return sigmoid(x[0]);
      default: return sqrt(1 + abs(x[0]));
    }
  }

  random_expression const& e_;
  std::vector<std::unique_ptr<ago::expression::var>> variables_;
};

}  // namespace expression_test
