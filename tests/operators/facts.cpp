// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What follows from the description of an operator agrees with what the tables of graph/ and partition/ say about it,
// but for the differences that are listed here with their reasons. For a sample of each operator, this file does not
// compile if it does not, or if an operator has neither a description nor a place among the opaque ones.
#include <ago/operators/facts.hpp>
#include <ago/partition/apollo.hpp>
#include <ago/partition/pattern.hpp>
#include <ago/passes/value_bounds.hpp>
#include <ago/plan/account.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "reference/builder.hpp"
#include "samples.hpp"

using namespace ago::expression;
using ago::op;

namespace {

/// Every operator, of ordinary extents.
struct all_operators : reference::builder {
  all_operators() {
    int const x = input({2, 6, 8, 4}), other = input({2, 6, 8, 4});
    int const gate = input({2, 1, 1, 4}), ids = input({2, 6, 8, 1}), wide = input({2, 6, 4, 5});
    unary(op::identity, x);  // operators that read no input of the network
    int const y = graph.node_count - 1;
    ago::ir::window const window{.kernel_h = 3,
                                 .kernel_w = 3,
                                 .stride_h = 2,
                                 .stride_w = 1,
                                 .dilation_w = 2,
                                 .pad_top = 1,
                                 .pad_left = 2,
                                 .pad_bottom = 1,
                                 .pad_right = 2};
    ago::ir::window const plain{.kernel_h = 3, .kernel_w = 2};
    convolution(op::conv2d, y, 6, window);
    convolution(op::conv2d, y, 6, plain, 2);
    convolution(op::depthwise, y, 4, window);
    convolution(op::depthwise, y, 4, plain);
    convolution(op::pointwise, y, 7);
    convolution(op::linear, y, 7);
    matmul(y, wide), matmul(y, other, true, .5f);
    ago::ir::patch const patch{2, 2};
    int const scores = attention_scores(y, other, 2), patches = attention_scores(y, other, 2, patch);
    attention_values(scores, other, shape(y)), attention_values(patches, other, shape(y), patch);
    bias(y), batch_norm(y), positions(y), scale(y), prelu(y, false);
    for (int k = int(op::relu); k < int(op::map); ++k) unary(op(k), y, -.5f, .5f);
    for (int k = int(op::add); k <= int(op::power); ++k) binary(op(k), y, other), binary(op(k), y, gate);
    ago::ir::window const pooling{
        .kernel_h = 3, .kernel_w = 2, .stride_h = 2, .stride_w = 2, .pad_top = 1, .pad_bottom = 1};
    for (op const kind : {op::max_pool, op::avg_pool})
      for (bool const count_pads : {false, true}) pool(kind, y, pooling, 3, 4, count_pads);
    global_pool(op::global_max_pool, y), global_pool(op::global_avg_pool, y);
    unary(op::softmax, y), layer_norm(y);
    for (int k = int(op::reduce_sum); k <= int(op::reduce_product); ++k)
      for (int const along : {8, 6, 1, 15}) reduce(op(k), y, along);
    concat({y, other}), concat({y, other}, 1);
    slice(y, 3, 1, 2), slice(y, 1, 5, 6, -1), slice(y, 2, 0, 4, 2);
    append({.kind = op::channel_shuffle, .out = shape(y), .groups = 2}, {y});
    append({.kind = op::reshape, .out = {2, 1, 48, 4}}, {y});
    append({.kind = op::reshape, .out = {2, 4, 6, 8}}, {y});
    append({.kind = op::permute, .out = {2, 8, 6, 4}, .order = {0, 2, 1, 3}}, {y});
    append({.kind = op::permute, .out = {4, 6, 8, 2}, .order = {3, 1, 2, 0}}, {y});
    int const unfolded = append({.kind = op::unfold, .out = {8, 1, 12, 4}, .patch = patch}, {y});
    append({.kind = op::fold, .out = shape(y), .patch = patch}, {unfolded});
    append({.kind = op::pad, .out = {2, 8, 9, 4}, .win = {.pad_top = 1, .pad_left = 1, .pad_bottom = 1}}, {y});
    append({.kind = op::expand, .out = shape(y)}, {gate});
    append({.kind = op::resize_nearest, .out = {2, 12, 16, 4}}, {y});
    embedding(ids, 9, 4);
    append({.kind = op::from_nchw, .out = shape(y)}, {y});
    append({.kind = op::to_nchw, .out = shape(y)}, {y});
    output(graph.node_count - 1);
  }
};

/// Calls f(v, node, definition) for each operator.
void for_each_operator(reference::run_time_graph const& g, auto const& f) {
  for (int v = g.input_count; v < g.node_count; ++v) {
    auto const d = ago::described::description_of(g, v);
    REQUIRE(d.exists);
    CAPTURE(v);
    CAPTURE(std::string(name_of(g.nodes[v].kind)));
    REQUIRE(d.as.bad.what == fault::none);
    f(v, g.nodes[v], d.as);
  }
}

/// Operators, by name so that they can be read in reports.
struct differences {
  std::set<std::string> names;
  differences(std::initializer_list<op> all = {}) {
    for (op const kind : all) insert(kind);
  }
  void insert(op kind) { names.insert(name_of(kind)); }
  bool contains(op kind) const { return names.contains(name_of(kind)); }
  bool operator==(differences const&) const = default;
  friend doctest::String toString(differences const& d) {
    std::string r;
    for (std::string const& n : d.names) r += n + " ";
    return r.c_str();
  }
};

/// Operators without a description: an operand of the network, and a user's code.
constexpr bool is_opaque(op kind) { return kind == op::input || kind == op::map; }

/// What the class of an operator follows from: some have classes of their own by name.
constexpr ago::ir::op_class general(op kind) {
  using enum ago::ir::op_class;
  ago::ir::op_class const c = class_of(kind);
  if (kind == op::arg_max) return norm;
  return c == global_pool ? reduction : c == layout ? movement : c == contraction ? value_product : c;
}

/// How many of the loops have the given extent.
template <class Loops>
constexpr int with_extent(Loops const& l, int extent) {
  int r = 0;
  for (int i = 0; i < l.count; ++i) r += l.extent[i] == extent;
  return r;
}
template <class Loops, class Others>
constexpr bool has_loops(Loops const& l, Others const& others) {
  bool r = true;
  for (int i = 0; i < l.count; ++i)
    r &= l.extent[i] == 1 || with_extent(l, l.extent[i]) == with_extent(others, l.extent[i]);
  return r && l.points() == others.points();
}

template <op Kind>
struct facts_agree {
  static constexpr auto g = operators_test::sample_of(Kind);
  static constexpr int v = g.node_count - 1;
  static constexpr ago::described::description d = ago::described::description_of(g, v);
  static constexpr ago::ir::op_class of = class_of(Kind);

