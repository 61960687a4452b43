// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of a training step: the network's operators, its loss, and the gradients of its parameters, derived from
// the operators' index expressions in reverse order (NeoFlow, section 4.2).
#pragma once

#include <ago/graph/arithmetic.hpp>
#include <ago/graph/dropout.hpp>
#include <ago/operators/description.hpp>
#include <ago/train/batch_norm.hpp>
#include <ago/train/tape.hpp>
#include <ago/train/trained_rows.hpp>

namespace ago::detail {

constexpr expression::definition kept_by_mask(expression::extents const& in) {
  using namespace expression;
  return compute("dropout", [&](operand x, operand mask) {
    var n, h, w, c;
    return result(n, h, w, c) = x(n, h, w, c) * mask(n, h, w, c);
  })(in, in);
}

/// Records a training step of the network whose graph is `g`.
template <class Graph, int N>
class backpropagation {
 public:
  constexpr backpropagation(Graph const& g, parameter_table<N> const& table, trained_rows<N> const& rows, recorder& to)
      : g_(g), table_(table), rows_(rows), to_(to) {
    if (to_.parameters.size == 0)
      for (parameter const& p : table) to_.parameters.push(p);
    to_.floats = g.parameters;
    to_.complain(g.bad);
  }

  /// Records the network; returns its results. `masks`: those of its dropouts, in order.
  constexpr void forward(tensor const* inputs, tensor const* masks) {
    for (int v = 0; v < g_.input_count; ++v) made_.push(inputs[v]);
    for (int v = g_.input_count; v < g_.node_count; ++v) {
      node const& n = g_.nodes[v];
      to_.layers = n.layer + 1 > to_.layers ? n.layer + 1 : to_.layers;
      if (is_dropout(n)) made_.push(dropped(v, *masks++));
      else if (takes_statistics(n)) made_.push(normalised(v));
      else made_.push(replayed(v));
    }
  }
  constexpr tensor output(int i) const { return made_[g_.outputs[i]]; }

  /// Records an operator on values, the first of which has a gradient.
  constexpr tensor loss(expression::definition const& d, tensor y, tensor target) {
    bound_operand const inputs[] = {{y, -1, flows(y)}, {target}};
    tensor made[expression::definition::max_values]{};
    record(d, inputs, made, "loss", y);
    return made[d.results[0]];
  }

  /// Records the gradients of the parameters, where that of `result` is `seed`.
  constexpr void backward(tensor result, tensor seed) {
    gradients_.reserve(to_.nodes.size);
    for (int v = 0; v < to_.nodes.size; ++v) gradients_.push({});
    for (int i = 0; i < N; ++i) of_rows_.push({});
    for (int i = 0; i < statistics_.size; ++i) of_rows_[row_at(statistics_[i].offset)] = statistics_[i].value;
    gradients_[result.index] = seed;
    for (int t = tape_.entries.size; t-- > 0;) {
      tape_entry const e = tape_.entries[t];
      if (!gradients_[e.result].recorder) continue;
      if (e.norm >= 0) append_gradients(norms_[e.norm], gradients_[e.result]);
      for (int k = 0; k < e.of.operand_count; ++k)
        if (e.flows[k]) append_gradient(e, k);
    }
    for (int i = 0; i < opaque_.size; ++i) {
      tensor const x{&to_, opaque_[i]};
      if (gradients_[x.index].recorder) recording(x).complain(fault::has_no_gradient, 0, 0);
    }
  }
  /// The gradient of a trained parameter, or the value of the batch for a statistic.
  constexpr tensor gradient_of_row(int i) {
    if (of_rows_[i].recorder) return of_rows_[i];
    recording(made_[0]).complain(fault::no_gradient_reaches, 0, i);
    return made_[0];
  }

 private:
  /// A batch norm by the statistics of the batch: its operand, values of each channel, and the offsets of parameters.
  struct norm_step {
    tensor x{}, mean{}, variance{}, factor{};
    int gamma{}, beta{};
    double epsilon{};
  };

