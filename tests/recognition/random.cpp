// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whatever is recognised in an expression has its values: random expressions, and some that differ in a detail from
// those of layers.
#include "random_layers.hpp"
#include "recognised_graph.hpp"

#include <ago/operators/description.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <string>

#include "expression/generator.hpp"
#include "support/rounds.hpp"

using namespace expression_test;
using namespace ago::expression;
using ago::recognition::recognised_nodes;

namespace {

/// Changes one detail of an expression; false if it would then read outside of an operand.
bool mutate(index_expression& e, std::mt19937& random) {
  auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  auto& body = e.body;
  switch (any(0, 7)) {
    case 0:
      if (body.term_count) body.terms[any(0, body.term_count - 1)].coefficient += any(0, 1) ? 1 : -1;
      break;
    case 1:
      if (body.term_count) {
        term& t = body.terms[any(0, body.term_count - 1)];
        if (t.atom < max_axes) t.atom = std::int16_t(any(0, e.axis_count - 1));
      }
      break;
    case 2: {
      element_access& a = body.accesses[any(0, body.access_count - 1)];
      a.at[any(0, std::max(0, a.rank - 1))].sum.constant += any(-2, 2);
      break;
    }
    case 3: {
      element_access& a = body.accesses[any(0, body.access_count - 1)];
      if (a.rank > 1) std::swap(a.at[any(0, a.rank - 1)], a.at[any(0, a.rank - 1)]);
      break;
    }
    case 4: {
      element_access& a = body.accesses[any(0, body.access_count - 1)];
      if (a.operand < 0) break;
      a.padded = any(0, 3) != 0;
      a.pad_bits = __builtin_bit_cast(std::uint32_t, any(0, 1) ? 0.f : .5f);
      break;
    }
    case 5: {
      node& n = body.nodes[any(0, body.node_count - 1)];
      if (n.kind == node_kind::number) n.bits = __builtin_bit_cast(std::uint32_t, n.number() + float(any(1, 4)) / 4);
      else if (is_binary(n.kind)) n.kind = node_kind(any(int(node_kind::add), int(node_kind::less)));
      else if (is_fold(n.kind)) n.kind = node_kind(any(int(node_kind::sum), int(node_kind::minimum_of)));
      break;
    }
    case 6: {
      node& n = body.nodes[any(0, body.node_count - 1)];
      if (is_binary(n.kind) || n.kind == node_kind::select) std::swap(n.operand[0], n.operand[1]);
      break;
    }
    default: {
      extents& of = e.operands[any(0, e.operand_count - 1)];
      int& extent = of.of[any(0, of.rank - 1)];
      extent += any(0, 1) || extent == 1 ? 1 : -1;
    }
  }
  for (int a = 0; a < body.access_count; ++a) {
    element_access const& r = body.accesses[a];
    for (int d = 0; d < r.rank && r.operand >= 0; ++d) {
      if (r.at[d].node >= 0) return false;
      range const v = range_of(body, r.at[d].sum, e.extent);
      if (!r.padded && (v.lower < 0 || v.upper >= e.operands[r.operand].of[d])) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("what is recognised in expressions that look like those of layers has their values") {
  std::map<std::string, int> changed;
  int recognised_count = 0, refused = 0;
  for (unsigned seed = 1; seed <= unsigned(test::rounds(8000)); ++seed) {
    graph_test::random_layers layers(seed);
    ago::tensor const x = layers.trace.add(
        {.n = layers.any(2, 3), .h = layers.any(2, 6), .w = layers.any(2, 6), .c = 2 * layers.any(1, 3)});
    if (!layers.apply(layers.any(0, 68), x) || layers.trace.fault() != ago::ir::fault::none) continue;
    auto const& all = layers.trace.recorder;
    ago::ir::node const& n = layers.trace.last();
    std::vector<extents> in;
    for (int k = 0; k < n.input_count; ++k)
      in.push_back(ago::described::extents_of(all.nodes[all.edges[n.input_first + k]].out));
    auto d = ago::described::description_of(n, in.data());
    if (!d.exists) continue;
    bool inside = true;
    for (int k = layers.any(1, 2); k > 0; --k) inside &= mutate(d.as.expressions[0], layers.random);
    if (!inside) continue;
    for (int k = 0; k < d.as.expressions[0].operand_count; ++k)
      d.as.values[d.as.reads[0][k]].extents = d.as.expressions[0].operands[k];
    recognised_nodes const r = recognised(d.as);
    ++(r ? recognised_count : refused);
    if (!r) continue;
    CAPTURE(seed);
    std::string const was = name_of(n.kind), is = name_of(r.nodes[r.count - 1].made.kind);
    CAPTURE(was);
    CAPTURE(is);
    if (was != is) ++changed[was + " > " + is];
    check_values(d.as, r, random_operands(d.as, layers.random));
  }
  CHECK(recognised_count > 1000);
  CHECK(refused > 500);
  CHECK(changed.size() > 40);
}

TEST_CASE("what is recognised in random expressions has their values") {
  constexpr int count = test::rounds(2000);
  int seen = 0;
  for (unsigned seed = 1; seed <= unsigned(count); ++seed) {
    generator draw(seed);
    random_expression const e = seed % 3 == 0 ? draw.draw_product(seed % 2, true) : draw.draw();
    definition const d = writer(e).written();
    if (d.bad.what != fault::none) continue;
    recognised_nodes const r = recognised(d);
    if (!r) continue;
    CAPTURE(seed);
    ++seen;
    std::mt19937 numbers(seed);
    check_values(d, r, random_operands(d, numbers));
  }
  CHECK(seen > count / 50);
}
