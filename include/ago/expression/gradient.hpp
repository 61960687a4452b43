// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of an index expression, as an operator by index expressions (NeoFlow, section 4.2, Eq. 2 and 3).
//
// For an element read at indices z = f(x, r), the gradient of operand k at z is the sum, over all x and r with
// f(x, r) = z, of the gradient of the result at x times the derivative of the body (derivative.hpp); index_inverse.hpp
// solves for x and r.
#pragma once

#include <ago/expression/access_gradient.hpp>
#include <ago/expression/window_products.hpp>

#include <cstdint>

namespace ago::expression {

namespace detail {

/// Gradients from the result of an expression back to one of its operands.
struct gradient_writer {
  definition_writer out;
  int wanted;  ///< the value whose gradient it is
  long step_price;

  static constexpr int most = 8;
  bool depends[definition::max_values]{};  ///< on the wanted value
  std::int16_t parts[definition::max_values][most]{};
  int part_count[definition::max_values]{};

  constexpr void differentiate(index_expression const& e, int result, int flow) {
    std::int16_t reads[index_expression::max_operands]{};
    for (int k = 0; k < e.operand_count; ++k) reads[k] = std::int16_t(k);
    depends[wanted] = true;
    int const first = out.to.expression_count;
    index_expression last;
    bool const is_split = split(e, reads, last);
    // Elements are compared with a maximum or minimum that is computed from the same numbers, not from rounded ones.
    bool const is_computed = is_split && plain_fold(last).chooses();
    int const forward = out.to.expression_count, same = is_computed ? out.emit(last, reads) : result;
    if (out.to.bad.what != fault::none) return;
    add_parts({is_split ? last : e, reads, same}, flow);
    for (int i = forward; i-- > first && out.to.bad.what == fault::none;) {
      int const v = out.to.makes[i], gradient = depends[v] ? total(v) : -1;
      if (gradient >= 0) add_parts({out.to.expressions[i], out.to.reads[i], v}, gradient);
    }
  }
  /// The sum of the parts of a value's gradient; -1: it has none.
  constexpr int total(int v) {
    if (part_count[v] < 2) return part_count[v] == 0 ? -1 : parts[v][0];
    draft made;
    arithmetic_writer const write{made.into};
    extents const& of = out.to.values[v].extents;
    made.e.axis_count = std::int16_t(of.rank);
    int sum = -1;
    for (int i = 0; i < part_count[v]; ++i) {
      element_access a{.operand = std::int16_t(made.into.add_operand(made.reads, parts[v][i], of)),
                       .rank = std::int16_t(of.rank)};
      for (int d = 0; d < of.rank; ++d) {
        made.e.extent[d] = of.of[d];
        term const t{std::int16_t(d), 1};
        a.at[d].sum = made.into.add(&t, 1, 0);
      }
      int const x = made.into.add(node{node_kind::read, {std::int16_t(made.into.add(a)), -1, -1}});
      sum = sum < 0 ? x : write.add(sum, x);
    }
    return made.emit(out, sum, of.rank);
  }