  static_assert(d.exists != is_opaque(Kind), "the operator needs a description, or a place among the opaque ones");

  static constexpr bool check() {
    if constexpr (d.exists && of != ago::ir::op_class::nest) {  // a nest has no facts of its own
      constexpr bool is_complex = ago::ir::is_complex(Kind), is_elementwise = ago::ir::is_elementwise(Kind);
      static_assert(ago::described::class_of(d.as) == general(Kind));
      static_assert(is_complex == ago::expression::is_complex(d.as.expressions[0]) || d.as.expression_count > 1);
      static_assert(is_elementwise ==
                    (d.as.expression_count == 1 && ago::expression::is_elementwise(d.as.expressions[0])));
      // TVM goes by the names of global pooling, of arg_max, which takes two folds, and of constants.
      constexpr bool kind_by_name =
          of == ago::ir::op_class::global_pool || Kind == op::arg_max || of == ago::ir::op_class::constant;
      static_assert(kind_by_name || int(kind_of(d.as)) == int(ago::partition::pattern_of(Kind)));
      // As do Apollo's types: see the test of all operators below.
      constexpr bool type_by_name = Kind == op::pointwise || Kind == op::attention_scores ||
                                    Kind == op::attention_values || of == ago::ir::op_class::constant;
      static_assert(type_by_name || int(dataflow_of(d.as)) == int(ago::partition::apollo_type_of(g, v)));
      // The pixels of a linear layer are one loop, and attention's are those of its tokens.
      if constexpr (Kind == op::linear || Kind == op::attention_values)
        static_assert(loops_of(d.as).points() == ago::partition::loops_of(g, v).points());
      else static_assert(has_loops(loops_of(d.as), ago::partition::loops_of(g, v)));
      static_assert(multiply_adds(d.as) == ago::partition::multiply_adds(g, v));
      static_assert(ago::described::weight_bytes(d.as) == ago::partition::weight_bytes(g, v));
      // A batch norm is a product and a sum with constants; a constant is one.
      constexpr int constants = Kind == op::batch_norm ? 2 : Kind == op::constant ? 0 : d.parameter_count;
      static_assert(constants == ago::partition::constants_of(Kind));
    }
    return true;
  }
  static_assert(check());
};

template <int... K>
constexpr bool all_agree(std::integer_sequence<int, K...>) {
  return (facts_agree<op(K)>::check() && ...);
}
static_assert(all_agree(std::make_integer_sequence<int, ago::ir::operator_count>()));

}  // namespace

TEST_CASE("AGO's classes") {
  all_operators const all;
  for_each_operator(all.graph, [](int, ago::ir::node const& n, definition const& d) {
    bool complex = false;
    for (int i = 0; i < d.expression_count; ++i) complex |= is_complex(d.expressions[i]);
    CHECK(complex == ago::ir::is_complex(n.kind));
    CHECK((d.expression_count == 1 && is_elementwise(d.expressions[0])) == ago::ir::is_elementwise(n.kind));
  });
}

