// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property: merging siblings changes no number in a graph.
#include <ago/passes/siblings.hpp>

#include <doctest/doctest.h>

#include <algorithm>

#include "builder.hpp"
#include "executor.hpp"

namespace {

using ago::op;

/// Values read by several equal or similar convolutions, which have readers of all kinds.
class random_families : public reference::builder {
 public:
  explicit random_families(unsigned seed) : random_(seed) {
    int x = input({any(1, 2), any(1, 5), any(1, 5), any(1, 5)});
    for (int i = any(1, 3); i > 0; --i) x = family(x);
    if (graph.output_count == 0 || graph.outputs[graph.output_count - 1] != graph.node_count - 1)
      output(graph.node_count - 1);
  }
  bool joins = false;  ///< has a concatenation of several members of a family, and of other values

 private:
  int any(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool chance(int percent) { return any(1, 100) <= percent; }

  struct recipe {
    op kind, activation;
    ago::ir::window win;
    bool bias, norm;
  };
  recipe random_recipe(ago::shape const& s) {
    op const kinds[] = {op::conv2d, op::pointwise, op::linear}, activations[] = {op::relu, op::clip, op::identity};
    recipe r{kinds[any(0, 2)], activations[any(0, 2)], {}, chance(50), chance(50)};
    if (r.kind == op::conv2d) {
      r.win = {.kernel_h = std::min(s.h, 2), .kernel_w = std::min(s.w, 3), .stride_h = any(1, 2)};
      r.win.pad_left = any(0, 1);
    }
    return r;
  }
  int branch(int x, recipe const& r) {
    int y = convolution(r.kind, x, any(1, 4), r.win);
    if (r.bias) y = bias(y);
    if (r.norm) y = batch_norm(y, .01f);
    return r.activation == op::identity ? y : unary(r.activation, y, -.5f, .5f);
  }
  /// Some members differ in a detail and must stay separate.
  int family(int x) {
    recipe const common = random_recipe(shape(x));
    std::vector<int> members;
    for (int i = any(2, 6); i > 0; --i) {
      recipe r = common;
      if (chance(10)) r.bias = !r.bias;
      if (chance(10)) r.activation = op::tanh;
      members.push_back(branch(x, r));
      if (chance(15) && graph.output_count < 8) output(members.back());
    }
    if (chance(30)) std::shuffle(members.begin(), members.end(), random_);
    if (chance(40)) {
      joins = true;
      ago::shape const s = shape(members.front());
      int const other = s.h == shape(x).h && s.w == shape(x).w ? x : members.front();
      while (chance(30)) members.insert(members.begin() + any(0, int(members.size())), unary(op::sigmoid, other));
      return concat(members);
    }
    for (int& v : members) {
      if (chance(70)) v = read(v);
      else if (chance(20)) unary(op::tanh, v);
    }
    ago::shape const a = shape(members.front()), b = shape(members.back());
    return a.h == b.h && a.w == b.w ? concat({members.front(), members.back()}) : members.front();
  }
  int read(int x) {
    switch (any(0, 4)) {
      case 0: return unary(op::softmax, x);
      case 1: return convolution(op::conv2d, x, any(1, 3), {.kernel_w = std::min(shape(x).w, 2)});
      case 2: return global_pool(op::global_avg_pool, x);
      case 3: return binary(op::add, x, x);
      default: return convolution(op::pointwise, x, any(1, 3));
    }
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("merged siblings compute the same numbers") {
  constexpr ago::passes::merging all{ago::horizontal_fusion::always};
  int merged = 0, joined = 0, wide = 0, alone = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    random_families const made(seed);
    std::mt19937 random(seed);
    auto const parameters = reference::random_parameters(made, random);
    auto const inputs = reference::random_inputs(made.graph, random);
    auto const before = ago::passes::optimize(made.graph);
    auto const after = ago::passes::merge_siblings(before, all);
    auto const simplified = ago::passes::optimize(after);
    auto const expected = reference::run(before, parameters, inputs);
    REQUIRE(reference::run(after, parameters, inputs) == expected);
    REQUIRE(reference::run(simplified, parameters, inputs) == expected);
    int heads = 0;
    for (int v = 0; v < after.node_count; ++v) {
      ago::ir::node const& n = after.nodes[v];
      if (!has_weights(n.kind) || !n.is_merged()) continue;
      ++heads;
      wide += n.siblings[ago::ir::max_siblings - 2].channels > 0;
    }
    REQUIRE(ago::passes::has_siblings(before, all) == (heads > 0));
    REQUIRE(
        (made.joins || !ago::passes::has_siblings(after, all)));  // of those joined in several places, some are left
    merged += heads;
    alone += heads == 0;
    joined += simplified.node_count < after.node_count;
  }
  CHECK(merged > 500);
  CHECK(joined > 200);
  CHECK(wide > 50);
  CHECK(alone > 200);
}
