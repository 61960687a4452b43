// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions (expression/) in a network: `capsule_convolution(32, 9, 2)(x)`.
#pragma once

#include <ago/expression/matrix_form.hpp>
#include <ago/expression/notation.hpp>
#include <ago/operators/slice.hpp>
#include <ago/recognition/recognition.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace ago {

namespace recognition {

/// Is it a product of so few rows, `depth` steps of K each, and a matrix that packing the matrix takes longer than
/// reading it where it is? (On Zen 4, pointwise layers of 7x7 pixels and 160 to 1280 channels take half of the time,
/// those of 14x14 and 64 to 576 channels 0.9; with 392 rows some take longer, and with 32 rows and 64x32 weights.)
constexpr bool is_product_of_few_rows(ir::node const& n, int depth) {
  constexpr long few = 64, few_of_layer = 256, small = 1 << 12;
  if (n.kind == op::matmul) return n.out.n * n.out.h == 1 && n.out.w <= (n.transposed ? 1 : few);
  long const rows = n.out.pixels();
  return ir::is_matrix_product(n.kind) && (rows == 1 || (rows <= few_of_layer && long(n.out.c) * depth >= small));
}

/// The value whose elements x has: expressions do not ask for its four axes.
constexpr tensor before_views(tensor x) {
  while (x.recorder && x.recorder->nodes[x.index].kind == op::reshape)
    x.index = x.recorder->edges[x.recorder->nodes[x.index].input_first];
  return x;
}

/// Records an operator by index expressions: as nodes of other operators where these compute an expression, as a
/// contraction or a nest where none do.
class operation_recording {
 public:
  /// `name`: a string literal, because nodes point to it.
  constexpr operation_recording(expression::definition const& d, char const* name, int line, operand_list inputs)
      : name_(name), r_(op::nest, line, inputs), first_(inputs.first[0]) {
    for (int v = 0; v < d.input_count; ++v) values_[v] = before_views(inputs.first[v]);
    record(d);
  }
  /// Continues the layer that recorded `under`. Input v is the network's parameter at parameters[v], as which it stands
  /// in `d`, unless that is -1. Parameters change with every run, so products do not have them packed by plain loops
  /// before, but pack them as values.
  constexpr operation_recording(expression::definition const& d, char const* name, tensor under, operand_list inputs,
                                int const* parameters)
      : name_(name), r_(under), first_(under), parameters_change_(true) {
    for (int v = 0; v < d.input_count; ++v) {
      offsets_[v] = parameters[v];
      if (parameters[v] < 0) values_[v] = before_views(inputs.first[v]);
    }
    record(d);
  }

  constexpr tensor result(int i) {
    if (is_refused_) return first_;
    tensor r = in_axes(values_[d_.results[i]], shape_of(d_.result(i)));
    r.axes = d_.result(i);
    return r;
  }

 private:
  constexpr void record(expression::definition const& d) {
    if (d.bad.what == expression::fault::none) d_ = normalised(d);
    expression::diagnostic const& bad = d.bad.what != expression::fault::none ? d.bad : d_.bad;
    is_refused_ = bad.what != expression::fault::none;
    if (is_refused_) {
      r_.complain(d.name, bad);
      return;
    }
    for (int v = d_.input_count; v < d_.value_count; ++v)
      if (is_parameter(v)) offsets_[v] = r_.place(op::nest, role::weight, d_.values[v].extents);
    for (int i = 0; i < d_.expression_count; ++i) values_[d_.makes[i]] = append(i);
  }
  constexpr tensor in_axes(tensor x, shape const& four) { return r_.reshaped(x, four); }
  constexpr bool is_parameter(int v) const { return d_.values[v].role == expression::value_role::parameter; }
  /// Value v of the operator; a parameter is a constant.
  constexpr tensor value_of(int v) {
    if (values_[v].recorder == nullptr) {
      ir::node n{.kind = op::constant, .out = shape_of(d_.values[v].extents)};
      n.weight = offsets_[v];
      values_[v] = r_.append(n, tensor{first_.recorder, 0});
    }
    return values_[v];
  }

  constexpr tensor append(int i) {
    if (d_.values[d_.makes[i]].is_detached) {
      ir::node n{.kind = op::identity, .out = shape_of(d_.expressions[i].result)};
      n.is_detached = true;
      return r_.append(n, in_axes(value_of(d_.reads[i][0]), n.out));
    }
    recognised_nodes const found = recognise(d_.expressions[i], parameters_of(d_, i));
    recognised_node const& first = found.nodes[0];
    bool const has_few_rows = found.count > 0 && is_product_of_few_rows(first.made, first.operands[0].as.c);
    bool const is_worse = parameters_change_ && (is_scattered(found) || has_few_rows);
    return found && has_parameters(found, d_.reads[i]) && !is_worse ? append(found, d_.reads[i]) : append_described(i);
  }
  /// Do the nodes write more elements than the result has: those of a sum of two computed values, of one that is
  /// repeated, of a part of a part? If there are enough of them, one nest takes a fraction of the time.
  static constexpr bool is_scattered(recognised_nodes const& found) {
    bool branches = false, repeats = false;
    int parts = 0;
    for (int k = 0; k < found.count; ++k) {
      recognised_node const& x = found.nodes[k];
      branches |= x.operand_count == 2 && x.operands[0].is_node && x.operands[1].is_node;
      repeats |= x.made.kind == op::expand;
      parts += x.made.kind == op::slice;
      if (!ir::is_elementwise(x.made.kind) && x.made.kind != op::expand && x.made.kind != op::slice) return false;
    }
    return (branches || repeats || parts > 1) && found.nodes[found.count - 1].made.out.count() >= few_elements;
  }
  static constexpr int few_elements = 1 << 12;

