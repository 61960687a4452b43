// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The notation of operators: `result(i, j) = sum(k)(a(i, k) * b(k, j))` in a function of operands.
#pragma once

#include <ago/expression/inference.hpp>
#include <ago/expression/scalar.hpp>

#include <type_traits>
#include <utility>

namespace ago::expression {

/// The variables of a fold; applied to what is folded.
struct fold {
  node_kind kind{};
  var* over[max_axes]{};
  int count{};

  constexpr scalar operator()(scalar const& x) const {
    if (x.in == nullptr) return scalar::lost();
    node n{kind, {std::int16_t(x.node), -1, -1}};
    for (int i = 0; i < count; ++i) n.bits |= 1u << x.in->number_of(over[i], 0);
    return {x.in, x.in->push(n)};
  }
};

namespace detail {
template <class... V>
concept variables = sizeof...(V) > 0 && sizeof...(V) <= max_axes && (std::is_same_v<V, var> && ...);
}  // namespace detail

/// The fold over all values of some variables: `sum(c, r, s)(x(c, p + r, q + s) * weight(c, r, s))`.
template <class... V>
  requires detail::variables<V...>
constexpr fold sum(V&... over) {
  return {node_kind::sum, {&over...}, int(sizeof...(V))};
}
template <class... V>
  requires detail::variables<V...>
constexpr fold product(V&... over) {
  return {node_kind::product, {&over...}, int(sizeof...(V))};
}
template <class... V>
  requires detail::variables<V...>
constexpr fold maximum(V&... over) {
  return {node_kind::maximum_of, {&over...}, int(sizeof...(V))};
}
template <class... V>
  requires detail::variables<V...>
constexpr fold minimum(V&... over) {
  return {node_kind::minimum_of, {&over...}, int(sizeof...(V))};
}

/// A variable in the list of a result, and where it is written.
struct result_index {
  var* of{};
  int line{};
  constexpr result_index() = default;
  constexpr result_index(var& v, int at = __builtin_LINE()) : of(&v), line(at) {}
};

/// `result(i, j) = x` defines a value of the operator by its elements. It can be read by expressions after it, or be
/// returned.
class result {
 public:
  constexpr explicit result(result_index a = {}, result_index b = {}, result_index c = {}, result_index d = {},
                            result_index e = {}, result_index f = {}) {
    result_index const all[] = {a, b, c, d, e, f};
    line_ = a.line;
    for (; rank_ < max_rank && all[rank_].of; ++rank_) at_[rank_] = all[rank_].of;
  }

  constexpr operand operator=(scalar const& x) const {
    if (x.in == nullptr) return {};
    recorder& r = *x.in;
    definition& made = r.made;
    if (!r.has_room(made.expression_count, definition::max_expressions, line_)) return {};
    int const number = made.expression_count;
    index_expression& e = made.expressions[number];
    detail::transfer t(r, e, made.reads[number], line_);
    t.copy_all(at_, rank_, x.node);
    detail::inference extents(e, made.values, made.reads[number], t.line_of, line_);
    if (made.bad.what == fault::none) extents.run();
    if (extents.bad.what != fault::none) r.complain(extents.bad);
    int const v = r.add({.role = value_role::computed, .extents = e.result, .made_by = number}, line_);
    made.makes[number] = std::int16_t(v);
    ++made.expression_count;
    return {&r, v};
  }