  /// Does a batch norm take the statistics of the batch?
  constexpr bool takes_statistics(node const& n) const {
    return n.kind == op::batch_norm && rows_.use[row_at(n.norm + 2 * n.out.c)] == row_use::statistic;
  }
  constexpr bool is_trained(int offset) const {
    int const i = row_at(offset);
    return i >= 0 && rows_.use[i] == row_use::trained;
  }
  /// The row of the parameter at an offset.
  constexpr int row_at(int offset) const {
    int low = 0, high = N;
    while (low < high) {
      int const middle = (low + high) / 2;
      if (table_[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    return low < N && table_[low].offset == offset ? low : -1;
  }
  constexpr bool flows(tensor x) const { return x.index < flows_.size && flows_[x.index]; }
  constexpr void set_flow(tensor x, bool flow) {
    while (flows_.size <= x.index) flows_.push(false);
    flows_[x.index] = flow;
  }

  /// Records the expressions of an operator. made[v] becomes each value that it computes.
  constexpr void record(expression::definition const& d, bound_operand const* given, tensor* made, char const* name,
                        tensor under) {
    bound_operand all[expression::definition::max_values]{};
    for (int v = 0, next = 0; v < d.value_count; ++v)
      if (d.values[v].role != expression::value_role::computed) all[v] = given[next++];
    for (int i = 0; i < d.expression_count; ++i) {
      bound_operand operands[tape_entry::capacity]{};
      bool flow = false;
      for (int k = 0; k < d.expressions[i].operand_count; ++k) {
        operands[k] = all[d.reads[i][k]];
        flow = flow || operands[k].flows;
      }
      flow = flow && !d.values[d.makes[i]].is_detached;
      tensor const x = tape_.append(d.expressions[i], operands, name, under);
      set_flow(x, flow);
      made[d.makes[i]] = x;
      all[d.makes[i]] = {x, -1, flow};
    }
  }

  constexpr tensor dropped(int v, tensor mask) {
    tensor const x = made_[g_.operand(v)];
    bound_operand const inputs[] = {{x, -1, flows(x)}, {mask}};
    tensor made[expression::definition::max_values]{};
    expression::definition const d = kept_by_mask(x.extents());
    record(d, inputs, made, "dropout", x);
    return made[d.results[0]];
  }
  /// A batch norm by the statistics of the batch.
  constexpr tensor normalised(int v) {
    node const& n = g_.nodes[v];
    tensor const x = made_[g_.operand(v)];
    expression::extents const in = described::extents_of(x.dims());
    int const channels = n.out.c;
    norm_step s{.x = x, .gamma = n.norm, .beta = n.norm + channels, .epsilon = double(n.alpha)};
    s.mean = value(training_norm::mean(in), x, {{x}});
    s.variance = value(training_norm::variance(in), x, {{x}, {s.mean}});
    s.factor = value(training_norm::factor(channels, s.epsilon), x, {{s.variance}, {{}, s.gamma}});
    tensor const summand = value(training_norm::summand(channels), x, {{s.mean}, {s.factor}, {{}, s.beta}});
    tensor const y = value(training_norm::scaled(in), x, {{x}, {s.factor}, {summand}});
    statistics_.push({s.mean, n.norm + 2 * channels});
    statistics_.push({s.variance, n.norm + 3 * channels});
    tape_.entries.push({.result = y.index, .norm = norms_.size});
    norms_.push(s);
    set_flow(y, true);
    return y;
  }
  constexpr void append_gradients(norm_step const& s, tensor flow) {
    expression::extents const in = described::extents_of(s.x.dims());
    tensor const sum = value(training_norm::flow_sum(in), flow, {{flow}});
    tensor const centred = value(training_norm::centred_sum(in), flow, {{flow}, {s.x}, {s.mean}});
    if (is_trained(s.beta)) of_rows_[row_at(s.beta)] = sum;
    if (is_trained(s.gamma))
      of_rows_[row_at(s.gamma)] =
          value(training_norm::of_gamma(in[3], s.epsilon), flow, {{centred}, {s.variance}});
    if (!flows(s.x)) return;
    tensor const slope =
        value(training_norm::slope(in, s.epsilon), flow, {{s.factor}, {centred}, {s.variance}});
    tensor const shift = value(training_norm::shift(in), flow, {{s.factor}, {sum}, {s.mean}, {slope}});
    add_to(gradients_[s.x.index],
           value(training_norm::of_value(in), flow, {{flow}, {s.x}, {s.factor}, {slope}, {shift}}));
  }
  template <int Count>
  static constexpr tensor value(expression::definition const& d, tensor under, bound_operand const (&inputs)[Count]) {
    return tape::record(d, inputs, "batch_norm", under);
  }

  /// A node as it is, unless a gradient flows through it and needs values between.
  constexpr tensor replayed(int v) {
    node const& n = g_.nodes[v];
    bool flow = false;
    for (int k = 0; k < n.input_count; ++k) flow = flow || flows(made_[g_.operand(v, k)]);
    int const offsets[] = {n.weight, n.shift, n.norm, n.norm < 0 ? -1 : n.norm + n.out.c};
    for (int const offset : offsets) flow = flow || (offset >= 0 && is_trained(offset));
    if (!flow || n.is_detached) return copied(v);
    description const d = description_of(g_, v);
    if (!d.exists) {
      tensor const x = copied(v);
      set_flow(x, true);
      opaque_.push(x.index);
      return x;
    }
    bound_operand given[expression::definition::max_values]{};
    int count = 0;
    for (; count < d.as.input_count; ++count) {
      tensor const x = made_[g_.operand(v, count)];
      given[count] = {x, -1, flows(x)};
    }
    for (int p = 0; p < d.parameter_count; ++p) given[count++] = {{}, d.parameters[p], is_trained(d.parameters[p])};
    tensor made[expression::definition::max_values]{};
    if (d.as.expression_count > 1) {
      record(d.as, given, made, name_of(n.kind), made_[g_.operand(v)]);
      return made[d.as.results[0]];
    }
    tensor const x = copied(v);
    bound_operand operands[tape_entry::capacity]{};
    for (int k = 0; k < d.as.expressions[0].operand_count; ++k) operands[k] = given[d.as.reads[0][k]];
    tape_.keep(d.as.expressions[0], operands, x);
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

  constexpr void append_gradient(tape_entry const& e, int k) {
    expression::definition const d = expression::gradient_of(e.of, k);
    if (d.bad.what == expression::fault::no_gradient) return;  // it is 0
    bound_operand inputs[tape_entry::capacity + 2]{};
    for (int i = 0; i < e.of.operand_count; ++i)
      inputs[i] = e.parameters[i] < 0 ? bound_operand{{&to_, e.node[i]}} : bound_operand{{}, e.parameters[i]};
    inputs[e.of.operand_count] = {{&to_, e.result}};
    inputs[e.of.operand_count + 1] = {gradients_[e.result]};
    tensor const x = tape::record(d, inputs, "gradient", {&to_, e.result});
    add_to(e.parameters[k] >= 0 ? of_rows_[row_at(e.parameters[k])] : gradients_[e.node[k]], x);
  }
  constexpr void add_to(tensor& sum, tensor x) { sum = sum.recorder ? sum_of(sum, x) : x; }
  static constexpr tensor sum_of(tensor a, tensor b) {
    recording r(a);
    if (b.dims() != a.dims()) b = r.append({.kind = op::reshape, .out = a.dims()}, b);
    tensor const operands[] = {a, b};
    return r.append({.kind = op::add, .out = a.dims()}, operands);
  }

  Graph const& g_;
  parameter_table<N> const& table_;
  trained_rows<N> const& rows_;
  recorder& to_;
  detail::tape tape_;
  growing<tensor> made_, gradients_, of_rows_;
  growing<bool> flows_;
  growing<int> opaque_;  ///< nodes whose operators have no index expression
  struct statistic {
    tensor value{};
    int offset{};  ///< of its running mean
  };
  growing<statistic> statistics_;
  growing<norm_step> norms_;
};

}  // namespace ago::detail