TEST_CASE("TVM's kinds, of operators and of their operands") {
  all_operators const all;
  differences seen;
  auto const patterns = ago::partition::patterns_of(all.graph, ago::partition::dag_of(all.graph));
  int edge = 0;
  for_each_operator(all.graph, [&](int v, ago::ir::node const& n, definition const& d) {
    if (int(kind_of(d)) != int(ago::partition::pattern_of(n.kind))) seen.insert(n.kind);
    for (int k = 0; k < n.input_count; ++k) {
      if (all.graph.operand(v, k) < all.graph.input_count) continue;
      ago::partition::pattern const expected = patterns.edge[edge++];
      if (d.expression_count > 1 || seen.contains(n.kind)) continue;
      for (int a = 0; a < d.expressions[0].body.access_count; ++a)
        if (int const o = d.expressions[0].body.accesses[a].operand; o >= 0 && d.reads[0][o] == k)
          CHECK(int(kind_of(d.expressions[0], a)) == int(expected));
    }
  });
  // Global pooling is registered as accepting elementwise operators; its expression is that of a reduction.
  CHECK(seen == differences{op::global_max_pool, op::global_avg_pool});
}

TEST_CASE("Apollo's types") {
  all_operators const all;
  differences seen;
  for_each_operator(all.graph, [&](int v, ago::ir::node const& n, definition const& d) {
    if (int(dataflow_of(d)) != int(ago::partition::apollo_type_of(all.graph, v))) seen.insert(n.kind);
  });
  // Convolution or matrix product: Apollo's rules treat both alike, and the names decide today. A pointwise convolution
  // has no window; in attention, heads share a dimension with their channels, as windows do with their positions.
  CHECK(seen == differences{op::pointwise, op::attention_scores, op::attention_values});
}

TEST_CASE("what only moves elements") {
  all_operators const all;
  differences moving, copying, reading_once;
  for_each_operator(all.graph, [&](int, ago::ir::node const& n, definition const& d) {
    index_expression const& e = d.expressions[0];
    if (moves_elements(n.kind)) {
      CHECK(moves(e));
      // A reshape whose extents do not divide one another has quotients that digits do not resolve.
      if (reads_once(e, 0)) reading_once.insert(n.kind);
    } else if (d.expression_count == 1) {
      if (moves(e)) moving.insert(n.kind);
      else if (copies(e)) copying.insert(n.kind);
    }
  });
  // They move elements, too, but have classes of their own, because they repeat them or are treated apart.
  CHECK(moving == differences{op::expand, op::resize_nearest, op::embedding, op::identity, op::from_nchw, op::to_nchw});
  CHECK(copying == differences{op::pad});
  CHECK(reading_once == differences{op::slice, op::channel_shuffle, op::reshape, op::permute, op::unfold, op::fold});
}

TEST_CASE("bounds of values are those of the table, or tighter where the table has no rule") {
  all_operators const all;
  differences tighter;
  double const huge = __builtin_huge_val();
  for (ago::passes::value_bounds const of_operand :
       {ago::passes::value_bounds{}, ago::passes::value_bounds{0, 3}, ago::passes::value_bounds{-1, 2}}) {
    bounds const given{of_operand.lower, of_operand.upper};
    for_each_operator(all.graph, [&](int v, ago::ir::node const& n, definition const& d) {
      std::vector<ago::passes::value_bounds> known(std::size_t(all.graph.node_count), of_operand);
      ago::passes::value_bounds const expected = ago::passes::bounds_of(all.graph, known.data(), v);
      std::vector<bounds> operands;
      for (int k = 0; k < d.value_count; ++k)
        if (d.values[k].role != value_role::computed)
          operands.push_back(d.values[k].role == value_role::input ? given : bounds{-huge, huge});
      bounds const got = bounds_of(d, operands.data(), arithmetic::rounded);
      CHECK(got.within({expected.lower, expected.upper}));
      CHECK(bounds_of(d, operands.data(), arithmetic::exact).within(got));
      if (!(got == bounds{expected.lower, expected.upper})) tighter.insert(n.kind);
    });
  }
  // The table has no rules for these: signs of products, quotients and functions, comparisons, extrema, broadcasts.
  CHECK(tighter == differences{op::matmul,
                               op::attention_scores,
                               op::attention_values,
                               op::prelu,
                               op::hard_swish,
                               op::silu,
                               op::gelu,
                               op::gelu_tanh,
                               op::tanh,
                               op::div,
                               op::maximum,
                               op::minimum,
                               op::less,
                               op::power,
                               op::reduce_sum,
                               op::reduce_mean,
                               op::reduce_max,
                               op::reduce_min,
                               op::reduce_product,
                               op::expand});
}

TEST_CASE("the axes of the result that an operand lacks") {
  all_operators const all;
  for_each_operator(all.graph, [](int, ago::ir::node const& n, definition const& d) {
    index_expression const& e = d.expressions[0];
    if (n.kind == op::conv2d && n.groups == 1) CHECK(lacks(e, 0) == 8u);  // each output channel reads all of x
    if (n.kind == op::depthwise) CHECK(lacks(e, 0) == 0u);
    if (n.kind == op::pointwise) CHECK((lacks(e, 0) == 8u && lacks(e, 1) == 7u));
  });
}
