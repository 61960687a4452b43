// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Training steps that compute values again, because they have a limit of memory.
#include <ago/training.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

using namespace ago;
using namespace ago::ir;
using namespace ago::passes;

/// What makes copies differ from originals if it goes wrong: statistics of the batch, masks of dropouts, values in the
/// memory of others (slices, a concatenation, a reshape), and several readers.
inline constexpr auto net = trace(
    [](tensor x) {
      x = x | conv2d{.out = 8, .kernel = 3, .pad = 1} | batch_norm{} | relu6{};
      tensor const a = x | slice{.begin = 0, .count = 4}, b = x | slice{.begin = 4, .count = 4};
      x = concat(a | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | silu{}, b) | dropout{.25f};
      x = x + (x | pointwise{.out = 8} | batch_norm{} | hard_swish{});
      return x | avg_pool{.kernel = 2, .stride = 2} | reshape{.h = 1, .w = 1, .c = 8 * 9} | linear{3};
    },
    input{.h = 6, .w = 6, .c = 2});

// [limit]
using roomy = ago::trainer<net, cross_entropy, sgd, training{.batch = 8}>;
constexpr std::size_t limit = roomy::arena_bytes * 9 / 10;
using tight = ago::trainer<net, cross_entropy, sgd, training{.batch = 8, .activation_bytes = limit}>;
static_assert(tight::arena_bytes <= limit);
// [/limit]

template <std::size_t Bytes>
using step_within = learning::training_step<net, cross_entropy, training{.batch = 8, .activation_bytes = Bytes}>;
using unlimited = step_within<0>;
/// What the search finds least.
using smallest = learning::computing_again<unlimited::recorded, unlimited::table, options{}, 0>;
constexpr std::size_t least_bytes = sizeof(float) * std::size_t(smallest::arena_floats);

/// The network of the tests of copies: nodes 0 to 3 are its forward part.
inline constexpr auto pasted = trace(
    [](tensor x) {
      tensor const a = x | affine{2, 1}, b = a | relu{};
      tensor const loss = b | reduce_sum{axis::channels};
      tensor const c = loss | affine{3, 0};
      tensor const d = (b * c) | hyperbolic_tangent{};
      return outputs(loss, d + a);
    },
    input{.c = 5});
constexpr auto const& original = lowering::lowered<pasted>::value;
constexpr int forward = 4;

/// Operands of a node, as numbers of nodes.
template <int V, int E, int O>
std::vector<int> operands(graph<V, E, O> const& g, int v) {
  std::vector<int> r;
  for (int k = 0; k < g.nodes[v].input_count; ++k) r.push_back(g.operand(v, k));
  return r;
}
auto copied(std::initializer_list<int> dropped) {
  bool is_dropped[slots<forward>]{};
  for (int v : dropped) is_dropped[v] = true;
  learning::copy_order<original.node_capacity, forward> const copies(original, is_dropped);
  return learning::with_copies<original.node_capacity + forward, original.edge_capacity + 2 * forward>(original,
                                                                                                       copies);
}

}  // namespace

TEST_CASE("what is computed again is so right before its first reader, from what is kept or computed again") {
  using ints = std::vector<int>;
  REQUIRE(original.outputs[0] + 1 == forward);
  REQUIRE(operands(original, 5) == ints{2, 4});
  REQUIRE(operands(original, 7) == ints{6, 1});

  auto const both = copied({1, 2});
  CHECK(both.node_count == original.node_count + 2);
  CHECK(both.nodes[5].kind == op::map);
  CHECK(both.nodes[6].kind == op::relu);
  CHECK(operands(both, 5) == ints{0});
  CHECK(operands(both, 6) == ints{5});
  CHECK(operands(both, 7) == ints{6, 4});
  CHECK(operands(both, 9) == ints{8, 5});
  CHECK(operands(both, 3) == ints{2});  // the forward part reads what it has
  CHECK(both.outputs[1] == 9);

  auto const second = copied({2});
  CHECK(second.node_count == original.node_count + 1);
  CHECK(operands(second, 5) == ints{1});
  CHECK(operands(second, 6) == ints{5, 4});
  CHECK(operands(second, 8) == ints{7, 1});

  auto const first = copied({1});
  CHECK(first.nodes[7].kind == op::map);
  CHECK(operands(first, 5) == ints{2, 4});
  CHECK(operands(first, 8) == ints{6, 7});
}

TEST_CASE("the model's arena of what is planned is the most that its buffers use at a time") {
  using planned = planned<unlimited::network>;
  constexpr auto const& memory = planned::memory;
  long most = 0;
  for (int i = 0; i < planned::steps; ++i) {
    long sum = 0;
    for (int b = 0; b < memory.buffer_count; ++b)
      if (memory.buffers[b].first <= i && i <= memory.buffers[b].last) sum += memory.buffers[b].floats;
    most = std::max(most, sum);
  }
  using kept = learning::planned_activations<unlimited::network, options{}>;
  bool const nothing[slots<kept::forward>]{};
  CHECK(kept::memory.use(nothing).floats == most);
}

TEST_CASE("with a limit, gradients and statistics are the same in less memory") {
  static_assert(step_within<limit>::limited::operators > 0);
  static roomy a(1);
  static tight b(1);
  philox const random(5);
  std::array<float, 8 * 72> x;
  std::array<int, 8> y;
  for (int step = 0; step < 5; ++step) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = philox::uniform(random(i, std::uint64_t(step)).of[0]) - .5f;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = int(random(i, 100).of[0] % 3);
    CHECK(a.backward(x, y) == doctest::Approx(b.backward(x, y)).epsilon(1e-6));
    REQUIRE(b.status() == training_status::ok);
    float difference = 0, largest = 0;
    for (std::size_t i = 0; i < roomy::gradient_count; ++i) {
      difference = std::max(difference, std::fabs(a.gradients()[i] - b.gradients()[i]));
      largest = std::max(largest, std::fabs(a.gradients()[i]));
    }
    CHECK(difference <= 1e-6f * largest);
    a.update();
    b.update();
  }
  for (std::size_t i = 0; i < roomy::parameter_count; ++i)
    CHECK(a.parameters()[i] == doctest::Approx(b.parameters()[i]).epsilon(1e-5));
}

TEST_CASE("a limit that is met anyway changes nothing") {
  CHECK(&step_within<roomy::arena_bytes>::network == &unlimited::recorded);
  CHECK(&unlimited::network == &unlimited::recorded);
}

TEST_CASE("the least that an error message gives can be had") {
  CHECK(least_bytes < limit);
  CHECK(sizeof(float) * std::size_t(step_within<least_bytes>::limited::arena_floats) == least_bytes);
  CHECK(sizeof(float) * std::size_t(step_within<1>::limited::arena_floats) == least_bytes);
}
