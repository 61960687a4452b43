// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NeoFlow's greedy fusion: decisions derived by hand, and random networks compared with a plain implementation.
#include "random_network.hpp"
#include "support/rounds.hpp"

#include <ago/partition/fault.hpp>
#include <ago/partition/policy.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>

namespace {

using ago::op;
using builder = test::builder<32, 48, 6>;
using kernel_list = std::vector<std::vector<int>>;
constexpr ago::shape image{1, 4, 4, 8}, pixel{1, 1, 1, 8};  // an image has 128 elements, T = 512 bytes

/// A quarter cycle for each byte, and for each operation.
constexpr ago::device machine(int function_operations, int step_start, int line = 64) {
  ago::device d;
  d.line_from_memory = line;
  d.multiply_adds = 4;
  d.function_operations = function_operations;
  d.step_start = step_start;
  return d;
}

/// The operators of each kernel, first one first, in the order of their results.
template <int V, int E, int O>
kernel_list lists_of(ago::ir::graph<V, E, O> const& g, ago::partition::kernel_paths<V> const& k) {
  kernel_list r;
  for (int end = g.input_count; end < g.node_count; ++end) {
    std::vector<int> path;
    for (int v = k.stored[end] ? end : -1; v >= 0; v = k.before[v]) path.insert(path.begin(), v);
    if (!path.empty()) r.push_back(path);
  }
  return r;
}
kernel_list fused(builder const& b, ago::device const& on = machine(1, 1)) {
  return lists_of(b.g, neoflow_kernels(b.g, on));
}

TEST_CASE("Eq. (4): bytes, operations and starts of steps") {
  constexpr ago::device d = machine(1, 10);  // in units of 1 / 256 quarter cycles
  static_assert(reward_of({1, 0, 0}, d) == 256);
  static_assert(reward_of({0, -1, 0}, d) == -256);
  static_assert(reward_of({0, 0, 1}, d) == 2560);
  static_assert(reward_of({6, -5, 0}, machine(1, 10, 32)) == -512);
}

// With r readers, a producer that reads A and is computed in each of them saves (r + 1) T - (r - 1) A bytes, at r - 1
// times its operations. Here T = A = 512 bytes, and r = 2; a tanh has 128 times `function_operations` operations.
TEST_CASE("a producer with two readers is computed in both if what is not moved is worth more") {
  builder b;
  int const x = b.input(image), y = b.input(image), z = b.input(image), w = b.input(image);
  kernel_list const apart{{4}, {5}, {6}}, again{{4, 5}, {4, 6}};
  SUBCASE("One + One: 3 T - T = 1024 bytes") {
    int const p = b.unary(op::tanh, x);
    b.output(b.unary(op::relu, p));
    b.output(b.unary(op::relu6, p));
    CHECK(fused(b, machine(7, 0)) == again);       // 1024 - 896
    CHECK(fused(b, machine(8, 0)) == apart);       // 0
    CHECK(fused(b, machine(8, 1)) == again);       // 1
    CHECK(fused(b, machine(8, 1, 63)) == apart);   // 1008 - 1024 + 1
    CHECK(fused(b, machine(8, 17, 63)) == again);  // 1
  }
  SUBCASE("One + Many: likewise, whatever else the readers read") {
    int const p = b.unary(op::tanh, x);
    b.output(b.binary(op::add, p, z));
    b.output(b.binary(op::sub, w, p));
    CHECK(fused(b, machine(7, 0)) == again);
    CHECK(fused(b, machine(8, 0)) == apart);
  }
  SUBCASE("Many + One: 3 T - 2 T = 512 bytes") {
    int const p = b.binary(op::power, x, y);
    b.output(b.unary(op::relu, p));
    b.output(b.unary(op::relu6, p));
    CHECK(fused(b, machine(3, 0)) == again);  // 512 - 384
    CHECK(fused(b, machine(4, 0)) == apart);  // 0
    CHECK(fused(b, machine(4, 1)) == again);
  }
  SUBCASE("Many + Many: likewise") {
    int const p = b.binary(op::power, x, y);
    b.output(b.binary(op::add, p, z));
    b.output(b.binary(op::mul, p, w));
    CHECK(fused(b, machine(3, 0)) == again);
    CHECK(fused(b, machine(4, 0)) == apart);
  }
  SUBCASE("Many + Many, where a reader reads an operand anyway: 1024 bytes") {
    int const p = b.binary(op::power, x, y);
    b.output(b.binary(op::add, p, z));
    b.output(b.binary(op::mul, p, x));
    CHECK(fused(b, machine(7, 0)) == again);
    CHECK(fused(b, machine(8, 0)) == apart);
  }
  SUBCASE("without permission to compute again") {
    int const p = b.unary(op::tanh, x);
    b.output(b.unary(op::relu, p));
    b.output(b.unary(op::relu6, p));
    CHECK(lists_of(b.g, neoflow_kernels(b.g, machine(1, 1), false)) == apart);
  }
}

TEST_CASE("a difference from the mean is computed in the kernels of its square and of the quotient") {
  builder b;
  int const x = b.input(image), mean = b.add({.kind = op::reduce_mean, .out = {1, 4, 4, 1}}, {x});
  int const centred = b.binary(op::sub, x, mean), square = b.unary(op::map, centred);
  int const variance = b.add({.kind = op::reduce_mean, .out = {1, 4, 4, 1}}, {square});
  b.output(b.unary(op::bias, b.binary(op::mul, centred, variance)));
  CHECK(fused(b) == kernel_list{{1}, {2, 3}, {4}, {2, 5, 6}});
}

TEST_CASE("a producer with one reader is fused, and nothing is computed again") {
  builder b;
  int const x = b.input(image);
  SUBCASE("a complex operator with bias, activation and residual") {
    b.output(b.binary(op::add, x, b.bias_relu(b.pointwise(x, 8))));
    CHECK(fused(b, machine(1000, 0, 1)) == kernel_list{{1, 2, 3, 4}});
  }
  SUBCASE("six operators after a bias") {
    int y = b.unary(op::bias, b.pointwise(x, 8));
    for (int i = 0; i < 8; ++i) y = b.unary(op::relu, y);
    b.output(y);
    auto const all = fused(b);
    CHECK(all.size() == 2);
    for (auto const& k : all) CHECK(k.size() <= (k[0] == 1 ? 8u : 6u));
  }
  SUBCASE("of two operands, the one whose fusion saves more") {  // 2 T, or 3 T where the sum reads the operand anyway
    int const a = b.unary(op::tanh, x), c = b.unary(op::relu, a);
    b.output(b.binary(op::add, a, c));
    CHECK(fused(b) == kernel_list{{1}, {2, 3}});
  }
  SUBCASE("of two equal ones, the first") {
    b.output(b.binary(op::add, b.unary(op::tanh, x), b.unary(op::relu, x)));
    CHECK(fused(b) == kernel_list{{2}, {1, 3}});
  }
}

TEST_CASE("what no kernel computes is not fused") {
  builder b;
  int const x = b.input(image);
  SUBCASE("elementwise operators in front of loops") {
    b.output(b.pointwise(b.unary(op::relu, x), 8));
    CHECK(fused(b) == kernel_list{{1}, {2}});
  }
  SUBCASE("a gate with one pixel and the product with the image") {
    int const gate = b.unary(op::sigmoid, b.add({.kind = op::global_avg_pool, .out = pixel}, {x}));
    b.output(b.binary(op::mul, x, gate));
    CHECK(fused(b) == kernel_list{{1, 2}, {3}});
  }
  SUBCASE("both operands of a product") {
    int const y = b.unary(op::relu, x);
    b.output(b.binary(op::mul, y, y));
    CHECK(fused(b) == kernel_list{{1}, {2}});
  }
  SUBCASE("an output") {
    int const y = b.unary(op::relu, x);
    b.output(y);
    b.output(b.unary(op::tanh, y));
    CHECK(fused(b) == kernel_list{{1}, {2}});
  }
  SUBCASE("a value that another operator has to read from memory") {
    int const y = b.unary(op::relu, x);
    b.output(b.unary(op::tanh, y));
    b.output(b.depthwise(y));
    CHECK(fused(b) == kernel_list{{1}, {2}, {3}});
  }
  SUBCASE("several operators with the same parameters") {
    int const y = b.unary(op::bias, x);
    b.output(b.unary(op::tanh, y));
    b.output(b.unary(op::relu, y));
    CHECK(fused(b) == kernel_list{{1}, {2}, {3}});
  }
}

TEST_CASE("kernels of one line of complex operators are joined where a tiling saves traffic") {
  builder b;
  b.output(b.inverted_residual(b.input({1, 56, 56, 24}), 6));
  auto const p = ago::partition::neoflow_policy::partition(b.g, ago::cortex_a55);
  CHECK((p.minis.count == 3 && p.subgraphs.count == 1));  // both values in between have 144 channels
  auto const small = ago::partition::neoflow_policy::partition(b.g, ago::device{32 << 10, 64 << 20});
  auto const values = chain_values_of(b.g, ago::partition::atoms_of(b.g), ago::device{32 << 10, 64 << 20});
  CHECK(small.subgraphs.count == 3 - (values.saved[0][0] > 0) - (values.saved[0][1] > 0));
}

// The plain implementation: kernels as lists of operators; totals over all of them before and after each decision.
struct plain {
  test::random_graph const& g;
  ago::device on;
  std::map<int, std::vector<int>> kernels;  // by result

