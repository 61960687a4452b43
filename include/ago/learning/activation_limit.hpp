// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training step whose arena has at most so many bytes, because values are computed again. What is saved and what is
// computed again is decided by the reward of NeoFlow, Eq. (4) (section 5.1).
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/learning/light_values.hpp>
#include <ago/learning/values_again.hpp>
#include <ago/passes/passes.hpp>
#include <ago/runtime/planned.hpp>

#include <cstddef>
#include <type_traits>

namespace ago::learning {

/// The body of a network that records `Graph`, which has been through the passes.
template <auto const& Graph, auto const& Parameters>
struct replay {
  static constexpr bool is_optimized = true;
  static constexpr int inputs = Graph.input_count, outputs = Graph.output_count;

  template <std::same_as<tensor>... T>
    requires(sizeof...(T) == std::size_t(inputs))
  constexpr output_list<outputs> operator()(T... given) const {
    tensor const x[] = {given...};
    output_list<outputs> r{};
    r.values[0] = x[0];
    if (!x[0].recorder) return r;
    tracing::recorder& to = *x[0].recorder;
    for (parameter const& p : Parameters) to.parameters.push(p);
    to.floats = Graph.parameters;
    for (int v = inputs; v < Graph.node_count; ++v) {
      node n = Graph.nodes[v];
      to.layers = n.layer + 1 > to.layers ? n.layer + 1 : to.layers;
      n.input_first = to.edges.size;
      for (int k = 0; k < n.input_count; ++k) to.edges.push(Graph.operand(v, k));
      to.nodes.push(n);
    }
    for (int i = 0; i < outputs; ++i) r.values[i] = {&to, Graph.outputs[i]};
    return r;
  }
};
template <auto const& Graph, auto const& Parameters>
inline constexpr auto replaying = []() AGO_CONSTEVAL {
  network_expression<replay<Graph, Parameters>, Graph.input_count> r{};
  for (int i = 0; i < Graph.input_count; ++i) {
    shape const& s = Graph.nodes[i].out;
    r.inputs[i] = {.n = s.n, .h = s.h, .w = s.w, .c = s.c};
  }
  return r;
}();

/// The memory of the training step `Recorded`.
template <auto const& Recorded, options Options>
struct planned_activations {
 private:
  using steps = unchecked_steps<Recorded, Options>;
  using planned = unchecked_plan<Recorded, untuned, Options>;

 public:
  static constexpr auto const& graph = planned::graph;
  static constexpr int forward = graph.outputs[0] + 1;  ///< nodes of the forward part, which ends with the loss
  static constexpr auto memory = activation_memory_of<forward, planned::steps>(
      graph, steps::layouts, steps::views, planned::plan.steps, planned::first_part, planned::memory, Options.device);
};

/// The training step `Recorded` with values computed again such that the model's arena has `Floats` or less.
template <auto const& Recorded, auto const& Parameters, options Options, long Floats>
struct computing_again {
 private:
  using kept = planned_activations<Recorded, Options>;
  static constexpr auto const& graph = kept::graph;
  static constexpr copy_order<graph.node_capacity, kept::forward> copies{
      graph, kept::memory.use(search_for_values<kept::memory, kept::forward, Floats>::value.of).dropped};
  // Originals that only the backward part has read are not computed any more.
  static constexpr auto with_them = dead_code(
      with_copies<graph.node_count + copies.added.nodes, graph.edge_count + copies.added.edges>(graph, copies));

 public:
  static constexpr auto const& again = search_for_values<kept::memory, kept::forward, Floats>::value;
  /// Operators that are computed again.
  static constexpr int operators = copies.added.nodes;
  static constexpr auto const& network = replaying<with_them, Parameters>;
  static constexpr long arena_floats = long(unchecked_plan<network, untuned, Options>::arena_floats);
  /// Is it what the model finds least, though not small enough?
  static constexpr bool is_least = again.floats > Floats;
};

/// The training step as it is recorded.
template <auto const& Recorded, options Options>
struct computing_once {
  static constexpr int operators = 0;
  static constexpr auto const& network = Recorded;
  static constexpr long arena_floats = long(unchecked_plan<Recorded, untuned, Options>::arena_floats);
};

/// The training step `Recorded` with light values computed again, if it has some.
template <auto const& Recorded, auto const& Parameters, options Options>
struct computing_light_again {
 private:
  static constexpr auto const& graph = unchecked_steps<Recorded, Options>::optimized_graph;
  static constexpr int forward = graph.outputs[0] + 1;
  static constexpr light_values<forward> light{graph, Options.device};
  static constexpr copy_order<graph.node_capacity, forward> copies{graph, light.of};
  static constexpr auto with_them = dead_code(
      with_copies<graph.node_count + copies.added.nodes, graph.edge_count + copies.added.edges>(graph, copies));

 public:
  static constexpr int operators = copies.added.nodes;
  static constexpr auto const& choose() {
    if constexpr (operators > 0) return replaying<with_them, Parameters>;
    else return Recorded;
  }
  static constexpr auto const& network = choose();
  static constexpr long arena_floats = long(unchecked_plan<network, untuned, Options>::arena_floats);
};

/// The first of some steps whose arena, as it is planned, has at most `Limit` floats. The model does not know how well
/// buffers can be placed, so each try aims lower; the last one is what the model finds least.
template <auto const& Recorded, auto const& Parameters, options Options, long Limit, long Aim, int Tries>
constexpr auto limited_step() {
  using tried = computing_again<Recorded, Parameters, Options, Aim>;
  if constexpr (tried::arena_floats <= Limit || tried::is_least) {
    return std::type_identity<tried>{};
  } else {
    constexpr double ratio = double(Limit) / double(tried::arena_floats);
    constexpr long next = Tries > 1 ? long(ratio * double(tried::again.floats)) : 0;
    return limited_step<Recorded, Parameters, Options, Limit, next, Tries - 1>();
  }
}

/// `Recorded`, a training step, with light values computed again, and others where its arena would then have more than
/// `Bytes` (0: any size).
template <auto const& Recorded, auto const& Parameters, options Options, std::size_t Bytes>
constexpr auto within_limit() {
  constexpr long limit = long(Bytes / sizeof(float));
  constexpr int most_tries = 4;
  if constexpr (lowering::misfit<Recorded>.what != fault::none) {
    return std::type_identity<computing_once<Recorded, Options>>{};
  } else {
    using light = computing_light_again<Recorded, Parameters, Options>;
    if constexpr (Bytes == 0) return std::type_identity<light>{};
    else if constexpr (light::arena_floats <= limit) return std::type_identity<light>{};
    else return limited_step<Recorded, Parameters, Options, limit, limit, most_tries>();
  }
}

}  // namespace ago::learning
