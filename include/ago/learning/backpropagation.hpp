// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of a training step: the network's operators, its loss, and the gradients of its parameters in reverse order
// (NeoFlow, section 4.2). What they are has been found before (recipes.hpp).
#pragma once

#include <ago/learning/recipes.hpp>
#include <ago/learning/slice_gradients.hpp>
#include <ago/operators/binary.hpp>

namespace ago::learning {

/// What an expression reads: a value of the network, or parameters.
struct bound_operand {
  tensor value{};
  int parameters{-1};  ///< their offset; -1: it is a value
  bool flows{};        ///< whether a gradient flows through it
};

/// One expression that has been recorded, or a batch norm: its operands and its result.
struct tape_entry {
  static constexpr int capacity = expression::index_expression::max_operands;

  recipe const* of{};
  ago::ir::node const* at{};  ///< the operator
  int expression{};
  int operand_count{};
  int value[capacity]{}, parameters[capacity]{};  ///< of each operand; parameters[k] -1: a value
  bool flows[capacity]{};
  int result{};
  int norm{-1};  ///< it stands for this batch norm
};

/// Of each node, shared_products and shared_fragments; null: each product has its own.
struct product_sharing {
  int const *first{}, *count{};
  fragment const *of_matrix{}, *by_turned{};
};

/// Records a training step of the network whose graph is `g`; `recipes`: of each node.
template <class Graph, int N>
class backpropagation {
 public:
  constexpr backpropagation(gradient_flow<Graph, N> const& flow, recipe const* const* recipes, tracing::recorder& to,
                            product_sharing const& shared = {})
      : flow_(flow), g_(flow.g), recipes_(recipes), to_(to), shared_(shared) {
    if (to_.parameters.size == 0)
      for (parameter const& p : flow.table) to_.parameters.push(p);
    to_.floats = g_.parameters;
    to_.complain(g_.bad);
  }

  /// Records the network; returns its results. `masks`: those of its dropouts, in order.
  constexpr void forward(tensor const* inputs, tensor const* masks) {
    for (int v = 0; v < g_.input_count; ++v) made_.push(inputs[v]);
    for (int v = g_.input_count; v < g_.node_count; ++v) {
      node const& n = g_.nodes[v];
      to_.layers = n.layer + 1 > to_.layers ? n.layer + 1 : to_.layers;
      if (tracing::is_dropout(n)) made_.push(dropped(v, *masks++));
      else if (flow_.takes_statistics(n)) made_.push(normalised(v));
      else if (flow_.gates.is_gate[v]) made_.push(gated(v));
      else made_.push(replayed(v));
    }
  }
  constexpr tensor output(int i) const { return made_[g_.outputs[i]]; }

  /// Records an operator on values, the first of which has a gradient.
  constexpr tensor loss(recipe const& of, tensor y, tensor target) {
    bound_operand const inputs[] = {{y, -1, flows(y)}, {target}};
    return record(of, *of.of, inputs, y);
  }

  /// Records the gradients of the parameters, where that of `result` is `seed`.
  constexpr void backward(tensor result, tensor seed) {
    gradients_.reserve(to_.nodes.size);
    for (int v = 0; v < to_.nodes.size; ++v) gradients_.push({});
    for (int i = 0; i < N; ++i) of_rows_.push({});
    for (int i = 0; i < statistics_.size; ++i) of_rows_[flow_.row_at(statistics_[i].offset)] = statistics_[i].value;
    gradients_[result.index] = seed;
    for (int t = tape_.size; t-- > 0;) {
      tape_entry const e = tape_[t];
      complete(e.result);
      if (!gradients_[e.result].recorder) continue;
      if (e.norm >= 0) append_gradients(norms_[e.norm], gradients_[e.result]);
      for (int k = 0; k < e.operand_count; ++k)
        if (e.flows[k]) append_gradient(t, k);
    }
    for (int i = 0; i < opaque_.size; ++i) {
      tensor const x{&to_, opaque_[i]};
      if (slices_.has(x.index) || gradients_[x.index].recorder)
        tracing::recording(x).complain(fault::has_no_gradient, 0, 0);
    }
  }
  /// The gradient of a trained parameter, or the value of the batch for a statistic.
  constexpr tensor gradient_of_row(int i) {
    if (of_rows_[i].recorder) return of_rows_[i];
    tracing::recording(made_[0]).complain(fault::no_gradient_reaches, 0, i);
    return made_[0];
  }

