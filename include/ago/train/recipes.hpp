// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a training step records for each operator of a network: its index expressions, and the gradients derived from
// them (NeoFlow, section 4.2), as fragments. Equal operators share a recipe.
#pragma once

#include <ago/expression/gradient.hpp>
#include <ago/graph/dropout.hpp>
#include <ago/graph/passes.hpp>
#include <ago/operators/description.hpp>
#include <ago/train/batch_norm.hpp>
#include <ago/train/fragment.hpp>
#include <ago/train/trained_rows.hpp>

#include <utility>

namespace ago::detail {

/// For a network and the parameters that are trained: which operators gradients flow through.
template <class Graph, int N>
struct gradient_flow {
  Graph const& g;
  parameter_table<N> const& table;
  trained_rows<N> const& rows;

  constexpr gradient_flow(Graph const& of, parameter_table<N> const& all, trained_rows<N> const& use)
      : g(of), table(all), rows(use) {}

  /// The row of the parameter at an offset; -1: there is none.
  constexpr int row_at(int offset) const {
    int low = 0, high = N;
    while (low < high) {
      int const middle = (low + high) / 2;
      if (table[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    return low < N && table[low].offset == offset ? low : -1;
  }
  constexpr bool is_trained(int offset) const {
    int const i = offset < 0 ? -1 : row_at(offset);
    return i >= 0 && rows.use[i] == row_use::trained;
  }
  /// Does a batch norm take the statistics of the batch?
  constexpr bool takes_statistics(node const& n) const {
    return n.kind == op::batch_norm && rows.use[row_at(n.norm + 2 * n.out.c)] == row_use::statistic;
  }
  constexpr bool trains_own(node const& n) const {
    return is_trained(n.weight) || is_trained(n.shift) || is_trained(n.norm) ||
           (n.norm >= 0 && is_trained(n.norm + n.out.c));
  }
};

/// The operators of a network in classes of equal ones.
template <int V>
struct operator_classes {
  int first[V]{};   ///< of each node: the first one of its class
  bool flows[V]{};  ///< of each node: whether a gradient may flow through its value
  // Of the first one of a class, for all of the class: operands that a gradient flows through, as bits, and whether
  // parameters are trained.
  unsigned operands[V]{};
  bool weight[V]{}, shift[V]{};
};

template <class Graph, int N>
constexpr bool in_one_class(gradient_flow<Graph, N> const& f, node const& a, node const& b) {
  Graph const& g = f.g;
  if (!same_operator(a, b) || f.takes_statistics(a) != f.takes_statistics(b)) return false;
  if (a.is_detached != b.is_detached || (a.weight < 0) != (b.weight < 0) || (a.shift < 0) != (b.shift < 0) ||
      (a.norm < 0) != (b.norm < 0))
    return false;
  for (int k = 0; k < a.input_count; ++k)
    if (g.nodes[g.edges[a.input_first + k]].out != g.nodes[g.edges[b.input_first + k]].out) return false;
  return true;
}
template <int V, class Graph, int N>
constexpr operator_classes<V> classes_of(gradient_flow<Graph, N> const& f) {
  operator_classes<V> r;
  Graph const& g = f.g;
  int representatives[V]{}, count = 0;
  for (int v = g.input_count; v < g.node_count; ++v) {
    node const& n = g.nodes[v];
    int i = 0;
    while (i < count && !in_one_class(f, g.nodes[representatives[i]], n)) ++i;
    if (i == count) representatives[count++] = v;
    int const u = r.first[v] = representatives[i];
    r.weight[u] = r.weight[u] || f.is_trained(n.weight);
    r.shift[u] = r.shift[u] || f.is_trained(n.shift);
    for (int k = 0; k < n.input_count; ++k)
      if (r.flows[g.operand(v, k)]) {
        r.flows[v] = true;
        if (k < described::max_operands) r.operands[u] |= 1u << k;
      }
    r.flows[v] = (r.flows[v] || f.trains_own(n)) && !n.is_detached;
  }
  return r;
}

/// What is recorded for an operator.
struct recipe {
  /// Its expressions, in order; null: it is a batch norm by the statistics of the batch, or no gradient flows.
  description const* as{};
  node const* of{};            ///< the first operator of the class, which `as` and fragments have the parameters of
  fragment const* forward{};   ///< of each expression, if there are several; of a batch norm: norm_part
  fragment const* gradients{};  ///< of operand k of expression i: gradient(i, k); of a batch norm: norm_gradient

  constexpr fragment const& gradient(int i, int k) const {
    return gradients[i * expression::index_expression::max_operands + k];
  }
};

/// The fragments of a batch norm by the statistics of the batch, and of its gradient.
enum norm_part { norm_mean, norm_variance, norm_factor, norm_summand, norm_result, norm_parts };
enum norm_gradient {
  norm_flow_sum,
  norm_centred_sum,
  norm_of_gamma,
  norm_slope,
  norm_shift,
  norm_of_value,
  norm_gradients
};

constexpr expression::definition kept_by_mask(expression::extents const& in) {
  using namespace expression;
  return compute("dropout", [&](operand x, operand mask) {
    var n, h, w, c;
    return result(n, h, w, c) = x(n, h, w, c) * mask(n, h, w, c);
  })(in, in);
}

/// One expression of an operator as an operator.
constexpr fragment_source source_of(description const& of, int i, char const* name) {
  fragment_source r{.name = name};
  expression::definition& d = r.as;
  expression::index_expression const& e = of.as.expressions[i];
  for (int k = 0; k < e.operand_count; ++k) {
    d.values[k].extents = e.operands[k];
    d.reads[0][k] = std::int16_t(k);
  }
  d.name = name;
  d.value_count = d.input_count = e.operand_count;
  d.expressions[0] = e;
  d.expression_count = 1;
  d.values[d.value_count] = {.role = expression::value_role::computed, .extents = e.result, .made_by = 0,
                             .is_detached = of.as.values[of.as.makes[i]].is_detached};
  d.makes[0] = std::int16_t(d.value_count);
  d.results[d.result_count++] = d.value_count++;
  return r;
}
/// Which of an operator's parameters its value v is; -1: it is none of them.
constexpr int parameter_number(expression::definition const& d, int v) {
  if (d.values[v].role != expression::value_role::parameter) return -1;
  int r = 0;
  for (int i = 0; i < v; ++i) r += d.values[i].role == expression::value_role::parameter;
  return r;
}
/// Says which inputs are parameters: those of expression i of an operator.
constexpr void set_parameters(fragment_source& to, description const& of, int i) {
  for (int v = 0; v < to.as.input_count; ++v) {
    bool const is_operand = v < of.as.expressions[i].operand_count;
    int const p = is_operand ? parameter_number(of.as, of.as.reads[i][v]) : -1;
    to.parameters[v] = p < 0 ? -1 : of.parameters[p];
    if (p >= 0) to.as.values[v].role = expression::value_role::parameter;
  }
}

/// The values of an operator that a gradient flows through.
struct value_flow {
  bool of[expression::definition::max_values]{};

  /// `given`: whether it does so for inputs and parameters.
  constexpr void follow(expression::definition const& d) {
    for (int i = 0; i < d.expression_count; ++i) {
      bool& made = of[d.makes[i]];
      for (int k = 0; k < d.expressions[i].operand_count; ++k) made = made || of[d.reads[i][k]];
      made = made && !d.values[d.makes[i]].is_detached;
    }
  }
};

/// The recipe for an operator of the description `Source::as`, where gradients flow through the inputs `Source::flow`.
template <class Source>
struct described_recipe {
  static constexpr description const& as = Source::as;
  static constexpr int most = expression::index_expression::max_operands, expressions = as.as.expression_count;
  static constexpr value_flow flow = [] {
    value_flow r = Source::flow;
    r.follow(as.as);
    return r;
  }();

  template <int I>
  static constexpr fragment_source expression_source = [] {
    fragment_source r = source_of(as, I, Source::name);
    set_parameters(r, as, I);
    return r;
  }();
  template <int I, int K>
  static constexpr fragment_source gradient_source = [] {
    fragment_source r{.as = expression::gradient_of(as.as.expressions[I], K), .name = "gradient"};
    set_parameters(r, as, I);
    return r;
  }();
  template <int I>
  static constexpr fragment expression_fragment() {
    if constexpr (Source::always_records || expressions > 1) return fragment_of<expression_source<I>>::value;
    else return {};
  }
  /// None where the gradient is 0.
  template <int I, int K>
  static constexpr fragment gradient_fragment() {
    if constexpr (K < as.as.expressions[I].operand_count) {
      if constexpr (flow.of[as.as.reads[I][K]] && flow.of[as.as.makes[I]]) {
        if constexpr (gradient_source<I, K>.as.bad.what != expression::fault::no_gradient)
          return fragment_of<gradient_source<I, K>>::value;
      }
    }
    return {};
  }

  template <int Count>
  struct list {
    fragment of[Count > 0 ? Count : 1]{};
  };
  static constexpr auto forward = []<int... I>(std::integer_sequence<int, I...>) {
    return list<expressions>{{expression_fragment<I>()...}};
  }(std::make_integer_sequence<int, expressions>());
  static constexpr auto gradients = []<int... J>(std::integer_sequence<int, J...>) {
    return list<expressions * most>{{gradient_fragment<J / most, J % most>()...}};
  }(std::make_integer_sequence<int, expressions * most>());
  static constexpr recipe value{&as, Source::of, forward.of, gradients.of};
};

/// A part of a batch norm. `parameter`: the input that is one, or -1; its offset.
constexpr fragment_source norm_source(expression::definition const& d, int parameter = -1, int offset = 0) {
  fragment_source r{.as = d, .name = "batch_norm"};
  for (int& p : r.parameters) p = -1;
  if (parameter >= 0) {
    r.parameters[parameter] = offset;
    r.as.values[parameter].role = expression::value_role::parameter;
  }
  return r;
}
/// The recipe for a batch norm of node n of a graph, by the statistics of the batch.
template <auto const& Graph, int U>
struct norm_recipe {
  static constexpr node const& n = Graph.nodes[U];
  static constexpr expression::extents in = described::extents_of(Graph.source(U).out);
  static constexpr double epsilon = double(n.alpha);

  static constexpr fragment_source mean = norm_source(training_norm::mean(in)),
                                   variance = norm_source(training_norm::variance(in)),
                                   factor = norm_source(training_norm::factor(in[3], epsilon), 1, n.norm),
                                   summand = norm_source(training_norm::summand(in[3]), 2, n.norm + in[3]),
                                   result = norm_source(training_norm::scaled(in)),
                                   flow_sum = norm_source(training_norm::flow_sum(in)),
                                   centred_sum = norm_source(training_norm::centred_sum(in)),
                                   of_gamma = norm_source(training_norm::of_gamma(in[3], epsilon)),
                                   slope = norm_source(training_norm::slope(in, epsilon)),
                                   shift = norm_source(training_norm::shift(in)),
                                   of_value = norm_source(training_norm::of_value(in));
  static constexpr fragment forward[norm_parts]{fragment_of<mean>::value, fragment_of<variance>::value,
                                                fragment_of<factor>::value, fragment_of<summand>::value,
                                                fragment_of<result>::value};
  static constexpr fragment gradients[norm_gradients]{fragment_of<flow_sum>::value, fragment_of<centred_sum>::value,
                                                      fragment_of<of_gamma>::value, fragment_of<slope>::value,
                                                      fragment_of<shift>::value,    fragment_of<of_value>::value};
  static constexpr recipe value{nullptr, &n, forward, gradients};
};

/// The recipes of a network, `Step::graph`, of which `Step::rows` are trained.
template <class Step>
struct recipes_of {
  static constexpr auto const& graph = Step::graph;
  static constexpr int nodes = graph.node_count;
  static constexpr gradient_flow flow{graph, Step::table, Step::rows};
  static constexpr auto classes = classes_of<nodes>(flow);

  template <int U>
  struct node_source {
    static constexpr node const* of = &graph.nodes[U];
    static constexpr bool always_records = is_dropout(*of);
    static constexpr char const* name = always_records ? "dropout" : name_of(of->kind);
    static constexpr description as = [] {
      if (!is_dropout(*of)) return description_of(graph, U);
      return description{.as = kept_by_mask(described::extents_of(of->out)), .exists = true};
    }();
    static constexpr value_flow flow = [] {
      value_flow r;
      for (int k = 0; k < as.as.input_count; ++k) r.of[k] = classes.operands[U] >> k & 1u;
      for (int v = 0; v < as.as.value_count; ++v) {
        int const p = parameter_number(as.as, v), offset = p < 0 ? -1 : as.parameters[p];
        if (p < 0) continue;
        bool const is_shift =
            of->shift >= 0 && offset >= of->shift && (of->weight < of->shift || offset < of->weight);
        bool const is_weight = !is_shift && of->weight >= 0 && offset >= of->weight;
        r.of[v] = (is_shift && classes.shift[U]) || (is_weight && classes.weight[U]);
      }
      return r;
    }();
  };
  struct loss_source {
    static constexpr node const* of = &graph.nodes[0];
    static constexpr bool always_records = true;
    static constexpr char const* name = "loss";
    static constexpr description as{.as = Step::loss, .exists = true};
    static constexpr value_flow flow = [] {
      value_flow r;
      r.of[0] = true;
      return r;
    }();
  };

  template <int U>
  static constexpr recipe const* at() {
    constexpr bool is_needed = U >= graph.input_count && classes.flows[U];
    if constexpr (!is_needed || classes.first[U] != U) return nullptr;
    else if constexpr (flow.takes_statistics(graph.nodes[U])) return &norm_recipe<graph, U>::value;
    else if constexpr (node_source<U>::as.exists) return &described_recipe<node_source<U>>::value;
    else return nullptr;
  }
  struct list {
    recipe const* of[nodes]{};
  };
  /// Of each node; null: the node is recorded as it is.
  static constexpr list all = [] {
    list r = []<int... U>(std::integer_sequence<int, U...>) {
      return list{{at<U>()...}};
    }(std::make_integer_sequence<int, nodes>());
    for (int v = 0; v < nodes; ++v) r.of[v] = r.of[classes.first[v]];
    return r;
  }();
  static constexpr recipe const& loss = described_recipe<loss_source>::value;
};

}  // namespace ago::detail
