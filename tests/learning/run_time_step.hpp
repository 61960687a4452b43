// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of a training step of a network that is known at run time: what train/recipes.hpp makes once for each class
// of operators in constant evaluations is made here by the same functions when it is needed.
#pragma once

#include <ago/learning/backpropagation.hpp>
#include <ago/learning/losses.hpp>

#include <deque>
#include <memory>
#include <stdexcept>
#include <vector>

namespace train_test {

/// Fragments, with the graphs to which they point.
class fragment_store {
  using graph = ago::ir::graph<96, 256, 4>;

 public:
  /// As fragment_of.
  ago::learning::fragment make(ago::learning::fragment_source const& from) {
    ago::tracing::recorder made;
    ago::tensor all[ago::expression::definition::max_values]{};
    for (int v = 0; v < from.as.input_count; ++v)
      if (from.parameters[v] < 0) all[v] = input(made, ago::recognition::shape_of(from.as.values[v].extents));
    if (made.nodes.size == 0) input(made, {1, 1, 1, 1});  // it reads parameters only
    made.inputs = made.nodes.size;
    ago::lowering::record_outputs(made, ago::recognition::operation_recording(
                                            from.as, from.name, {&made, 0}, {all, from.as.input_count}, from.parameters)
                                            .result(0));
    if (made.nodes.size > graph::node_capacity || made.edges.size > graph::edge_capacity)
      throw std::logic_error("a fragment is larger than expected");
    graph& g = graphs_.emplace_back();
    ago::lowering::copy_to(g, made);
    return {g.nodes, g.edges, g.node_count, g.input_count, g.outputs[0], &g.bad};
  }

 private:
  static ago::tensor input(ago::tracing::recorder& to, ago::shape const& s) {
    return ago::lowering::record_input(to, {s.n, s.h, s.w, s.c});
  }
  std::deque<graph> graphs_;
};

/// The recipe of one operator, where gradients flow through all its operands and parameters.
class made_recipe {
  static constexpr int most = ago::expression::index_expression::max_operands;

 public:
  ago::learning::recipe value{};

  made_recipe(ago::ir::node const& n, ago::described::description const& as, char const* name, bool always_records)
      : of_(n), as_(as) {
    int const count = as_.as.expression_count;
    forward_.resize(std::size_t(count));
    gradients_.resize(std::size_t(count * most));
    for (int i = 0; i < count; ++i) {
      ago::learning::fragment_source forward = ago::learning::source_of(as_, i, name);
      set_parameters(forward, as_, i);
      if (always_records || count > 1) forward_[std::size_t(i)] = store_.make(forward);
      for (int k = 0; k < as_.as.expressions[i].operand_count; ++k) {
        ago::learning::fragment_source g{.as = ago::expression::gradient_of(as_.as.expressions[i], k),
                                         .name = "gradient"};
        set_parameters(g, as_, i);
        if (g.as.bad.what != ago::expression::fault::no_gradient)
          gradients_[std::size_t(i * most + k)] = store_.make(g);
      }
    }
    value = {&as_, &of_, forward_.data(), gradients_.data()};
  }
  /// Of a batch norm by the statistics of the batch, as norm_recipe. `gate`: the activation whose gradient is part of
  /// its own; null: none.
  made_recipe(ago::ir::node const& n, ago::shape const& operand, ago::described::description const* gate) : of_(n) {
    namespace norm = ago::learning::training_norm;
    ago::expression::extents const in = ago::described::extents_of(operand);
    int const c = in[3];
    double const epsilon = double(n.alpha);
    ago::expression::definition const flow = gate ? norm::gated_flow(gate->as, in) : ago::expression::definition{};
    for (ago::learning::fragment_source const& part :
         {ago::learning::norm_source(norm::moments(in)), ago::learning::norm_source(norm::statistics(in)),
          ago::learning::norm_source(norm::one_of_two(0, c)), ago::learning::norm_source(norm::one_of_two(1, c)),
          ago::learning::norm_source(norm::factor(c, epsilon), 1, n.norm),
          ago::learning::norm_source(norm::summand(c), 2, n.norm + c), ago::learning::norm_source(norm::scaled(in))})
      forward_.push_back(store_.make(part));
    for (ago::learning::fragment_source const& part :
         {ago::learning::norm_source(gate ? norm::gated_flow_sums(flow, in) : norm::flow_sums(in)),
          ago::learning::norm_source(norm::one_of_two(0, c)), ago::learning::norm_source(norm::of_gamma(c, epsilon)),
          ago::learning::norm_source(norm::slope(in, epsilon)), ago::learning::norm_source(norm::shift(in)),
          ago::learning::norm_source(gate ? norm::gated_of_value(flow, in) : norm::of_value(in))})
      gradients_.push_back(store_.make(part));
    value = {nullptr, &of_, forward_.data(), gradients_.data()};
  }
  made_recipe(made_recipe const&) = delete;

