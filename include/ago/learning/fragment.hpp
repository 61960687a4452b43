// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by index expressions as pieces of a graph. Each is made once, in a constant evaluation of its own, and then
// copied to wherever it occurs: compilers limit one evaluation, not their number.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/learning/node_parameters.hpp>
#include <ago/network/lowering.hpp>
#include <ago/passes/rewriting.hpp>
#include <ago/recognition/operation.hpp>

namespace ago::learning {

/// A graph with one result, of which nothing but pointers is kept. Null: there is none.
struct fragment {
  node const* nodes{};
  int const* edges{};
  int node_count{}, input_count{}, result{};
  diagnostic const* bad{};

  constexpr explicit operator bool() const { return nodes != nullptr; }
};

/// What a fragment is made from: an operator with one result.
struct fragment_source {
  expression::definition as{};
  int parameters[expression::definition::max_values]{};  ///< of each input: its offset; -1: it is a value
  char const* name{};
};

/// What stands for the expressions of a fragment while it is traced.
inline constexpr lowering::expression_rows<expression::definition::max_expressions> stand_ins;
inline constexpr lowering::expression_pointers<expression::definition::max_expressions> listed_stand_ins =
    []() AGO_CONSTEVAL {
      lowering::expression_pointers<expression::definition::max_expressions> r;
      for (int i = 0; i < expression::definition::max_expressions; ++i) r.all[i] = &stand_ins.all[i];
      return r;
    }();

/// A fragment as it was traced, if it is small, with the expressions that its stand-ins stand for: tracing it twice
/// more for its sizes and expressions, as lowering.hpp does, takes compilers longer than anything else about it.
struct traced_fragment {
  static constexpr int most_nodes = 24, most_edges = 40, most_expressions = expression::definition::max_expressions;
  graph<most_nodes, most_edges> made{};
  lowering::expression_rows<most_expressions> expressions{};
  int expression_count{};
  bool fits{};

  constexpr void take(tracing::recorder const& r) {
    expression_count = r.expressions.all.size;
    fits = r.nodes.size <= most_nodes && r.edges.size <= most_edges && r.outputs.size == 1;
    if (!fits) return;
    lowering::copy_to(made, r);
    for (int i = 0; i < expression_count; ++i) expressions.all[i] = r.expressions.all[i];
  }
};

/// The fragment of a fragment_source. Its inputs are those inputs of the operator that are values, or one that it does
/// not read.
template <auto const& Source>
struct fragment_of {
  static constexpr int values = [] {
    int r = 0;
    for (int v = 0; v < Source.as.input_count; ++v) r += Source.parameters[v] < 0;
    return r;
  }();
  static constexpr int inputs = values > 0 ? values : 1;

  struct body {
    template <std::same_as<tensor>... T>
      requires(sizeof...(T) == std::size_t(inputs))
    constexpr tensor operator()(T... given) const {
      tensor const x[] = {given...};
      tensor all[expression::definition::max_values]{};
      for (int v = 0, next = 0; v < Source.as.input_count; ++v)
        if (Source.parameters[v] < 0) all[v] = x[next++];
      return recognition::operation_recording(Source.as, Source.name, x[0], {all, Source.as.input_count},
                                              Source.parameters)
          .result(0);
    }
  };
  static constexpr auto network = [] {
    network_expression<body, inputs> r{};
    for (int v = 0, next = 0; v < Source.as.input_count; ++v) {
      shape const s = shape_of(Source.as.values[v].extents);
      if (Source.parameters[v] < 0) r.inputs[next++] = {.n = s.n, .h = s.h, .w = s.w, .c = s.c};
    }
    return r;
  }();
  static constexpr traced_fragment traced = []() AGO_CONSTEVAL {
    traced_fragment r;
    tracing::recorder to;
    to.expressions.listed = listed_stand_ins.all;
    lowering::record(to, network);
    r.take(to);
    return r;
  }();
  template <int I>
  static constexpr expression::index_expression own = traced.expressions.all[I];
  static constexpr auto graph = []() AGO_CONSTEVAL {
    if constexpr (traced.fits) {
      constexpr auto const& from = traced.made;
      auto g = passes::fit<from.node_count, from.edge_count, 1>(from);
      [&]<int... I>(std::integer_sequence<int, I...>) {
        for (int v = 0; v < g.node_count; ++v)
          ((g.nodes[v].described == &stand_ins.all[I] ? void(g.nodes[v].described = &own<I>) : void()), ...);
      }(std::make_integer_sequence<int, traced.expression_count>{});
      return g;
    } else {
      return lowered<network>::value;
    }
  }();
  static constexpr fragment value{graph.nodes,       graph.edges,      graph.node_count,
                                  graph.input_count, graph.outputs[0], &graph.bad};
};

/// Records a fragment on values, as part of the layer that recorded `under`.
constexpr tensor paste(fragment const& f, tensor const* given, moved_parameters const& parameters, tensor under) {
  tracing::recorder& to = *under.recorder;
  tracing::recording r(under);
  if (f.bad->what != fault::none) {
    r.complain(f.bad->operation, f.bad->described);
    return under;
  }
  growing<tensor> made;
  made.reserve(f.node_count);
  for (int v = 0; v < f.input_count; ++v) made.push(recognition::before_views(given[v]));
  for (int v = f.input_count; v < f.node_count; ++v) {
    node n = f.nodes[v];
    tensor operands[expression::index_expression::max_operands]{};
    for (int k = 0; k < n.input_count; ++k) {
      int const e = f.edges[n.input_first + k];
      tensor& x = operands[k] = n.kind == op::constant ? tensor{&to, 0} : made[e];
      if (n.kind != op::constant && n.kind != op::reshape) x = r.reshaped(x, f.nodes[e].out);
    }
    n.weight = parameters(n.weight);
    n.shift = parameters(n.shift);
    n.norm = parameters(n.norm);
    bool const is_there = n.kind == op::reshape && operands[0].dims() == n.out;
    made.push(is_there ? operands[0] : r.append(n, {operands, n.input_count}));
  }
  return made[f.result];
}

}  // namespace ago::learning
