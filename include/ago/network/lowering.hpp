// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a network to its graph. The network is traced twice, first for the sizes, then for the values; with names,
// three times (naming.hpp).
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/network/network.hpp>

#include <type_traits>
#include <utility>

namespace ago::lowering {

/// body(inputs[0], ..., inputs[N - 1])
template <int N, class Body, class... Tensors>
constexpr auto call(Body const& body, tensor const* inputs, Tensors... x) {
  if constexpr (sizeof...(x) == N) return body(x...);
  else return call<N>(body, inputs, x..., inputs[sizeof...(x)]);
}

constexpr tensor record_input(recorder& to, input const& in) {
  recording r(op::input, in.line, to);
  return r.append({.kind = op::input, .out = {r.positive(in.n), r.positive(in.h), r.positive(in.w), r.positive(in.c)}});
}

/// A channel-first input is transposed immediately, as part of the input's layer.
constexpr tensor record_layout(tensor x, input const& in) {
  if (in.layout == layout::nhwc) return x;
  return recording(x).append({.kind = op::from_nchw, .out = x.dims()}, x);
}

/// Outputs are distinct nodes and never inputs; the copy that this may require is recorded as an identity.
constexpr void record_output(recorder& to, tensor x) {
  if (x.recorder != &to) {
    recording(op::identity, 0, to).complain(ir::fault::tensor_of_another_network, 0, 0);
    x = {&to, to.nodes.size - 1};
  }
  bool copy = x.index < to.inputs;
  for (int i = 0; i < to.outputs.size; ++i) copy = copy || to.outputs[i] == x.index;
  if (copy) x = record_elementwise(x, line_of(x), {.kind = op::identity});
  to.outputs.push(x.index);
}

constexpr void record_outputs(recorder& to, tensor x) { record_output(to, x); }
template <int N>
constexpr void record_outputs(recorder& to, output_list<N> const& list) {
  for (tensor x : list.values) record_output(to, x);
}

template <class Body, int N>
constexpr void record(recorder& to, network_expression<Body, N> const& net) {
  tensor x[N];
  for (int i = 0; i < N; ++i) x[i] = record_input(to, net.inputs[i]);
  to.inputs = N;
  for (int i = 0; i < N; ++i) x[i] = record_layout(x[i], net.inputs[i]);
  record_outputs(to, call<N>(net.body, x));
}

/// Sizes of a graph and of its table of parameters.
struct graph_sizes {
  int nodes{}, edges{}, outputs{}, parameters{};
  int names{}, longest_name{};
  int expressions{};
};

template <class Body, int N>
constexpr graph_sizes measure(network_expression<Body, N> const& net) {
  recorder r;
  record(r, net);
  return {r.nodes.size,    r.edges.size,      r.outputs.size,        r.parameters.size,
          r.names.count(), r.names.longest(), r.expressions.all.size};
}

/// Copies what has been recorded into a graph, whose capacities suffice.
template <int V, int E, int O>
constexpr void copy_to(ir::graph<V, E, O>& g, recorder const& made) {
  for (int i = 0; i < made.nodes.size; ++i) g.nodes[i] = made.nodes[i];
  for (int i = 0; i < made.edges.size; ++i) g.edges[i] = made.edges[i];
  for (int i = 0; i < made.outputs.size; ++i) g.outputs[i] = made.outputs[i];
  g.node_count = made.nodes.size;
  g.edge_count = made.edges.size;
  g.output_count = made.outputs.size;
  g.input_count = made.inputs;
  g.parameters = int(made.floats);
  g.bad = made.bad;
}

template <int V, int E, int O, class Body, int N>
constexpr ir::graph<V, E, O> lower(network_expression<Body, N> const& net, char const* const* names,
                                   expression::index_expression const* const* expressions) {
  recorder r;
  r.names = naming(names);
  r.expressions.listed = expressions;
  record(r, net);
  ir::graph<V, E, O> g{};
  copy_to(g, r);
  return g;
}

template <class T>
inline constexpr bool can_be_traced = false;
template <class Body, int N>
inline constexpr bool can_be_traced<network_expression<Body, N>> = count_outputs<N, Body>() > 0;

template <class T>
constexpr bool can_be_copied(T) {
  return true;
}
template <auto const& Net>
concept is_constexpr = requires { typename std::bool_constant<can_be_copied(Net)>; };

/// The sizes of a network's graph; if `Net` cannot be traced, those of a graph with one input that is also the output.
template <auto const& Net>
struct traced {
  using type = std::remove_cvref_t<decltype(Net)>;
  static constexpr bool good = can_be_traced<type> && is_constexpr<Net>;
  static constexpr graph_sizes size = []() AGO_CONSTEVAL {
    if constexpr (good) return measure(Net);
    else return graph_sizes{.nodes = 1, .outputs = 1};
  }();
};

/// Names, of up to `Length` characters, and pointers to them.
template <int N, int Length>
struct name_rows {
  char names[N][Length + 1]{};
};
template <int N>
struct name_list {
  char const* names[N]{};
};

/// All names of a network, which can be traced and has some, in the order of tracing.
template <auto const& Net>
inline constexpr auto written_names = []() AGO_CONSTEVAL {
  name_rows<traced<Net>::size.names, traced<Net>::size.longest_name> written;
  char* rows[traced<Net>::size.names]{};
  for (int i = 0; i < traced<Net>::size.names; ++i) rows[i] = written.names[i];
  recorder r;
  r.names = naming(rows);
  record(r, Net);
  return written;
}();
template <auto const& Net>
inline constexpr auto listed_names = []() AGO_CONSTEVAL {
  name_list<traced<Net>::size.names> list;
  for (int i = 0; i < traced<Net>::size.names; ++i) list.names[i] = written_names<Net>.names[i];
  return list;
}();

/// All index expressions of a network that has some, in the order of tracing.
template <int N>
struct expression_rows {
  expression::index_expression all[N]{};
};
template <auto const& Net>
inline constexpr auto recorded_expressions = []() AGO_CONSTEVAL {
  expression_rows<traced<Net>::size.expressions> rows;
  recorder r;
  record(r, Net);
  for (int i = 0; i < traced<Net>::size.expressions; ++i) rows.all[i] = r.expressions.all[i];
  return rows;
}();
/// One of them, as an object of its own, whose address can be a template argument.
template <auto const& Net, int I>
inline constexpr expression::index_expression recorded_expression = recorded_expressions<Net>.all[I];

template <int N>
struct expression_pointers {
  expression::index_expression const* all[N]{};
};
template <auto const& Net>
inline constexpr auto listed_expressions = []<int... I>(std::integer_sequence<int, I...>) AGO_CONSTEVAL {
  return expression_pointers<int(sizeof...(I))>{{&recorded_expression<Net, I>...}};
}(std::make_integer_sequence<int, traced<Net>::size.expressions>());

/// Pointers to the expressions; null if there are none.
template <auto const& Net>
constexpr expression::index_expression const* const* expressions_of() {
  if constexpr (traced<Net>::size.expressions > 0) return listed_expressions<Net>.all;
  else return nullptr;
}

/// Pointers to the names; null if there are none.
template <auto const& Net>
constexpr char const* const* names_of() {
  if constexpr (traced<Net>::size.names > 0) return listed_names<Net>.names;
  else return nullptr;
}

/// The graph of a network as it was recorded, exactly sized. `value.bad` is the first misfit.
template <auto const& Net>
struct lowered {
  static constexpr auto value = []() AGO_CONSTEVAL {
    using traced = traced<Net>;
    constexpr graph_sizes size = traced::size;
    if constexpr (traced::good) {
      return lower<size.nodes, size.edges, size.outputs>(Net, names_of<Net>(), expressions_of<Net>());
    } else {
      // trace() has already refused a network whose body does not fit its inputs.
      ir::fault const what = !is_network<typename traced::type> ? ir::fault::not_a_network
                             : !is_constexpr<Net>               ? ir::fault::network_is_not_constexpr
                                                                : ir::fault::none;
      return ir::graph<1, 0>{.node_count = 1, .input_count = 1, .output_count = 1, .bad = {.what = what}};
    }
  }();
};

}  // namespace ago::lowering