 private:
  var* at_[max_rank]{};
  int rank_{}, line_{};
};

/// The same value, but through it no gradient flows (PyTorch's detach): a copy, which passes of the graph remove. The
/// extents of `x` must be known.
constexpr operand detached(operand const& x, int line = __builtin_LINE()) {
  if (x.in() == nullptr) return x;
  if (x.rank() == 0) x.in()->complain({.what = fault::extent_unknown, .operand = x.value(), .line = line});
  var i[max_rank];
  subscript from[max_rank];
  result_index to[max_rank];
  for (int d = 0; d < x.rank(); ++d) {
    from[d] = subscript(i[d], line);
    to[d] = result_index(i[d], line);
  }
  operand const copy = result(to[0], to[1], to[2], to[3], to[4], to[5]) =
      x(from[0], from[1], from[2], from[3], from[4], from[5]);
  if (copy.in()) copy.in()->made.values[copy.value()].is_detached = true;
  return copy;
}

/// Several results of an operator: `return results(h, c)`.
template <int N>
struct result_list {
  operand all[N]{};
};
template <class... O>
  requires(sizeof...(O) <= definition::max_results && (std::is_same_v<O, operand> && ...))
constexpr result_list<int(sizeof...(O))> results(O... all) {
  return {{all...}};
}

/// Makes parameters of an operator.
class weights {
 public:
  constexpr explicit weights(recorder& in) : in_(&in) {}

  /// Its extents follow from its indices.
  constexpr operand operator()(char const* name) const {
    return {in_, in_->add({.role = value_role::parameter, .name = name, .is_inferred = true}, 0)};
  }
  /// With extents of its own.
  template <class... I>
  constexpr operand operator()(char const* name, int first, I... more) const {
    extents const e(first, more...);
    for (int d = 0; d < e.rank; ++d)
      if (e.of[d] <= 0)
        in_->complain({.what = fault::extent_must_be_positive, .dimension = d, .expected = 1, .actual = e.of[d]});
    return {in_, in_->add({.role = value_role::parameter, .extents = e, .name = name}, 0)};
  }

 private:
  recorder* in_;
};

/// The number of index values for which a window stays within `extent` with its pads: `var p{windows(h, 3, 2, 1, 2)}`.
constexpr int windows(int extent, int kernel, int stride = 1, int dilation = 1, int pads = 0) {
  int const left = extent + pads - (kernel - 1) * dilation - 1;
  return left < 0 ? 0 : left / stride + 1;
}

/// An operator: a name, and a function of operands (and of `weights`, last) that returns an operand, or several as
/// `results(...)`. For operands of given extents it is a `definition`.
template <class F>
struct operation {
  char const* name;  ///< a string literal
  F body;
  int line{};  ///< where it is made

  template <class... E>
    requires(std::is_same_v<E, extents> && ...)
  constexpr definition operator()(E const&... inputs) const {
    recorder r;
    r.made.name = name;
    // Braces, because they evaluate from left to right.
    operand const x[] = {operand(&r, r.add({.extents = inputs}, 0))..., operand()};
    r.made.input_count = int(sizeof...(E));
    auto const made = [&]<int... I>(std::integer_sequence<int, I...>) {
      return applied(r, x[I]...);
    }(std::make_integer_sequence<int, int(sizeof...(E))>());
    if constexpr (std::is_same_v<std::remove_const_t<decltype(made)>, operand>) add_result(r, made);
    else
      for (operand const& x : made.all) add_result(r, x);
    return r.made;
  }
  /// What the function returns for operands of `r`, and for its parameters if it takes them.
  template <class... O>
  constexpr auto applied(recorder& r, O... inputs) const {
    if constexpr (std::is_invocable_v<F const&, O..., weights>) return body(inputs..., weights(r));
    else return body(inputs...);
  }
  /// Applied to values of a network: what `apply_operation` (recognition/operation.hpp) returns.
  template <class... X>
    requires(sizeof...(X) > 0 && !(std::is_same_v<X, extents> || ...))
  constexpr auto operator()(X const&... inputs) const {
    return apply_operation(*this, inputs...);
  }

 private:
  static constexpr void add_result(recorder& r, operand const& x) {
    if (x.in() != &r || r.made.values[x.value()].role != value_role::computed) r.complain({.what = fault::no_result});
    r.made.results[r.made.result_count++] = x.value();
  }
};

template <class F>
constexpr operation<F> compute(char const* name, F const& body, int line = __builtin_LINE()) {
  return {name, body, line};
}

}  // namespace ago::expression