 private:
  ago::ir::node of_;
  ago::described::description as_{};
  fragment_store store_;
  std::vector<ago::learning::fragment> forward_, gradients_;
};

/// The step of a network that has a `graph`, a `table` of parameters and the number of its `rows`: inputs of the step
/// are the network's, the targets, the gradient of the loss, and masks of dropouts; its outputs are the loss and the
/// gradients of all parameters. `Step`: a graph that has room for it.
template <class Network, class Step>
struct run_time_step {
  using network_graph = typename Network::graph_type;
  std::unique_ptr<Step> graph = std::make_unique<Step>();
  ago::learning::trained_rows<Network::row_capacity> rows{};
  std::vector<int> masks;  ///< the inputs that are masks

  template <class Loss>
  run_time_step(Network const& net, Loss const& loss) {
    network_graph const& g = *net.graph;
    for (int i = 0; i < net.rows; ++i) {
      ago::role const r = net.table[i].role;
      bool const is_statistic = r == ago::role::mean || r == ago::role::variance;
      rows.use[i] = is_statistic ? ago::learning::row_use::statistic : ago::learning::row_use::trained;
    }
    ago::learning::gradient_flow const flow(g, net.table, rows);
    auto const classes = ago::learning::classes_of<network_graph::node_capacity>(flow);
    std::deque<made_recipe> made;
    ago::learning::recipe const* of[network_graph::node_capacity]{};
    for (int v = g.input_count; v < g.node_count; ++v) {
      if (!classes.flows[v]) continue;
      if (int const u = classes.first[v]; u != v && of[u]) of[v] = of[u];
      else of[v] = add(made, flow, v);
    }
    ago::shape const result = g.nodes[g.outputs[0]].out;
    constexpr bool takes_classes = ago::learning::takes_classes<Loss>();
    ago::shape const target = takes_classes ? ago::shape{result.n, result.h, result.w, 1} : result;
    using ago::described::extents_of;
    ago::described::description const as{.as = loss(extents_of(result), extents_of(target)), .exists = true};
    ago::learning::recipe const& of_loss = made.emplace_back(g.nodes[0], as, "loss", true).value;
    record(net, flow, of, of_loss, target);
  }

 private:
  static ago::learning::recipe const* add(std::deque<made_recipe>& made, auto const& flow, int v) {
    ago::ir::node const& n = flow.g.nodes[v];
    if (flow.takes_statistics(n)) {
      int const gate = flow.gates.after[v];
      ago::described::description const activation =
          gate > 0 ? ago::described::description_of(flow.g, gate) : ago::described::description{};
      return &made.emplace_back(n, flow.g.source(v).out, gate > 0 ? &activation : nullptr).value;
    }
    bool const drops = ago::tracing::is_dropout(n);
    ago::described::description const as =
        drops ? ago::described::description{.as = ago::learning::kept_by_mask(ago::described::extents_of(n.out)),
                                            .exists = true}
              : ago::described::description_of(flow.g, v);
    return as.exists ? &made.emplace_back(n, as, drops ? "dropout" : name_of(n.kind), drops).value : nullptr;
  }
  void record(Network const& net, auto const& flow, ago::learning::recipe const* const* of,
              ago::learning::recipe const& of_loss, ago::shape const& target) {
    network_graph const& g = *net.graph;
    ago::tracing::recorder to;
    std::vector<ago::tensor> x;
    auto const input = [&](ago::shape const& s) { x.push_back(ago::lowering::record_input(to, {s.n, s.h, s.w, s.c})); };
    input(g.nodes[0].out);
    input(target);
    input({1, 1, 1, 1});
    for (int v = 0; v < g.node_count; ++v)
      if (ago::tracing::is_dropout(g.nodes[v])) {
        masks.push_back(int(x.size()));
        input(g.nodes[v].out);
      }
    to.inputs = int(x.size());
    ago::learning::backpropagation step(flow, of, to);
    step.forward(x.data(), x.data() + 3);
    ago::tensor const loss = step.loss(of_loss, step.output(0), x[1]);
    step.backward(loss, x[2]);
    ago::lowering::record_output(to, loss);
    for (int i = 0; i < net.rows; ++i) ago::lowering::record_output(to, step.gradient_of_row(i));
    if (to.nodes.size > Step::node_capacity || to.edges.size > Step::edge_capacity)
      throw std::logic_error("a step is larger than expected");
    ago::lowering::copy_to(*graph, to);
  }
};

}  // namespace train_test
