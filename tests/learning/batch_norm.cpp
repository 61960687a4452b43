// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statistics of batch norms, and their gradients that have the gradient of the activation after them in them.
#include <ago/kernel/nest/choice.hpp>
#include <ago/learning/batch_norm.hpp>
#include <ago/operators/description.hpp>
#include <ago/recognition/recognition.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "expression/run.hpp"

using namespace ago;
using namespace ago::described;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::recognition;
using namespace expression_test;
namespace norm = ago::learning::training_norm;

namespace {

/// From a description of the activation, as node of a graph.
expression::definition activation(op kind, expression::extents const& in) {
  node n{.kind = kind, .alpha = .25f, .beta = 1.5f};
  n.out = {in[0], in[1], in[2], in[3]};
  n.input_count = 1;
  return described::description_of(n, &in).as;
}
void check_close(values const& a, values const& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::fabs(a[i] - b[i]) <= 1e-12 * (1 + std::fabs(b[i])));
}

}  // namespace

TEST_CASE("gradients of a batch norm and the activation after it, computed together, are those computed one by one") {
  expression::extents const in(2, 3, 2, 5), channels(5);
  std::mt19937 random(3);
  for (op const kind : {op::relu, op::relu6, op::leaky_relu, op::clip, op::hard_sigmoid, op::hard_swish}) {
    CAPTURE(name_of(kind));
    expression::definition const act = activation(kind, in), flow = norm::gated_flow(act, in);
    REQUIRE(class_of(kind) == op_class::arithmetic);
    REQUIRE(flow.input_count == 4);
    auto const any = [&](expression::extents const& of) { return random_values(of.count(), random); };
    values const x = any(in), arriving = any(in), mean = any(channels), factor = any(channels), slope = any(channels),
                 shift = any(channels), summand = any(channels);
    values const z = run(norm::scaled(in), {x, factor, summand})[0], y = run(act, {z})[0];
    values const leaving = run(expression::gradient_of(act.expressions[0], 0), {z, y, arriving})[0];
    CHECK(leaving != arriving);
    check_close(run(flow, {arriving, x, factor, summand})[0], leaving);
    values const sums = run(norm::gated_flow_sums(flow, in), {x, mean, arriving, factor, summand})[0];
    check_close(sums, run(norm::flow_sums(in), {x, mean, leaving})[0]);
    values expected(10);
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      expected[i % 5] += leaving[i];
      expected[5 + i % 5] += leaving[i] * (x[i] - mean[i % 5]);
    }
    check_close(sums, expected);
    check_close(run(norm::gated_of_value(flow, in), {x, factor, slope, shift, arriving, summand})[0],
                run(norm::of_value(in), {x, factor, slope, shift, leaving})[0]);
  }
}

TEST_CASE("mean and variance of a batch, from one pass over it, are right although values are far from 0") {
  std::mt19937 random(5);
  for (expression::extents const in :
       {expression::extents(2, 3, 2, 5), expression::extents(1, 1, 1, 3), expression::extents(4, 7, 9, 2)}) {
    std::size_t const c = std::size_t(in[3]), count = std::size_t(in.count()) / c;
    values x = random_values(in.count(), random);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % c == 0 ? 1e6 : 1e6 + 1e-3 * x[i];  // one is constant
    values const both = run(norm::statistics(in), {x, run(norm::moments(in), {x})[0]})[0];
    values const mean = run(norm::one_of_two(0, in[3]), {both})[0],
                 variance = run(norm::one_of_two(1, in[3]), {both})[0];
    for (std::size_t k = 0; k < c; ++k) {
      double sum = 0, squares = 0;
      for (std::size_t i = k; i < x.size(); i += c) sum += x[i] - 1e6;
      for (std::size_t i = k; i < x.size(); i += c) squares += std::pow(x[i] - 1e6 - sum / double(count), 2);
      CHECK(std::fabs(mean[k] - (1e6 + sum / double(count))) <= 1e-9);
      CHECK(variance[k] >= 0);
      CHECK(std::fabs(variance[k] - squares / double(count)) <= 1e-6 * squares / double(count));
    }
  }
}

TEST_CASE("both sums over a batch, and both over the gradient of a batch norm, are one expression that reads once") {
  expression::extents const in(2, 3, 2, 21);
  node const relu{.kind = op::relu6, .out = {2, 3, 2, 21}, .input_count = 1};
  expression::definition const flow = norm::gated_flow(described::description_of(relu, &in).as, in);
  for (expression::definition const& sums : {norm::flow_sums(in), norm::gated_flow_sums(flow, in), norm::moments(in)}) {
    expression::definition const d = normalised(sums);
    REQUIRE(d.expression_count == 1);
    nest_layout const l = layout_of_nest(d.expressions[0], isa::avx512);
    CHECK(l.pair_loop == 0);
    CHECK(l.count == 3);  // which sum, channels, and pixels
  }
}