 private:
  /// A batch norm by the statistics of the batch: its operand, and values of each channel.
  struct norm_step {
    recipe const* of{};
    node const* at{};
    tensor x{}, mean{}, variance{}, factor{}, summand{};
    bool is_gated{};  ///< its gradients have that of the activation after it in them
  };

  /// A matrix that several products have, and those whose gradients of it are put off.
  struct shared_matrix {
    int first{};  ///< of the products
    int value{};
    int newest{-1}, count{};  ///< of what is put off, in products_
  };
  struct shared_product {
    int entry{}, older{};  ///< its number on the tape; what was put off before; -1: nothing
  };

  struct turned_matrix {
    int matrix{};
    tensor by_columns{};
  };

  constexpr bool flows(tensor x) const { return x.index < flows_.size && flows_[x.index]; }
  constexpr void set_flow(tensor x, bool flow) {
    while (flows_.size <= x.index) flows_.push(false);
    flows_[x.index] = flow;
  }

  /// Records the expressions of an operator, whose inputs and parameters are given.
  constexpr tensor record(recipe const& of, node const& at, bound_operand const* given, tensor under) {
    expression::definition const& d = of.as->as;
    bound_operand all[expression::definition::max_values]{};
    for (int v = 0, next = 0; v < d.value_count; ++v)
      if (d.values[v].role != expression::value_role::computed) all[v] = given[next++];
    for (int i = 0; i < d.expression_count; ++i) {
      bound_operand operands[tape_entry::capacity]{};
      tensor values[tape_entry::capacity]{};
      int count = 0;
      bool flow = false;
      for (int k = 0; k < d.expressions[i].operand_count; ++k) {
        operands[k] = all[d.reads[i][k]];
        flow = flow || operands[k].flows;
        if (operands[k].parameters < 0) values[count++] = operands[k].value;
      }
      if (count == 0) values[0] = under;  // it reads none
      flow = flow && !d.values[d.makes[i]].is_detached;
      tensor const x = paste(of.forward[i], values, {of.of, &at}, under);
      keep(of, at, i, operands, x);
      set_flow(x, flow);
      all[d.makes[i]] = {x, -1, flow};
    }
    return all[d.results[0]].value;
  }
  constexpr void keep(recipe const& of, node const& at, int i, bound_operand const* operands, tensor made) {
    tape_entry t{.of = &of, .at = &at, .expression = i, .result = made.index};
    t.operand_count = of.as->as.expressions[i].operand_count;
    for (int k = 0; k < t.operand_count; ++k) {
      t.value[k] = operands[k].value.index;
      t.parameters[k] = operands[k].parameters;
      t.flows[k] = operands[k].flows;
    }
    tape_.push(t);
  }

  constexpr tensor dropped(int v, tensor mask) {
    tensor const x = made_[g_.operand(v)];
    if (!recipes_[v]) return combined(op::mul, x, mask);
    bound_operand const inputs[] = {{x, -1, flows(x)}, {mask}};
    return record(*recipes_[v], g_.nodes[v], inputs, x);
  }
  /// A batch norm by the statistics of the batch.
  constexpr tensor normalised(int v) {
    node const& n = g_.nodes[v];
    int const channels = n.out.c;
    norm_step s{.of = recipes_[v], .at = &n, .x = made_[g_.operand(v)]};
    tensor const both = part(s, norm_statistics, {s.x, part(s, norm_moments, {s.x})});
    s.mean = part(s, norm_mean, {both});
    s.variance = part(s, norm_variance, {both});
    s.factor = part(s, norm_factor, {s.variance});
    s.summand = part(s, norm_summand, {s.mean, s.factor});
    s.is_gated = flow_.gates.after[v] > 0;
    tensor const y = part(s, norm_result, {s.x, s.factor, s.summand});
    statistics_.push({s.mean, n.norm + 2 * channels});
    statistics_.push({s.variance, n.norm + 3 * channels});
    tape_.push({.result = y.index, .norm = norms_.size});
    norms_.push(s);
    set_flow(y, true);
    return y;
  }
  /// The activation after a batch norm with whose gradients its own are computed.
  constexpr tensor gated(int v) {
    tensor const x = copied(v);
    int norm = tape_.size - 1;
    while (tape_[norm].result != made_[g_.operand(v)].index) --norm;
    tape_[norm].result = x.index;
    set_flow(x, true);
    return x;
  }
  constexpr void append_gradients(norm_step const& s, tensor flow) {
    tensor const sums = s.is_gated ? part(s, norm_flow_sums, {s.x, s.mean, flow, s.factor, s.summand})
                                   : part(s, norm_flow_sums, {s.x, s.mean, flow});
    int const gamma = s.at->norm, beta = gamma + s.at->out.c;
    if (flow_.is_trained(beta)) of_rows_[flow_.row_at(beta)] = part(s, norm_of_beta, {sums});
    if (flow_.is_trained(gamma)) of_rows_[flow_.row_at(gamma)] = part(s, norm_of_gamma, {sums, s.variance});
    if (!flows(s.x)) return;
    tensor const slope = part(s, norm_slope, {s.factor, sums, s.variance});
    tensor const shift = part(s, norm_shift, {s.factor, sums, s.mean, slope});
    add_to(gradients_[s.x.index], s.is_gated ? part(s, norm_of_value, {s.x, s.factor, slope, shift, flow, s.summand})
                                             : part(s, norm_of_value, {s.x, s.factor, slope, shift, flow}));
  }
  template <int Count>
  static constexpr tensor part(norm_step const& s, norm_part which, tensor const (&x)[Count]) {
    return paste(s.of->forward[which], x, {s.of->of, s.at}, s.x);
  }
  template <int Count>
  static constexpr tensor part(norm_step const& s, norm_gradient which, tensor const (&x)[Count]) {
    return paste(s.of->gradients[which], x, {s.of->of, s.at}, x[0]);
  }