  explicit plain(test::random_graph const& of, ago::device const& d) : g(of), on(d) {
    for (int v = g.input_count; v < g.node_count; ++v) kernels[v] = {v};
    while (decide()) {}
  }
  double cost(std::map<int, std::vector<int>> const& all) const {
    double bytes = 0, operations = 0;
    for (auto const& [result, list] : all) {
      std::set<int> touched{result};
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (int k = 0; k < g.nodes[list[i]].input_count; ++k)
          if (int const u = g.operand(list[i], k); i == 0 || u != list[i - 1]) touched.insert(u);
        operations += double(operations_of(g, list[i], on));
      }
      for (int const v : touched) bytes += 4. * double(g.nodes[v].out.count());
    }
    return bytes * on.line_from_memory / 64 + operations * 4 / on.multiply_adds + double(all.size()) * on.step_start;
  }
  bool is_one_kernel(std::vector<int> const& list) const {
    auto const kind = [&](std::size_t i) { return g.nodes[list[i]].kind; };
    bool const loops = !ago::ir::is_elementwise(kind(0)) && kind(0) != op::identity;
    int stages = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      stages += ago::ir::is_elementwise(kind(i)) && !(i == 1 && kind(1) == op::bias && ago::ir::has_weights(kind(0)));
      if (i == 0) continue;
      ago::ir::node const& n = g.nodes[list[i]];
      if (!ago::ir::is_elementwise(n.kind) || n.out != g.nodes[list[i - 1]].out) return false;
      if (loops && n.out.n > 1 && n.kind == op::positions) return false;
      for (int k = 0; k < n.input_count; ++k) {
        ago::shape const& s = g.source(list[i], k).out;
        if (loops && n.out.n > 1 && (s.n != n.out.n || s.h != n.out.h || s.w != n.out.w)) return false;
      }
    }
    return stages <= ago::partition::max_followers && ago::ir::takes_epilogue(kind(0));
  }
  /// The kernels if p is not stored; empty: this is impossible.
  std::map<int, std::vector<int>> without(int p) const {
    for (int i = 0; i < g.output_count; ++i)
      if (g.outputs[i] == p) return {};
    auto r = kernels;
    std::vector<int> const mine = r[p];
    r.erase(p);
    int copies = 0;
    for (auto& [result, list] : r) {
      int first = 0, later = 0;
      for (int const v : list)
        for (int k = 0; k < g.nodes[v].input_count; ++k)
          if (g.operand(v, k) == p) ++(v == list[0] ? first : later);
      if (first + later == 0) continue;
      if (first != 1 || later > 0 || !ago::ir::is_elementwise(g.nodes[list[0]].kind)) return {};
      list.insert(list.begin(), mine.begin(), mine.end());
      if (!is_one_kernel(list)) return {};
      ++copies;
    }
    for (int const v : mine) {
      op const kind = g.nodes[v].kind;
      if (copies > 1 && (ago::ir::has_weights(kind) || ago::ir::is_parametric(kind) || kind == op::layer_norm ||
                         kind == op::embedding))
        return {};
    }
    return copies > 0 ? r : std::map<int, std::vector<int>>{};
  }
  bool decide() {
    double const now = cost(kernels);
    double best = 0;
    std::map<int, std::vector<int>> chosen;
    for (auto const& [p, list] : kernels) {
      auto const r = without(p);
      if (r.empty() || now - cost(r) <= best) continue;
      best = now - cost(r);
      chosen = r;
    }
    if (!chosen.empty()) kernels = chosen;
    return !chosen.empty();
  }
};

