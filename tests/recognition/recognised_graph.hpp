// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A graph of the nodes that are recognised in an operator, and its value by the tests' own executor.
#pragma once

#include <ago/recognition/recognition.hpp>

#include <map>
#include <stdexcept>
#include <vector>

#include "expression/run.hpp"
#include "reference/builder.hpp"
#include "reference/executor.hpp"
#include "reference/functions.hpp"

namespace expression_test {

/// Appends what is recognised in an expression to a graph. `operands`: what its operands are there, -1 for parameters;
/// `places`: where parameters are. Returns the result's node.
inline int append(reference::builder& to, ago::recognition::recognised_nodes const& r, std::vector<int> const& operands,
                  std::vector<int> const& places) {
  std::vector<int> made;
  for (int i = 0; i < r.count; ++i) {
    ago::recognition::recognised_node const& n = r.nodes[i];
    std::vector<int> reads;
    for (int k = 0; k < n.operand_count; ++k) {
      ago::recognition::recognised_operand const& x = n.operands[k];
      int v = x.is_node ? made.at(std::size_t(x.number)) : operands.at(std::size_t(x.number));
      if (v < 0)
        v = to.append({.kind = ago::op::constant, .out = x.as, .weight = places.at(std::size_t(x.number))}, {0});
      if (to.shape(v) != x.as) v = to.append({.kind = ago::op::reshape, .out = x.as}, {v});
      reads.push_back(v);
    }
    ago::ir::node v = n.made;
    if (n.weight >= 0) v.weight = places.at(std::size_t(n.weight));
    if (n.shift >= 0) v.shift = places.at(std::size_t(n.shift));
    if (n.norm[0] >= 0) v.norm = places.at(std::size_t(n.norm[0]));
    for (int k = 0; k < 4 && n.norm[0] >= 0; ++k)
      if (places.at(std::size_t(n.norm[k])) != v.norm + k * v.out.c) throw std::logic_error("the norm is scattered");
    made.push_back(to.append(v, reads));
  }
  return made.back();
}

/// The value of expression 0 of an operator by the nodes that are recognised in it; `given`: its inputs and parameters.
inline values run_recognised(ago::expression::definition const& d, ago::recognition::recognised_nodes const& r,
                             std::vector<values> const& given) {
  using namespace ago::expression;
  reference::define_functions();
  reference::builder b;
  std::vector<std::vector<float>> inputs;
  std::vector<float> parameters;
  std::map<int, int> node_of, place_of;
  for (int v = 0, next = 0; v < d.value_count; ++v) {
    if (d.values[v].role == value_role::computed) continue;
    values const& x = given.at(std::size_t(next++));
    if (d.values[v].role == value_role::parameter) {
      place_of[v] = b.reserve(int(x.size()));
      parameters.insert(parameters.end(), x.begin(), x.end());
    } else {
      node_of[v] = b.input(ago::recognition::shape_of(d.values[v].extents));
      inputs.emplace_back(x.begin(), x.end());
    }
  }
  std::vector<int> operands, places;
  for (int k = 0; k < d.expressions[0].operand_count; ++k) {
    int const v = d.reads[0][k];
    operands.push_back(node_of.contains(v) ? node_of[v] : -1);
    places.push_back(place_of.contains(v) ? place_of[v] : -1);
  }
  int const last = append(b, r, operands, places);
  b.output(last);
  return reference::run_all(b.graph, parameters, inputs)[std::size_t(last)].exact;
}

/// The nodes that are recognised must have the values of the expression.
inline void check_values(ago::expression::definition const& d, ago::recognition::recognised_nodes const& r,
                         std::vector<values> const& given) {
  values const got = run_recognised(d, r, given), expected = run(d, given)[0];
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::isfinite(expected[i])) REQUIRE(got[i] == doctest::Approx(expected[i]).epsilon(1e-5));
}

inline ago::recognition::recognised_nodes recognised(ago::expression::definition const& d) {
  return ago::recognition::recognise(d.expressions[0], ago::recognition::parameters_of(d, 0));
}

}  // namespace expression_test
