// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trace at run time equals that of constant evaluation, whatever order compiled code evaluates arguments in.
#include <ago/network/parameters.hpp>

#include <trace.hpp>
#include <written_order.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace {

using namespace ago;
using namespace ago::ir;
using namespace ago::tools;

/// Every operation on several operands, with operands that record nodes themselves; a value without readers.
template <int Size>
inline constexpr auto branches = input{.h = Size, .w = Size, .c = 4} | [](tensor x) {
  auto const unit = [](int out) { return named("unit", pointwise{out} | batch_norm{}); };
  x = concat(x | unit(4), x | depthwise{.kernel = 3, .pad = 1} | relu{}, x | conv2d{.out = 8, .kernel = 3, .pad = 1});
  (void)concat(x | pointwise{.out = 3, .bias = true}, x | pointwise{5});
  x = (x | pointwise{.out = 8, .bias = true}) + (x | unit(8));
  x = maximum(x | linear{8}, x | depthwise{.kernel = 3, .pad = 1}) * (x | sigmoid{});
  tensor const b = x | pointwise{6}, a = x | pointwise{6} | relu{};
  return matmul(a - b, concat(b | prelu{}, a | pointwise{6}) | pointwise{6}, true);
};
template <int Size>
inline constexpr auto channel_first = input{.h = Size, .w = Size, .c = 4, .layout = layout::nchw} | branches<Size>.body;

/// Depends on the size in more than extents.
inline constexpr auto grown_by_height =
    input{.w = 2, .c = 3} | [](tensor x) { return x.width() > 2 ? x | pointwise{4} | pointwise{4} : x | pointwise{4}; };

template <class Network>
std::unique_ptr<ago::tracing::recorder const> ordered(Network const& net, recorded_network const& written) {
  ago::tracing::recorder made;
  record(made, net);
  return in_written_order(made, written);
}

template <auto const& Net>
recorded_network recorded() {
  auto const& g = lowering::lowered<Net>::value;
  return {{g.nodes, std::size_t(g.node_count)}, {g.edges, std::size_t(g.edge_count)}, {g.outputs, 1}};
}

/// `Net` traced at run time, ordered by `Written`, which has another size or layout.
template <auto const& Net, auto const& Written>
void check_order() {
  auto const got = ordered(Net, recorded<Written>());
  REQUIRE(got);
  auto const& wanted = lowering::lowered<Net>::value;
  REQUIRE(got->nodes.size == wanted.node_count);
  REQUIRE(got->edges.size == wanted.edge_count);
  for (int v = 0; v < wanted.node_count; ++v) {
    node const &a = got->nodes[v], &b = wanted.nodes[v];
    CAPTURE(v);
    CAPTURE(name_of(b.kind));
    CHECK((a.kind == b.kind && a.out == b.out && a.win == b.win && a.input_count == b.input_count));
    CHECK((a.weight == b.weight && a.shift == b.shift && a.norm == b.norm));
    CHECK((a.layer == b.layer && a.line == b.line && a.input_first == b.input_first));
  }
  for (int i = 0; i < wanted.edge_count; ++i) CHECK(got->edges[i] == wanted.edges[i]);
  CHECK(got->outputs[0] == wanted.outputs[0]);
  CHECK(got->floats == wanted.parameters);
  static constexpr auto const& table = parameters<Net>;
  REQUIRE(got->parameters.size == table.size());
  for (int i = 0; i < got->parameters.size; ++i) {
    parameter const &a = got->parameters[i], &b = table[i];
    CHECK((a.kind == b.kind && a.role == b.role && a.offset == b.offset && a.layer == b.layer));
    CHECK(a.count() == b.count());
  }
}

}  // namespace

TEST_CASE("a network traced at run time has the order in which it is written") {
  check_order<branches<6>, branches<6>>();
}

TEST_CASE("a network of another size or layout has it too") {
  check_order<branches<9>, branches<6>>();
  check_order<channel_first<9>, branches<6>>();
}

TEST_CASE("if the operators depend on the size, no order is invented") {
  auto larger = grown_by_height;
  CHECK(ordered(larger, recorded<grown_by_height>()));
  larger.inputs[0].w = 3;
  CHECK(!ordered(larger, recorded<grown_by_height>()));
}