TEST_CASE("random networks: decisions are those of the plain implementation, and partitions are valid") {
  int copied = 0, fused_values = 0;
  for (unsigned seed = 0; seed < unsigned(test::rounds(8'000)); ++seed) {
    CAPTURE(seed);
    test::random r(seed);
    int const operators = test::pick(r, 1, 30);
    auto const g =
        seed % 3 == 0 ? test::make_broadcasting_network(r, operators) : test::make_random_network(r, operators);
    ago::device on = machine(test::pick(r, 1, 40), test::pick(r, 0, 500), test::pick(r, 0, 100));
    on.multiply_adds = 1 << test::pick(r, 0, 5);  // a power of two, so that costs in floating point are exact
    plain const expected(g, on);
    auto const kernels = neoflow_kernels(g, on);
    kernel_list lists;
    for (auto const& [result, list] : expected.kernels) lists.push_back(list);
    REQUIRE(lists_of(g, kernels) == lists);

    auto const size = size_of_recomputed(g, kernels);
    REQUIRE(size.nodes <= 320);
    auto const again = ago::partition::recomputed<320, 800>(g, kernels);
    REQUIRE(again.graph.node_count == size.nodes);
    REQUIRE(again.graph.edge_count == size.edges);
    REQUIRE(again.kernels.count == int(lists.size()));
    REQUIRE(partition_fault_of(again.graph, neoflow_partition(again.graph, again.kernels, on)) ==
            ago::partition::partition_fault::none);
    REQUIRE(partition_fault_of(g, ago::partition::neoflow_policy::partition(g, on)) ==
            ago::partition::partition_fault::none);
    copied += size.nodes - g.node_count;
    fused_values += g.node_count - g.input_count - int(lists.size());
  }
  CHECK(copied > 1'500);
  CHECK(fused_values > 8'000);
}

}  // namespace
