// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Properties of the passes on random graphs, at run time: meaning, order, idempotence, completeness.
#include <ago/passes/passes.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;

namespace {

using random_graph = graph<64, 192, 5>;

/// Valid graphs with many opportunities for the passes: identities, equal operators, batch norms, dead ends.
class maker {
 public:
  explicit maker(unsigned seed) : random_(seed) {}

  random_graph make() {
    g_ = {};
    g_.input_count = 1 + pick(2);
    for (int i = 0; i < g_.input_count; ++i) add({.kind = op::input, .out = extents}, {});
    int const size = g_.input_count + 1 + pick(58);
    while (g_.node_count < size) add_operator();
    while (g_.output_count < 5 && (g_.output_count == 0 || pick(2))) add_output();
    return g_;
  }

 private:
  static constexpr shape extents{1, 1, 1, 4};

  int pick(int n) { return int(random_() % unsigned(n)); }
  /// A value, usually a recent one, so that chains form.
  int value() {
    int const all = g_.node_count;
    return pick(3) ? all - 1 - pick(all < 3 ? all : 3) : pick(all);
  }
  int add(node n, std::initializer_list<int> operands) {
    n.input_first = g_.edge_count;
    n.input_count = int(operands.size());
    for (int u : operands) g_.edges[g_.edge_count++] = u;
    g_.nodes[g_.node_count] = n;
    return g_.node_count++;
  }
  /// Sometimes parameters are shared, as imported graphs may do.
  int place(int floats) {
    int const at = pick(4) ? g_.parameters : 0;
    g_.parameters += floats;
    return at;
  }
  void add_operator() {
    int const x = value();
    node n{.kind = op::identity, .out = extents};
    switch (pick(10)) {
      case 0:
      case 1:
        n.kind = pick(2) ? op::pointwise : op::linear;
        n.weight = place(16);
        break;
      case 2:
        n.kind = op::bias;
        n.shift = place(4);
        break;
      case 3:
      case 4:
        n.kind = op::batch_norm;
        n.norm = place(16);
        n.alpha = 1e-5f;
        break;
      case 5: n.kind = pick(2) ? op::relu : op::sigmoid; break;
      case 6: n.kind = pick(2) ? op::global_avg_pool : op::max_pool; break;  // of one pixel: identities
      case 7: break;
      default:
        n.kind = pick(2) ? op::add : op::mul;
        add(n, {x, value()});
        return;
    }
    add(n, {x});
  }
  /// As the front end does it: outputs are distinct nodes, and no inputs.
  void add_output() {
    for (int tries = 0; tries < 50; ++tries) {
      int const v = tries ? g_.input_count + pick(g_.node_count - g_.input_count) : g_.node_count - 1;
      bool fresh = true;
      for (int i = 0; i < g_.output_count; ++i) fresh = fresh && g_.outputs[i] != v;
      if (!fresh) continue;
      g_.outputs[g_.output_count++] = v;
      return;
    }
  }

  std::mt19937 random_;
  random_graph g_;
};

/// What a graph computes, as one number for each output: equal expressions over inputs and parameters have equal
/// numbers, however the graph spells them. A folded batch norm means what an explicit one means.
class meaning {
 public:
  explicit meaning(random_graph const& g) : g_(g), of_(std::size_t(g.node_count)) {
    for (int v = 0; v < g.node_count; ++v) of_[std::size_t(v)] = evaluate(v);
  }
  std::vector<std::uint64_t> outputs() const {
    std::vector<std::uint64_t> all;
    for (int i = 0; i < g_.output_count; ++i) all.push_back(of_[std::size_t(g_.outputs[i])]);
    return all;
  }

 private:
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15;
    return a ^ (a >> 29);
  }
  static std::uint64_t expression(op kind, int parameter, std::uint64_t x, std::uint64_t y = 0) {
    return mix(mix(mix(mix(17, std::uint64_t(kind)), std::uint64_t(parameter + 1)), x), y);
  }
  std::uint64_t operand(int v, int k = 0) const { return of_[std::size_t(g_.operand(v, k))]; }

  std::uint64_t evaluate(int v) const {
    node const& n = g_.nodes[v];
    switch (n.kind) {
      case op::input: return expression(op::input, v, 0);
      case op::identity:
      case op::global_avg_pool:
      case op::max_pool: return operand(v);
      case op::bias: {
        // The convolution before a folded bias has been scaled; only both together mean something.
        std::uint64_t const shifted = n.shift < 0 ? operand(v) : expression(op::bias, n.shift, operand(v));
        if (n.norm < 0) return shifted;
        int const conv = g_.operand(v);
        REQUIRE(has_weights(g_.nodes[conv].kind));
        REQUIRE(g_.nodes[conv].norm == n.norm);
        REQUIRE(g_.nodes[conv].alpha == n.alpha);
        return expression(op::batch_norm, n.norm, shifted);
      }
      case op::batch_norm: return expression(op::batch_norm, n.norm, operand(v));
      case op::add:
      case op::mul: {
        std::uint64_t const a = operand(v, 0), b = operand(v, 1);
        return expression(n.kind, -1, a < b ? a : b, a < b ? b : a);
      }
      default:
        if (n.norm >= 0) check_folded(v);
        return expression(n.kind, n.weight, operand(v));
    }
  }
  /// A scaled convolution is read by its bias alone, and is no output.
  void check_folded(int v) const {
    int readers = 0;
    for (int u = 0; u < g_.node_count; ++u)
      for (int k = 0; k < g_.nodes[u].input_count; ++k)
        if (g_.operand(u, k) == v) {
          ++readers;
          REQUIRE(g_.nodes[u].kind == op::bias);
          REQUIRE(g_.nodes[u].norm == g_.nodes[v].norm);
        }
    REQUIRE(readers == 1);
    for (int i = 0; i < g_.output_count; ++i) REQUIRE(g_.outputs[i] != v);
  }

