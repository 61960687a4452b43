// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a training step records for each operator of a network: its index expressions, and the gradients derived from
// them (NeoFlow, section 4.2), as fragments. Equal operators share a recipe.
#pragma once

#include <ago/expression/gradient.hpp>
#include <ago/ir/consteval.hpp>
#include <ago/layers/dropout.hpp>
#include <ago/learning/batch_norm.hpp>
#include <ago/learning/fragment.hpp>
#include <ago/learning/gradient_flow.hpp>
#include <ago/learning/shared_products.hpp>

#include <utility>

namespace ago::learning {

/// What is recorded for an operator.
struct recipe {
  /// Its expressions, in order; null: it is a batch norm by the statistics of the batch, or no gradient flows.
  described::description const* as{};
  node const* of{};             ///< the first operator of the class, which `as` and fragments have the parameters of
  fragment const* forward{};    ///< of each expression, if there are several; of a batch norm: norm_part
  fragment const* gradients{};  ///< of operand k of expression i: gradient(i, k); of a batch norm: norm_gradient

  constexpr fragment const& gradient(int i, int k) const {
    return gradients[i * expression::index_expression::max_operands + k];
  }
};

/// The fragments of a batch norm by the statistics of the batch, and of its gradient.
enum norm_part {
  norm_moments,
  norm_statistics,
  norm_mean,
  norm_variance,
  norm_factor,
  norm_summand,
  norm_result,
  norm_parts
};
enum norm_gradient {
  norm_flow_sums,
  norm_of_beta,
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
constexpr fragment_source source_of(described::description const& of, int i, char const* name) {
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
  d.values[d.value_count] = {.role = expression::value_role::computed,
                             .extents = e.result,
                             .made_by = 0,
                             .is_detached = of.as.values[of.as.makes[i]].is_detached};
  d.makes[0] = std::int16_t(d.value_count);
  d.results[d.result_count++] = d.value_count++;
  return r;
}
/// An operator none of whose inputs are parameters.
constexpr fragment_source without_parameters(expression::definition const& d, char const* name) {
  fragment_source r{.as = d, .name = name};
  for (int& p : r.parameters) p = -1;
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
constexpr void set_parameters(fragment_source& to, described::description const& of, int i) {
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

  /// From inputs and parameters, of which it is known, to what is computed.
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
  static constexpr described::description const& as = Source::as;
  static constexpr int most = expression::index_expression::max_operands, expressions = as.as.expression_count;
  static constexpr value_flow flow = []() AGO_CONSTEVAL {
    value_flow r = Source::flow;
    r.follow(as.as);
    return r;
  }();

  template <int I>
  static constexpr fragment_source expression_source = []() AGO_CONSTEVAL {
    fragment_source r = source_of(as, I, Source::name);
    set_parameters(r, as, I);
    return r;
  }();
  template <int I, int K>
  static constexpr fragment_source gradient_source = []() AGO_CONSTEVAL {
    fragment_source r{.as = expression::gradient_of(as.as.expressions[I], K), .name = "gradient"};
    if (expression::diagnostic& bad = r.as.bad; bad.what == expression::fault::too_large) {
      bad.what = expression::fault::gradient_too_large;
      bad.line = Source::line;
      r.as.name = as.as.name;
    }
    set_parameters(r, as, I);
    return r;
  }();
  template <int I>
  static AGO_CONSTEVAL fragment expression_fragment() {
    if constexpr (Source::always_records || expressions > 1) return fragment_of<expression_source<I>>::value;
    else return {};
  }
  /// None where the gradient is 0.
  template <int I, int K>
  static AGO_CONSTEVAL fragment gradient_fragment() {
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
  static constexpr auto forward = []<int... I>(std::integer_sequence<int, I...>) AGO_CONSTEVAL {
    return list<expressions>{{expression_fragment<I>()...}};
  }(std::make_integer_sequence<int, expressions>());
  static constexpr auto gradients = []<int... J>(std::integer_sequence<int, J...>) AGO_CONSTEVAL {
    return list<expressions * most>{{gradient_fragment<J / most, J % most>()...}};
  }(std::make_integer_sequence<int, expressions * most>());
  static constexpr recipe value{&as, Source::of, forward.of, gradients.of};
};

/// A part of a batch norm. `parameter`: the input that is one, or -1; its offset.
constexpr fragment_source norm_source(expression::definition const& d, int parameter = -1, int offset = 0) {
  fragment_source r = without_parameters(d, "batch_norm");
  if (parameter >= 0) {
    r.parameters[parameter] = offset;
    r.as.values[parameter].role = expression::value_role::parameter;
  }
  return r;
}
/// The recipe for a batch norm, node U of a graph, by the statistics of the batch. `Gate`: the activation after it
/// whose gradient is computed with the batch norm's; 0: none.
template <auto const& Graph, int U, int Gate>
struct norm_recipe {
  static constexpr node const& n = Graph.nodes[U];
  static constexpr expression::extents in = described::extents_of(Graph.source(U).out);
  static constexpr double epsilon = double(n.alpha);

  static constexpr fragment_source moments = norm_source(training_norm::moments(in)),
                                   statistics = norm_source(training_norm::statistics(in)),
                                   mean = norm_source(training_norm::one_of_two(0, in[3])),
                                   variance = norm_source(training_norm::one_of_two(1, in[3])),
                                   factor = norm_source(training_norm::factor(in[3], epsilon), 1, n.norm),
                                   summand = norm_source(training_norm::summand(in[3]), 2, n.norm + in[3]),
                                   result = norm_source(training_norm::scaled(in)),
                                   of_beta = norm_source(training_norm::one_of_two(0, in[3])),
                                   of_gamma = norm_source(training_norm::of_gamma(in[3], epsilon)),
                                   slope = norm_source(training_norm::slope(in, epsilon)),
                                   shift = norm_source(training_norm::shift(in));
  static constexpr expression::definition flow = []() AGO_CONSTEVAL {
    if constexpr (Gate == 0) return expression::definition{};
    else return training_norm::gated_flow(described::description_of(Graph, Gate).as, in);
  }();
  static_assert(Gate == 0 || (flow.bad.what == expression::fault::none && flow.input_count == 4),
                "an activation's gradient is one expression of its operand and its value's gradient");
  static constexpr fragment_source flow_sums = norm_source(Gate ? training_norm::gated_flow_sums(flow, in)
                                                                : training_norm::flow_sums(in)),
                                   of_value = norm_source(Gate ? training_norm::gated_of_value(flow, in)
                                                               : training_norm::of_value(in));
  static constexpr fragment forward[norm_parts]{fragment_of<moments>::value, fragment_of<statistics>::value,
                                                fragment_of<mean>::value,    fragment_of<variance>::value,
                                                fragment_of<factor>::value,  fragment_of<summand>::value,
                                                fragment_of<result>::value};
  static constexpr fragment gradients[norm_gradients]{fragment_of<flow_sums>::value, fragment_of<of_beta>::value,
                                                      fragment_of<of_gamma>::value,  fragment_of<slope>::value,
                                                      fragment_of<shift>::value,     fragment_of<of_value>::value};
  static constexpr recipe value{nullptr, &n, forward, gradients};
};

/// The recipes of a network, `Step::graph`, of which `Step::rows` are trained.
template <class Step>
struct recipes_of {
  static constexpr auto const& graph = Step::graph;
  static constexpr int nodes = graph.node_count;
  static constexpr gradient_flow flow{graph, Step::table, Step::rows};
  static constexpr auto classes = classes_of<nodes>(flow);
  static constexpr auto shared = shared_products_of<nodes>(flow, classes);

  template <int U>
  struct node_source {
    static constexpr node const* of = &graph.nodes[U];
    static constexpr char const* name = tracing::is_dropout(*of) ? "dropout" : name_of(of->kind);
    static constexpr int line = of->line;
    /// Layers of few rows read their weights where they are, and products of a user's expressions pack a panel of them
    /// when it is used: packing all of them ahead of each step takes longer.
    static constexpr bool always_records = tracing::is_dropout(*of) || of->weight_operand >= 0 ||
                                           ((of->kind != op::matmul || of->out.pixels() == 1) &&
                                            recognition::is_product_of_few_rows(*of, graph.source(U).out.c));
    static constexpr described::description as = []() AGO_CONSTEVAL {
      if (!tracing::is_dropout(*of)) return described::description_of(graph, U);
      return described::description{.as = kept_by_mask(described::extents_of(of->out)), .exists = true};
    }();
    static constexpr value_flow flow = []() AGO_CONSTEVAL {
      value_flow r;
      for (int k = 0; k < as.as.input_count; ++k) r.of[k] = classes.operands[U] >> k & 1u;
      for (int v = 0; v < as.as.value_count; ++v) {
        int const p = parameter_number(as.as, v);
        if (p >= 0) r.of[v] = classes.parameters[U] >> parameter_at(*of, as.parameters[p]) & 1u;
      }
      return r;
    }();
  };
  struct loss_source {
    static constexpr node const* of = &graph.nodes[0];
    static constexpr bool always_records = true;
    static constexpr char const* name = "loss";
    static constexpr int line = 0;
    static constexpr described::description as{.as = Step::loss, .exists = true};
    static constexpr value_flow flow = []() AGO_CONSTEVAL {
      value_flow r;
      r.of[0] = true;
      return r;
    }();
  };

  template <int U>
  static AGO_CONSTEVAL recipe const* at() {
    constexpr bool is_needed = U >= graph.input_count && classes.flows[U] && !flow.gates.is_gate[U];
    if constexpr (!is_needed || classes.first[U] != U) return nullptr;
    else if constexpr (flow.takes_statistics(graph.nodes[U])) return &norm_recipe<graph, U, flow.gates.after[U]>::value;
    else if constexpr (node_source<U>::as.exists) return &described_recipe<node_source<U>>::value;
    else return nullptr;
  }
  /// Product U, which others share the matrix of: the gradient of that, for the rows of all, and what is by the turned
  /// matrix.
  template <int U>
  struct shared_source {
    static constexpr node const& n = graph.nodes[U];
    static constexpr bool is_turned = n.out.pixels() > 1 && (n.transposed || (classes.operands[classes.first[U]] & 1u));

    static constexpr fragment_source of_matrix = []() AGO_CONSTEVAL {
      node all = n;
      all.out = {1, 1, int(n.out.pixels()) * shared.count[U], n.out.c};
      expression::extents const in[] = {expression::extents(1, 1, all.out.w, graph.source(U).out.c),
                                        described::extents_of(graph.source(U, 1).out)};
      return without_parameters(expression::gradient_of(described::description_of(all, in).as.expressions[0], 1),
                                "gradient");
    }();
    static constexpr fragment_source by_turned = []() AGO_CONSTEVAL {
      node turned = n;
      turned.transposed = !n.transposed;
      shape const& matrix = graph.source(U, 1).out;
      expression::extents const in[] = {described::extents_of(graph.source(U).out),
                                        expression::extents(1, 1, matrix.c, matrix.w)};
      described::description const as = described::description_of(turned, in);
      if (n.transposed) return without_parameters(source_of(as, 0, "matmul").as, "matmul");
      return without_parameters(expression::gradient_of(as.as.expressions[0], 0), "gradient");
    }();
  };
  template <int U>
  static AGO_CONSTEVAL fragment gradient_of_matrix() {
    if constexpr (shared.count[U] > 1) return fragment_of<shared_source<U>::of_matrix>::value;
    else return {};
  }
  template <int U>
  static AGO_CONSTEVAL fragment by_turned() {
    if constexpr (shared.count[U] > 1) {
      if constexpr (shared_source<U>::is_turned) return fragment_of<shared_source<U>::by_turned>::value;
    }
    return {};
  }
  static constexpr auto of_shared = []<int... U>(std::integer_sequence<int, U...>) AGO_CONSTEVAL {
    return shared_fragments<nodes>{{gradient_of_matrix<U>()...}, {by_turned<U>()...}};
  }(std::make_integer_sequence<int, nodes>());

  struct list {
    recipe const* of[nodes]{};
  };
  /// Of each node; null: the node is recorded as it is.
  static constexpr list all = []() AGO_CONSTEVAL {
    list r = []<int... U>(std::integer_sequence<int, U...>)
                 AGO_CONSTEVAL { return list{{at<U>()...}}; }(std::make_integer_sequence<int, nodes>());
    for (int v = 0; v < nodes; ++v) r.of[v] = r.of[classes.first[v]];
    return r;
  }();
  static constexpr recipe const& loss = described_recipe<loss_source>::value;
};

}  // namespace ago::learning