 private:
  /// Makes every fold but that of the root an expression of its own, and what a maximum or minimum chooses from; `last`
  /// is what remains. False: there are none.
  constexpr bool split(index_expression const& e, std::int16_t* reads, index_expression& last) {
    plain_fold const main(e);
    stand_in instead[excerpt::nodes]{};
    free_axes const free(e);
    node_uses const uses(e.body);
    bool found = false;
    for (int n = 0; n < e.root(); ++n) {
      bool const is_part = is_fold(e.body.nodes[n].kind) && n != main.fold_node;
      found |= is_part;
      if (is_part ? is_merged(e, uses, n) : !is_chosen_from(e, n)) continue;
      found = true;
      if (__builtin_popcount(free.of[n]) > max_rank) return out.complain(max_rank), false;
      index_expression made;
      std::int16_t made_reads[index_expression::max_operands]{};
      excerpt part{e, reads, instead, made, made_reads};
      part.take(n, free.of[n]);
      if (part.into.exceeded) return out.complain(part.into.exceeded), false;
      instead[n] = {true, emit(made, made_reads), free.of[n]};
    }
    if (!found) return false;
    std::int16_t last_reads[index_expression::max_operands]{};
    excerpt rest{e, reads, instead, last, last_reads};
    rest.take(e.root(), e.result_axes());
    if (rest.into.exceeded) out.complain(rest.into.exceeded);
    for (int k = 0; k < last.operand_count; ++k) reads[k] = last_reads[k];
    return true;
  }
  constexpr int emit(index_expression const& e, std::int16_t const* reads) {
    int const v = out.emit(e, reads);
    for (int k = 0; k < e.operand_count; ++k) depends[v] |= depends[reads[k]];
    return v;
  }
  /// Is fold n a part of the only fold that reads it?
  static constexpr bool is_merged(index_expression const& e, node_uses<decltype(e.body)> const& uses, int n) {
    int const reader = uses.only_reader(n);
    return reader >= 0 && e.body.nodes[reader].kind == e.body.nodes[n].kind;
  }
  /// Is it, and not just an element of an operand, what a maximum or minimum is taken of?
  static constexpr bool is_chosen_from(index_expression const& e, int n) {
    if (e.body.nodes[n].kind == node_kind::read) return false;
    for (int i = n + 1; i < e.body.node_count; ++i) {
      node const& x = e.body.nodes[i];
      if ((x.kind == node_kind::maximum_of || x.kind == node_kind::minimum_of) && x.operand[0] == n) return true;
    }
    return false;
  }
  constexpr void add_parts(computed_value const& y, int flow) {
    for (int a = 0; a < y.e.body.access_count && out.to.bad.what == fault::none; ++a) {
      int const operand = y.e.body.accesses[a].operand, v = operand < 0 ? 0 : y.reads[operand];
      if (operand < 0 || !depends[v]) continue;
      window_products in_two{out, y, flow, a, step_price};
      int const part = in_two.pays() ? in_two.emit() : access_gradient{out, y, flow, a}.emit();
      if (part >= 0 && out.has_room(part_count[v], most)) parts[v][part_count[v]++] = std::int16_t(part);
    }
  }
};

/// Removes the expressions that the results do not need.
constexpr void remove_unused(definition& d) {
  bool used[definition::max_values]{};
  for (int i = 0; i < d.result_count; ++i) used[d.results[i]] = true;
  bool all = true;
  for (int i = d.expression_count; i-- > 0;) {
    for (int k = 0; used[d.makes[i]] && k < d.expressions[i].operand_count; ++k) used[d.reads[i][k]] = true;
    all = all && used[d.makes[i]];
  }
  if (all) return;
  std::int16_t moved_to[definition::max_values]{};
  int values = 0, expressions = 0;
  for (int v = 0; v < d.value_count; ++v) {
    if (d.values[v].role == value_role::computed && !used[v]) continue;
    moved_to[v] = std::int16_t(values);
    if (values++ < v) d.values[values - 1] = d.values[v];
  }
  for (int i = 0; i < d.expression_count; ++i) {
    if (!used[d.makes[i]]) continue;
    int const to = expressions++;
    if (to < i) d.expressions[to] = d.expressions[i];
    for (int k = 0; k < index_expression::max_operands; ++k)
      d.reads[to][k] = k < d.expressions[to].operand_count ? moved_to[d.reads[i][k]] : std::int16_t(0);
    d.makes[to] = moved_to[d.makes[i]];
    d.values[d.makes[to]].made_by = to;
  }
  for (int i = 0; i < d.result_count; ++i) d.results[i] = moved_to[d.results[i]];
  while (d.value_count > values) d.values[--d.value_count] = {};
  while (d.expression_count > expressions) {
    --d.expression_count;
    d.expressions[d.expression_count] = {};
    d.makes[d.expression_count] = 0;
    for (std::int16_t& v : d.reads[d.expression_count]) v = 0;
  }
}

}  // namespace detail

/// The gradient of expression `e` with respect to its operand k, as an operator: its inputs are the operands of e in
/// order, then e's result, then the gradient of the result; its only result is the gradient of operand k, in its
/// extents. Of equal elements of a fold, the first one is its maximum or minimum. `bad`: no_gradient, if the result
/// depends on the operand only through indices and functions that are constant in steps; too_large.
///
/// `step_price`: how many multiply-adds take as long as another step; two may do with fewer (window_products.hpp).
constexpr definition gradient_of(index_expression const& e, int k, long step_price = 1 << 15) {
  definition d;
  d.name = "gradient";
  for (int i = 0; i < e.operand_count; ++i) d.values[d.value_count++].extents = e.operands[i];
  int const result = d.value_count, flow = result + 1;
  d.values[d.value_count++].extents = e.result;
  d.values[d.value_count++].extents = e.result;
  d.input_count = d.value_count;
  detail::gradient_writer writer{{d}, k, step_price};
  writer.differentiate(e, result, flow);
  int const made = d.bad.what == fault::none ? writer.total(k) : -1;
  if (made < 0 && d.bad.what == fault::none) d.bad = {.what = fault::no_gradient, .operand = k};
  if (d.bad.what != fault::none) return d;
  d.results[d.result_count++] = made;
  detail::remove_unused(d);
  return d;
}

}  // namespace ago::expression
