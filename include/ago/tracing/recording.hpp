// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recording of a layer: checks its arguments, places its parameters, appends its nodes.
#pragma once

#include <ago/tracing/tensor.hpp>

namespace ago::tracing {

/// The operands of a layer; a view, only for function arguments.
struct operand_list {
  tensor const* first{};
  int count{};
  constexpr operand_list() = default;
  constexpr operand_list(tensor const& x) : first(&x), count(1) {}
  template <int N>
  constexpr operand_list(tensor const (&list)[N]) : first(list), count(N) {}
  constexpr operand_list(tensor const* data, int size) : first(data), count(size) {}
};

/// One layer while it is recorded. The first fault of a network is kept. An invalid argument is replaced by a valid
/// one, so that tracing completes without undefined behaviour and the user sees the fault.
class recording {
 public:
  /// Begins the layer `where`, written on source line `line`, which reads `operands`.
  constexpr recording(op where, int line, operand_list operands) : where_(where), line_(line) {
    for (int i = operands.count; i-- > 0;)
      if (operands.first[i].recorder) recorder_ = operands.first[i].recorder;
    if (recorder_) layer_ = recorder_->layers++;
    for (int i = 0; i < operands.count; ++i) admit(operands.first[i]);
  }
  /// Continues the layer that recorded `x`.
  constexpr explicit recording(tensor x) : recorder_(x.recorder) {
    ir::node const& made = recorder_->nodes[x.index];
    where_ = made.kind;
    line_ = made.line;
    layer_ = made.layer;
  }
  /// Begins a layer without operands: an input.
  constexpr recording(op where, int line, recorder& to)
      : recorder_(&to), where_(where), line_(line), layer_(to.layers++) {}

  /// Reports a fault with its two numbers (0, 0: none).
  constexpr void complain(ir::fault what, long expected, long actual) { complain(what, expected, actual, line_); }
  constexpr void complain(ir::fault what, long expected, long actual, int line) {
    if (recorder_) recorder_->complain({what, where_, layer_, line, clamp(expected), clamp(actual)});
  }

  /// Reports what is wrong with an operator by expression.
  constexpr void complain(expression::name const& operation, expression::diagnostic const& why) {
    if (!recorder_) return;
    ir::diagnostic d{ir::fault::expression_does_not_fit, where_, layer_, line_};
    d.operation = operation;
    d.described = why;
    recorder_->complain(d);
  }
  /// The object that stands for an expression in the last trace of a network; null before.
  constexpr expression::index_expression const* list(expression::index_expression const& e) {
    return recorder_ ? recorder_->expressions.find_or_add(e) : nullptr;
  }

  /// `value`, or 1 where it is not positive.
  constexpr int positive(int value) {
    if (value > 0) return value;
    complain(ir::fault::argument_must_be_positive, 1, value);
    return 1;
  }
  /// `value`, or 0 where it is negative.
  constexpr int not_negative(int value) {
    if (value >= 0) return value;
    complain(ir::fault::argument_must_not_be_negative, 0, value);
    return 0;
  }
  /// `value` as an int, or 1 where it is too large.
  constexpr int fitting(long value) {
    if (value <= int_limit) return int(value);
    complain(ir::fault::too_many_elements, int_limit, value);
    return 1;
  }

  /// Places a parameter after those declared before it, and returns its offset. Extents are given outermost first.
  template <class... Extents>
  constexpr int place(op kind, role what, Extents... extents) {
    return place(kind, what, expression::extents(extents...));
  }
  constexpr int place(op kind, role what, expression::extents const& e) {
    parameter p{.kind = kind, .role = what, .rank = e.rank, .layer = layer_, .line = line_};
    long count = 1;
    for (int i = 0; i < e.rank; ++i) count = limited_product(count, p.dims[i] = e.of[i]);
    if (!recorder_) return 0;
    long const offset = recorder_->floats;
    if (fitting(offset + count) != offset + count) return 0;
    recorder_->floats += count;
    p.offset = int(offset);
    p.name = recorder_->names.current();
    recorder_->parameters.push(p);
    return p.offset;
  }

  /// Appends `n`, which reads `operands`; fills in layer, line, name and edges.
  constexpr tensor append(ir::node n, operand_list operands = {}) {
    if (!recorder_) return {};
    n.input_first = recorder_->edges.size;
    n.input_count = operands.count;
    n.layer = layer_;
    n.line = line_;
    n.name = recorder_->names.current();
    long const elements = limited_count(n.out);
    if (fitting(elements) != elements) n.out = {};
    for (int i = 0; i < operands.count; ++i) {
      tensor const x = operands.first[i];
      recorder_->edges.push(x.recorder == recorder_ ? x.index : 0);
    }
    recorder_->nodes.push(n);
    tensor r{recorder_, recorder_->nodes.size - 1};
    if (ir::is_elementwise(n.kind) || n.kind == op::identity) r.axes = common_axes(n.out, operands);
    return r;
  }
  /// x with other extents. The elements stay the same.
  constexpr tensor reshaped(tensor x, shape const& to) {
    return x.dims() == to ? x : append({.kind = op::reshape, .out = to}, x);
  }

 private:
  /// The axes of the operands that have the shape of the result, if they agree.
  static constexpr expression::extents common_axes(shape const& out, operand_list operands) {
    tensor const* found = nullptr;
    for (int i = 0; i < operands.count; ++i) {
      tensor const& x = operands.first[i];
      if (x.dims() != out) continue;
      if (found && !(found->axes == x.axes)) return {};
      found = &x;
    }
    return found ? found->axes : expression::extents{};
  }
  constexpr void admit(tensor x) {
    if (x.recorder != recorder_) complain(ir::fault::tensor_of_another_network, 0, 0);
    else if (recorder_ && recorder_->nodes[x.index].kind == op::to_nchw)
      complain(ir::fault::channel_first_value_cannot_be_used, 0, 0);
    else if (x.axes.rank > 4 && !takes_more_axes(where_)) complain(ir::fault::takes_four_axes, 4, x.axes.rank);
  }
  /// Is the number of axes irrelevant?
  static constexpr bool takes_more_axes(op kind) {
    return ir::is_elementwise(kind) || kind == op::identity || kind == op::nest || kind == op::reshape;
  }
  static constexpr int clamp(long value) {
    return int(value > int_limit ? int_limit : value < -int_limit ? -int_limit : value);
  }

  tracing::recorder* recorder_{};
  op where_{};
  int line_{}, layer_{};
};

/// Records an operator whose result has its operand's shape; `n` has the rest.
constexpr tensor record_elementwise(tensor x, int line, ir::node n) {
  n.out = x.dims();
  return recording(n.kind, line, x).append(n, x);
}

}  // namespace ago::tracing
