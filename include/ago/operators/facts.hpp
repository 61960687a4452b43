// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about an operator that follow from its description. Those that the graph and the policies use stand in
// tables and formulas, since evaluating 60 descriptions would cost each file with a network a second; tests/operators
// holds them against these when it is compiled.
#pragma once

#include <ago/expression/bounds.hpp>
#include <ago/operators/description.hpp>

namespace ago::described {

using expression::definition;
using expression::element_access;
using expression::index_expression;
using expression::reading;

/// Does expression e read an operand that is an input (or a parameter) of the operator?
constexpr bool reads_role(definition const& d, int e, expression::value_role role) {
  for (int k = 0; k < d.expressions[e].operand_count; ++k)
    if (d.values[d.reads[e][k]].role == role) return true;
  return false;
}
constexpr bool has_window(index_expression const& e) {
  for (int a = 0; a < e.body.access_count; ++a)
    if (e.body.accesses[a].operand >= 0 && reading_of(e, a) == reading::window) return true;
  return false;
}

/// Does a kernel take many instructions for a function of this kind?
constexpr bool is_lengthy(node_kind k) {
  switch (k) {
    case node_kind::power:
    case node_kind::exp:
    case node_kind::expm1:
    case node_kind::log:
    case node_kind::log1p:
    case node_kind::erf:
    case node_kind::tanh:
    case node_kind::sigmoid:
    case node_kind::sin:
    case node_kind::cos: return true;
    default: return false;
  }
}
constexpr bool is_lengthy(index_expression const& e) {
  for (int n = 0; n < e.body.node_count; ++n)
    if (is_lengthy(e.body.nodes[n].kind)) return true;
  return false;
}
/// Can the operands of the outermost operation be exchanged?
constexpr bool commutes(index_expression const& e) {
  node_kind const k = e.at_root().kind;
  return k == node_kind::add || k == node_kind::multiply || k == node_kind::maximum || k == node_kind::minimum;
}

constexpr op_class class_of_copy(definition const& d) {
  index_expression const& e = d.expressions[0];
  int const a = e.at_root().operand[0];
  if (e.body.accesses[a].padded) return op_class::pad;
  switch (reading_of(e, a)) {
    case reading::dependent: return op_class::embedding;
    case reading::broadcast: return op_class::expand;
    case reading::elementwise:
      return reads_role(d, 0, expression::value_role::input) ? op_class::identity : op_class::constant;
    default: return reads_once(e, a) ? op_class::movement : op_class::resize;
  }
}

/// The class of an operator. Some are those of another one by name: global_pool of reduction, layout of movement, and
/// contraction of value_product or, with weights, of convolution and matrix_product; arg_max is a reduction.
constexpr op_class class_of(expression::definition const& d) {
  expression::index_expression const& e = d.expressions[0];
  bool const trained = described::reads_role(d, 0, expression::value_role::parameter);
  if (d.expression_count > 1) return op_class::norm;
  if (is_complex(e)) {
    if (!trained) return op_class::value_product;
    return described::has_window(e) ? op_class::convolution : op_class::matrix_product;
  }
  if (is_elementwise(e)) {
    bool const is_lengthy = described::is_lengthy(e);
    if (d.input_count == 1 && trained) return op_class::parametric;
    if (d.input_count == 1) return is_lengthy ? op_class::function : op_class::arithmetic;
    return is_lengthy ? op_class::power : described::commutes(e) ? op_class::commutative : op_class::ordered;
  }
  if (expression::has_fold(e)) return described::has_window(e) ? op_class::window_pool : op_class::reduction;
  if (copies(e)) return described::class_of_copy(d);
  return d.input_count > 1 ? op_class::concat : op_class::resize;
}

/// Bytes of the parameters that the sums of products of an operator read.
constexpr long weight_bytes(expression::definition const& d) {
  expression::index_expression const& e = d.expressions[0];
  long r = 0;
  for (int k = 0; k < e.operand_count && is_complex(e); ++k)
    if (d.values[d.reads[0][k]].role == expression::value_role::parameter) r += 4 * elements_read(e, k);
  return r;
}

}  // namespace ago::described
