// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training step as a network: its inputs are those of the trained network, the targets, the gradient of the loss and
// the masks of dropouts; its outputs are the loss and the gradients of the parameters.
#pragma once

#include <ago/learning/activation_limit.hpp>
#include <ago/learning/backpropagation.hpp>
#include <ago/learning/losses.hpp>

#include <utility>

namespace ago::learning {

/// The network with `Batch` times the images.
template <auto const& Net, int Batch>
inline constexpr auto batched = [] {
  auto r = Net;
  for (input& in : r.inputs) in.n *= Batch > 0 ? Batch : 1;
  return r;
}();

/// A step that has all the memory that it needs. `How` has no limit, so that steps with different ones share it.
template <auto const& Net, auto const& Loss, training How>
struct unlimited_step {
  static constexpr auto const& net = batched<Net, How.batch>;
  static constexpr auto const& graph = lowered<net>::value;
  static constexpr auto const& table = parameters<net>;
  static constexpr auto rows = rows_to_train(table, How);
  static constexpr int inputs = graph.input_count;
  static constexpr int dropouts = [] {
    int r = 0;
    for (int v = 0; v < graph.node_count; ++v) r += tracing::is_dropout(graph.nodes[v]);
    return r;
  }();
  /// The places of inputs.
  static constexpr int target = inputs, seed = inputs + 1, first_mask = inputs + 2, all_inputs = first_mask + dropouts;

  static constexpr shape result = graph.nodes[graph.outputs[0]].out;
  static constexpr bool takes_classes = learning::takes_classes<std::remove_cvref_t<decltype(Loss)>>();
  static constexpr shape target_shape = takes_classes ? shape{result.n, result.h, result.w, 1} : result;

  /// For each parameter that is a statistic, the pixels of all images that it is of.
  struct pixel_counts {
    long of_row[table.size() > 0 ? table.size() : 1]{};
  };
  static constexpr pixel_counts pixels = [] {
    pixel_counts r;
    for (int v = 0; v < graph.node_count; ++v) {
      node const& n = graph.nodes[v];
      if (n.kind != op::batch_norm) continue;
      for (int i = 0; i < table.size(); ++i)
        if (table[i].offset >= n.norm && table[i].offset < n.norm + 4 * n.out.c) r.of_row[i] = n.out.pixels();
    }
    return r;
  }();

  static constexpr expression::definition loss =
      Loss(described::extents_of(result), described::extents_of(target_shape));
  using recipes = recipes_of<unlimited_step>;

  static constexpr product_sharing shared() {
    if constexpr (How.program.horizontal_fusion == horizontal_fusion::off) return {};
    else
      return {recipes::shared.first, recipes::shared.count, recipes::of_shared.of_matrix, recipes::of_shared.by_turned};
  }
  struct body {
    template <std::same_as<tensor>... T>
      requires(sizeof...(T) == std::size_t(all_inputs))
    constexpr output_list<1 + rows.count> operator()(T... given) const {
      tensor const x[] = {given...};
      output_list<1 + rows.count> r{};
      r.values[0] = x[0];
      if (!x[0].recorder) return r;
      backpropagation step(recipes::flow, recipes::all.of, *x[0].recorder, shared());
      step.forward(x, x + first_mask);
      tensor const y = step.output(0);
      tensor const loss = step.loss(recipes::loss, y, x[target]);
      step.backward(loss, x[seed]);
      r.values[0] = loss;
      for (int i = 0, k = 1; i < table.size(); ++i)
        if (rows.use[i] != row_use::frozen) r.values[k++] = step.gradient_of_row(i);
      return r;
    }
  };

  static constexpr auto recorded = [] {
    network_expression<body, all_inputs> r{};
    auto const of = [](shape const& s) { return input{.n = s.n, .h = s.h, .w = s.w, .c = s.c}; };
    for (int i = 0; i < inputs; ++i) r.inputs[i] = of(graph.nodes[i].out);
    r.inputs[target] = of(target_shape);
    r.inputs[seed] = {};
    for (int v = 0, k = first_mask; v < graph.node_count; ++v)
      if (tracing::is_dropout(graph.nodes[v])) r.inputs[k++] = of(graph.nodes[v].out);
    return r;
  }();
};

constexpr training without_limit(training how) {
  how.activation_bytes = 0;
  return how;
}

template <auto const& Net, auto const& Loss, training How>
struct training_step : unlimited_step<Net, Loss, without_limit(How)> {
  using unlimited = unlimited_step<Net, Loss, without_limit(How)>;
  /// What is computed again within How.activation_bytes.
  using limited = typename decltype(within_limit<unlimited::recorded, unlimited::table,
                                                 with_storage(resolved(How.program), storage::trained),
                                                 How.activation_bytes>())::type;
  static constexpr auto const& network = limited::network;
};

}  // namespace ago::learning