  /// Are the parameters of a batch norm side by side?
  constexpr bool has_parameters(recognised_nodes const& found, std::int16_t const* reads) const {
    bool r = true;
    for (int k = 0; k < found.count; ++k) {
      recognised_node const& n = found.nodes[k];
      for (int j = 1; j < 4 && n.norm[0] >= 0; ++j)
        r = r && offsets_[reads[n.norm[j]]] == offsets_[reads[n.norm[0]]] + j * n.made.out.c;
    }
    return r;
  }
  constexpr tensor append(recognised_nodes const& found, std::int16_t const* reads) {
    tensor made[recognised_nodes::capacity]{};
    for (int k = 0; k < found.count; ++k) {
      recognised_node const& from = found.nodes[k];
      ir::node n = from.made;
      if (from.weight >= 0) n.weight = offsets_[reads[from.weight]];
      if (from.shift >= 0) n.shift = offsets_[reads[from.shift]];
      if (from.norm[0] >= 0) n.norm = offsets_[reads[from.norm[0]]];
      tensor operands[2]{};
      int const count = from.operand_count > 0 ? from.operand_count : 1;
      for (int j = 0; j < count; ++j) {
        recognised_operand const& x = from.operands[j];
        if (x.number < 0) operands[j] = first_;  // every operator has an operand; this one does not read it
        else operands[j] = in_axes(x.is_node ? made[x.number] : value_of(reads[x.number]), x.as);
      }
      made[k] = r_.append(n, {operands, count});
    }
    return made[found.count - 1];
  }

  /// Is expression i a matrix product of a value and another one or a parameter? A nest takes a fraction of the time
  /// for dot products and, as it packs nothing, for products of a vector and a matrix that is not packed ahead.
  constexpr bool is_product(int i) const {
    expression::index_expression const& e = d_.expressions[i];
    if (e.at_root().kind != expression::node_kind::sum) return false;
    expression::matrix_form const m = expression::matrix_form_of(e);
    if (m.why_not != expression::no_matrix::none || (m.m.extent() == 1 && m.n.extent() == 1)) return false;
    if (is_parameter(d_.reads[i][m.a.operand]) && is_parameter(d_.reads[i][m.b.operand])) return false;
    return !parameters_change_ || m.batch.extent() > 1 || (m.m.extent() > 1 && m.n.extent() > 1);
  }
  /// Records expression i as it is.
  constexpr tensor append_described(int i) {
    expression::index_expression const& e = d_.expressions[i];
    std::int16_t const* reads = d_.reads[i];
    ir::node n{.kind = is_product(i) ? op::contraction : op::nest, .out = shape_of(e.result)};
    n.described = r_.list(e);
    n.function_name = name_;
    if (n.kind == op::contraction)
      for (int k = 0; k < e.operand_count && !parameters_change_; ++k)
        if (is_parameter(reads[k])) n.weight_operand = k;
    if (n.weight_operand >= 0) n.weight = offsets_[reads[n.weight_operand]];
    tensor operands[expression::index_expression::max_operands]{};
    int count = 0;
    for (int k = 0; k < e.operand_count; ++k)
      if (k != n.weight_operand) operands[count++] = value_of(reads[k]);
    if (count == 0) operands[count++] = first_;  // likewise
    return r_.append(n, {operands, count});
  }

  expression::definition d_{};
  char const* name_;
  recording r_;
  tensor first_;
  bool is_refused_ = false, parameters_change_ = false;
  tensor values_[expression::definition::max_values]{};
  int offsets_[expression::definition::max_values]{};
};

template <class T>
inline constexpr int results_in = 1;
template <int N>
inline constexpr int results_in<expression::result_list<N>> = N;

}  // namespace recognition

namespace expression {
/// An operator by index expressions, applied to values of a network: a tensor, or a tensor_list if it has several
/// results. Operands have the extents tensor::extents(). Its parameters come in the order in which they are named.
template <class F, std::same_as<tensor>... T>
constexpr auto apply_operation(operation<F> const& o, T const&... x) {
  using made = decltype(o.applied(std::declval<recorder&>(), ((void)x, operand{})...));
  constexpr int results = recognition::results_in<made>;
  definition const d = o(x.extents()...);
  tensor const inputs[] = {x...};
  recognition::operation_recording recorded(d, o.name, o.line, inputs);
  if constexpr (std::is_same_v<made, operand>) {
    return recorded.result(0);
  } else {
    tensor_list<results> r;
    for (int i = 0; i < results; ++i) r.values[i] = recorded.result(i);
    return r;
  }
}
}  // namespace expression

/// The same elements in the same order, with up to six other extents, outermost first, as operators by expression see
/// them: `x | view(1, 6, 6, 32, 8)`. Layers see the last three as rows, columns and channels, and the product of those
/// before as images.
struct view {
  static constexpr int none = -2147483647 - 1;  ///< 0 and other numbers are mistakes, to be reported

  expression::extents to;
  int line;

  constexpr explicit view(int a, int b = none, int c = none, int d = none, int e = none, int f = none,
                          int at = __builtin_LINE())
      : line(at) {
    int const all[] = {a, b, c, d, e, f};
    for (int const x : all)
      if (x != none) to.of[to.rank++] = x;
  }

  constexpr tensor operator()(tensor x) const {
    tracing::recording r(op::reshape, line, x);
    expression::extents e = to;
    for (int d = 0; d < e.rank; ++d) e.of[d] = r.positive(e.of[d]);
    if (e.count() != x.dims().count()) {
      r.complain(ir::fault::elements_differ, x.dims().count(), e.count());
      return x;
    }
    x = r.reshaped(x, recognition::shape_of(e));
    x.axes = e;
    return x;
  }
};

}  // namespace ago