  /// A node as it is, unless a gradient flows through it and needs values between.
  constexpr tensor replayed(int v) {
    node const& n = g_.nodes[v];
    bool flow = flow_.trains_own(n);
    for (int k = 0; k < n.input_count; ++k) flow = flow || flows(made_[g_.operand(v, k)]);
    if (!flow || n.is_detached) return copied(v);
    if (!recipes_[v]) {
      tensor const x = copied(v);
      set_flow(x, true);
      opaque_.push(x.index);
      return x;
    }
    recipe const& of = *recipes_[v];
    described::description const& d = *of.as;
    bound_operand given[expression::definition::max_values]{};
    int count = 0;
    for (; count < d.as.input_count; ++count) {
      tensor const x = made_[g_.operand(v, count)];
      given[count] = {x, -1, flows(x)};
    }
    moved_parameters const moved{of.of, &n};
    for (int p = 0; p < d.parameter_count; ++p) {
      int const offset = moved(d.parameters[p]);
      given[count++] = {{}, offset, flow_.is_trained(offset)};
    }
    if (of.forward[0]) return record(of, n, given, made_[g_.operand(v)]);
    int const first = first_sharing(n);
    bool const turns = first > 0 && n.transposed && shared_.by_turned[first];
    tensor const values[] = {given[0].value, turns ? turned(given[1].value) : tensor{}};
    tensor const x = turns ? paste(shared_.by_turned[first], values, moved, values[0]) : copied(v);
    bound_operand operands[tape_entry::capacity]{};
    for (int k = 0; k < d.as.expressions[0].operand_count; ++k) operands[k] = given[d.as.reads[0][k]];
    keep(of, n, 0, operands, x);
    set_flow(x, true);
    return x;
  }
  constexpr tensor copied(int v) {
    node n = g_.nodes[v];
    int const first = to_.edges.size;
    for (int k = 0; k < n.input_count; ++k) to_.edges.push(made_[g_.operand(v, k)].index);
    n.input_first = first;
    to_.nodes.push(n);
    return {&to_, to_.nodes.size - 1};
  }