  random_graph const& g_;
  std::vector<std::uint64_t> of_;
};

void check_valid(random_graph const& g, random_graph const& original) {
  REQUIRE(g.input_count == original.input_count);
  REQUIRE(g.output_count == original.output_count);
  REQUIRE(g.parameters == original.parameters);
  int edges = 0;
  for (int v = 0; v < g.node_count; ++v) {
    REQUIRE((g.nodes[v].kind == op::input) == (v < g.input_count));
    REQUIRE(g.nodes[v].input_first == edges);
    for (int k = 0; k < g.nodes[v].input_count; ++k) {
      REQUIRE(g.operand(v, k) >= 0);
      REQUIRE(g.operand(v, k) < v);
    }
    edges += g.nodes[v].input_count;
  }
  REQUIRE(g.edge_count == edges);
  for (int i = 0; i < g.output_count; ++i) {
    REQUIRE(g.outputs[i] >= g.input_count);
    REQUIRE(g.outputs[i] < g.node_count);
    for (int j = 0; j < i; ++j) REQUIRE(g.outputs[i] != g.outputs[j]);
  }
}

bool equal(random_graph const& a, random_graph const& b) {
  if (a.node_count != b.node_count || a.edge_count != b.edge_count) return false;
  for (int v = 0; v < a.node_count; ++v) {
    node const &x = a.nodes[v], &y = b.nodes[v];
    if (x.kind != y.kind || x.norm != y.norm || x.shift != y.shift || x.weight != y.weight) return false;
  }
  for (int e = 0; e < a.edge_count; ++e)
    if (a.edges[e] != b.edges[e]) return false;
  for (int i = 0; i < a.output_count; ++i)
    if (a.outputs[i] != b.outputs[i]) return false;
  return true;
}

using pass = random_graph (*)(random_graph);
constexpr pass all_passes[] = {dead_code<64, 192, 5>, remove_identities<64, 192, 5>, common_subexpressions<64, 192, 5>,
                               fold_batch_norm<64, 192, 5>};

}  // namespace

TEST_CASE("every pass keeps a graph's meaning and form, in any order, and changes nothing when run again") {
  int smaller[4]{};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    random_graph const original = maker(seed).make();
    check_valid(original, original);
    auto const expected = meaning(original).outputs();
    random_graph g = original;
    std::mt19937 random(seed);
    for (int i = 0; i < 12; ++i) {
      unsigned const which = random() % 4;
      CAPTURE(which);
      random_graph const once = all_passes[which](g);
      check_valid(once, original);
      REQUIRE(meaning(once).outputs() == expected);
      REQUIRE(equal(all_passes[which](once), once));
      smaller[which] += once.node_count < g.node_count;
      g = once;
    }
  }
  for (int count : smaller) CHECK(count > 50);
}

TEST_CASE("one round of all passes is complete") {
  int folded = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    random_graph const original = maker(seed).make();
    random_graph const g = optimize(original, algebra::literal);
    check_valid(g, original);
    REQUIRE(meaning(g).outputs() == meaning(original).outputs());
    for (pass p : all_passes) REQUIRE(equal(p(g), g));
    for (int v = 0; v < g.node_count; ++v) folded += has_weights(g.nodes[v].kind) && g.nodes[v].norm >= 0;
  }
  CHECK(folded > 1000);
}

TEST_CASE("after the passes no two operators compute the same, except copies of outputs") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    random_graph const g = optimize(maker(seed).make());
    for (int a = g.input_count; a < g.node_count; ++a) {
      if (g.nodes[a].kind == op::identity) {
        int const source = g.operand(a);
        bool is_output = false, source_is_taken = source < g.input_count;
        for (int i = 0; i < g.output_count; ++i) {
          is_output = is_output || g.outputs[i] == a;
          source_is_taken = source_is_taken || g.outputs[i] == source;
        }
        REQUIRE(is_output);
        REQUIRE(source_is_taken);
        continue;
      }
      for (int b = g.input_count; b < a; ++b) {
        node const &x = g.nodes[a], &y = g.nodes[b];
        bool const equal_operators = x.kind == y.kind && x.weight == y.weight && x.shift == y.shift && x.norm == y.norm;
        bool equal_operands = x.input_count == y.input_count;
        for (int k = 0; equal_operands && k < x.input_count; ++k) equal_operands = g.operand(a, k) == g.operand(b, k);
        REQUIRE_FALSE((equal_operators && equal_operands));
      }
    }
  }
}
