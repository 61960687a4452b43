// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The index expressions that a network computes while it is trained, in order: what gradients are derived from.
#pragma once

#include <ago/expression/gradient.hpp>
#include <ago/graph/operations.hpp>

namespace ago::detail {

/// What an expression reads: a value of the network, or parameters.
struct bound_operand {
  tensor value{};
  int parameters{-1};  ///< their offset; -1: it is a value
  bool flows{};        ///< whether a gradient flows through it
};

/// One expression: the nodes that it reads and the one that is its result.
struct tape_entry {
  static constexpr int capacity = expression::index_expression::max_operands;

  expression::index_expression of{};
  int node[capacity]{}, parameters[capacity]{};  ///< of each operand; parameters[k] -1: a value
  bool flows[capacity]{};
  int result{};
  int norm{-1};  ///< it stands for a batch norm, whose gradient is not derived
};

/// Records expressions in a network, and keeps them.
class tape {
 public:
  growing<tape_entry> entries;

  /// Records what computes `e`, as part of the layer that recorded `under`.
  constexpr tensor append(expression::index_expression const& e, bound_operand const* operands, char const* name,
                          tensor under) {
    expression::definition d;
    for (int k = 0; k < e.operand_count; ++k) d.values[k] = {.extents = e.operands[k]};
    d.name = name;
    d.value_count = d.input_count = e.operand_count;
    for (int k = 0; k < e.operand_count; ++k) d.reads[0][k] = std::int16_t(k);
    d.expressions[0] = e;
    d.expression_count = 1;
    d.values[d.value_count] = {.role = expression::value_role::computed, .extents = e.result, .made_by = 0};
    d.makes[0] = std::int16_t(d.value_count);
    d.results[d.result_count++] = d.value_count++;
    tensor const made = record(d, operands, name, under);
    keep(e, operands, made);
    return made;
  }
  /// Keeps an expression whose result has been recorded already.
  constexpr void keep(expression::index_expression const& e, bound_operand const* operands, tensor made) {
    tape_entry t{.of = e, .result = made.index};
    for (int k = 0; k < e.operand_count; ++k) {
      t.node[k] = operands[k].value.index;
      t.parameters[k] = operands[k].parameters;
      t.flows[k] = operands[k].flows;
    }
    entries.push(t);
  }

  /// Records an operator with one result. Inputs that are parameters become such in `d`.
  static constexpr tensor record(expression::definition d, bound_operand const* inputs, char const* name,
                                 tensor under) {
    tensor values[expression::definition::max_values]{};
    int parameters[expression::definition::max_values]{};
    for (int v = 0; v < d.input_count; ++v) {
      values[v] = inputs[v].value;
      parameters[v] = inputs[v].parameters;
      if (parameters[v] >= 0) d.values[v].role = expression::value_role::parameter;
    }
    return operation_recording(d, name, under, {values, d.input_count}, parameters).result(0);
  }
};

}  // namespace ago::detail