  /// Adds to the gradient of a value what has been put off until all that reads it has been visited.
  constexpr void complete(int value) {
    slices_.take(value, to_.nodes[value].out, [&](tensor x) { add_to(gradients_[value], x); });
    for (int i = 0; i < matrices_.size; ++i)
      if (matrices_[i].value == value) append_products(matrices_[i]);
  }
  /// Adds to the gradient of a matrix that of all products by it.
  constexpr void append_products(shared_matrix const& m) {
    tape_entry const first = tape_[products_[m.newest].entry];
    if (m.count < shared_.count[m.first]) {  // no gradient flows through some
      for (int i = m.newest; i >= 0; i = products_[i].older) append_derived(tape_[products_[i].entry], 1);
      return;
    }
    growing<tensor> rows, flows;
    for (int i = m.newest; i >= 0; i = products_[i].older) {
      tape_entry const& e = tape_[products_[i].entry];
      rows.push({&to_, e.value[0]});
      flows.push(gradients_[e.result]);
    }
    shape const from = to_.nodes[first.value[0]].out, out = to_.nodes[first.result].out;
    tensor const all = stacked(rows, int(out.pixels()), from.c), flow = stacked(flows, int(out.pixels()), out.c);
    tensor const given[] = {all, {&to_, m.value}, flow, flow};  // the result is not read
    add_to(gradients_[m.value], paste(shared_.of_matrix[m.first], given, {first.of->of, first.at}, flow));
  }
  /// The first product that shares its matrix with product n; 0: there is none.
  constexpr int first_sharing(node const& n) const {
    return shared_.first && n.kind == op::matmul ? shared_.first[&n - g_.nodes] : 0;
  }
  /// The columns of a matrix as rows.
  constexpr tensor turned(tensor matrix) {
    for (int i = 0; i < turned_.size; ++i)
      if (turned_[i].matrix == matrix.index) return turned_[i].by_columns;
    shape const s = matrix.dims();
    node const n{.kind = op::permute, .out = {1, 1, s.c, s.w}, .order = {0, 1, 3, 2}};
    turned_.push({matrix.index, tracing::recording(matrix).append(n, matrix)});
    return turned_[turned_.size - 1].by_columns;
  }
  /// Puts off the gradient of operand k if entry t is a product, and that is a matrix that others have, too.
  constexpr bool is_put_off(int t, int k) {
    tape_entry const& e = tape_[t];
    int const first = k == 1 ? first_sharing(*e.at) : 0;
    if (first == 0) return false;
    int i = 0;
    while (i < matrices_.size && matrices_[i].first != first) ++i;
    if (i == matrices_.size) matrices_.push({first, e.value[1]});
    products_.push({t, matrices_[i].newest});
    matrices_[i].newest = products_.size - 1;
    ++matrices_[i].count;
    return true;
  }

  constexpr void append_gradient(int t, int k) {
    tape_entry const& e = tape_[t];
    if (is_part(*e.at)) slices_.add(e.value[k], *e.at, gradients_[e.result]);
    else if (!is_put_off(t, k)) append_derived(e, k);
  }
  constexpr void append_derived(tape_entry const& e, int k) {
    int const first = k == 0 && !e.at->transposed ? first_sharing(*e.at) : 0;
    bool const turns = first > 0 && shared_.by_turned[first];
    fragment const& f = turns ? shared_.by_turned[first] : e.of->gradient(e.expression, k);
    if (!f) return;  // it is 0
    tensor given[tape_entry::capacity + 2]{};
    int count = 0;
    for (int i = 0; i < e.operand_count; ++i)
      if (e.parameters[i] < 0) given[count++] = {&to_, e.value[i]};
    if (turns) given[1] = turned(given[1]);
    given[count++] = {&to_, e.result};
    given[count++] = gradients_[e.result];
    tensor const x = paste(f, given, {e.of->of, e.at}, {&to_, e.result});
    add_to(e.parameters[k] >= 0 ? of_rows_[flow_.row_at(e.parameters[k])] : gradients_[e.value[k]], x);
  }
  constexpr void add_to(tensor& sum, tensor x) { sum = sum.recorder ? combined(op::add, sum, x) : x; }
  static constexpr tensor combined(op kind, tensor a, tensor b) {
    tracing::recording r(a);
    b = r.reshaped(b, a.dims());
    tensor const operands[] = {a, b};
    return r.append({.kind = kind, .out = a.dims()}, operands);
  }

  gradient_flow<Graph, N> const& flow_;
  Graph const& g_;
  recipe const* const* recipes_;
  tracing::recorder& to_;
  growing<tape_entry> tape_;
  growing<tensor> made_, gradients_, of_rows_;
  growing<bool> flows_;
  growing<int> opaque_;  ///< nodes whose operators have no index expression
  struct statistic {
    tensor value{};
    int offset{};  ///< of its running mean
  };
  growing<statistic> statistics_;
  growing<norm_step> norms_;
  slice_gradients slices_;
  product_sharing shared_;
  growing<shared_matrix> matrices_;
  growing<shared_product> products_;
  growing<turned_matrix> turned_;
};

}  // namespace ago::learning
