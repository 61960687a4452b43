// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers as values, compared with networks built from them.
#include <bench/graph_view.hpp>
#include <bench/kernels/distinct.hpp>

#include <ago/passes/optimized.hpp>

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

using namespace bench;

namespace {

template <layer_shape S>
void check_layer() {
  auto const& graph = ago::passes::optimized<one_layer<S>>::value;
  INFO(name_of(S));
  CHECK(graph.bad.what == ago::ir::fault::none);
  ago::ir::node const& main = graph.nodes[1];
  CHECK(main.kind == S.kind);
  CHECK(main.out == result_of(S));
  CHECK(graph_view(graph).multiply_adds() == multiply_adds(S));
  ago::ir::node const& last = graph.nodes[graph.outputs[0]];
  bool const active = S.activation != ago::op::identity;
  CHECK(last.kind == (active ? S.activation : ago::ir::has_weights(S.kind) ? ago::op::bias : S.kind));
}

template <ago::op Kind>
void check_layers() {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (check_layer<distinct<Kind>.rows[I]>(), ...);
  }(std::make_integer_sequence<int, distinct<Kind>.count>{});
}

template <ago::op... Kinds>
std::vector<layer_shape> all_of() {
  std::vector<layer_shape> all;
  (all.insert(all.end(), distinct<Kinds>.rows, distinct<Kinds>.rows + distinct<Kinds>.count), ...);
  return all;
}

}  // namespace

TEST_CASE("a layer as a network has the kind, extents and multiply-adds of its value") {
  using ago::op;
  check_layers<op::conv2d>();
  check_layers<op::depthwise>();
  check_layers<op::linear>();
  check_layers<op::max_pool>();
  check_layers<op::global_avg_pool>();
}

TEST_CASE("every layer of the networks is among the distinct ones, which have distinct names") {
  using ago::op;
  std::vector<layer_shape> const all =
      all_of<op::conv2d, op::depthwise, op::pointwise, op::linear, op::max_pool, op::global_avg_pool>();
  std::set<std::string> names;
  for (layer_shape const& s : all) CHECK(names.insert(name_of(s)).second);
  for (layer_table const* t : networks_of_the_paper)
    for (int i = 0; i < t->count; ++i) CHECK(names.count(name_of(t->rows[i].what)) == 1);
}

TEST_CASE("a layer is found in the networks that contain it") {
  CHECK(users_of({.kind = ago::op::linear, .in = {1, 1, 1, 1280}, .out = 1000}) ==
        "mobilenet_v2 224 layer 151, mobilenet_v2 112 layer 151, mobilenet_v2 56 layer 151, mnasnet 224 layer 151");
  CHECK(users_of({.kind = ago::op::linear, .in = {1, 1, 1, 1281}, .out = 1000}).empty());
}
