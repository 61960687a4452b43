// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which nodes gradients become. They are made in constant evaluation.
#include <ago/expression/counts.hpp>
#include <ago/expression/gradient.hpp>
#include <ago/recognition/operation.hpp>
#include <ago/recognition/recognition.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <climits>
#include <random>
#include <string>
#include <utility>

#include "differences.hpp"
#include "network/run_time_trace.hpp"
#include "operators.hpp"
#include "run.hpp"

using namespace ago::expression;

namespace {

/// The nodes of the gradient of operand k of an expression: their operators, "contraction" and "nest" where none is
/// recognised.
std::string nodes_of(definition const& gradient) {
  REQUIRE(gradient.bad.what == fault::none);
  definition const d = ago::recognition::normalised(gradient);
  std::string r;
  for (int i = 0; i < d.expression_count; ++i) {
    if (!r.empty()) r += ", ";
    index_expression const& e = d.expressions[i];
    ago::recognition::recognised_nodes const found = ago::recognition::recognise(e);
    for (int k = 0; k < found.count; ++k) r += (k ? " " : "") + std::string(name_of(found.nodes[k].made.kind));
    matrix_form const m = matrix_form_of(e);
    bool const is_product = m.why_not == no_matrix::none && (m.m.extent() > 1 || m.n.extent() > 1);
    if (!found) r += is_product && e.at_root().kind == node_kind::sum ? "contraction" : "nest";
  }
  return r;
}
std::string nodes_of(definition const& d, int k) { return nodes_of(gradient_of(d.expressions[0], k)); }

struct window {
  int kernel{1}, stride{1}, pad{0}, groups{1}, dilation{1};
};
constexpr definition convolution(window const& w, int images, int extent, int channels, int outputs) {
  return compute("convolution", [=](operand x, operand weight) {
    int const count = windows(extent, w.kernel, w.stride, w.dilation, 2 * w.pad);
    int const group_in = channels / w.groups, group_out = outputs / w.groups;
    var n, y{count}, j{count}, k, c, r, s;
    operand const image = w.pad ? padded(x, 0) : x;
    affine const row = w.stride * y + w.dilation * r - w.pad, column = w.stride * j + w.dilation * s - w.pad;
    affine const channel = w.groups == 1 ? affine(c) : w.groups == channels ? affine(k) : k / group_out * group_in + c;
    if (w.groups == channels)
      return result(n, y, j, k) = sum(r, s)(image(n, row, column, channel) * weight(k, 0, r, s));
    return result(n, y, j, k) = sum(c, r, s)(image(n, row, column, channel) * weight(k, c, r, s));
  })(extents(images, extent, extent, channels), extents(outputs, channels / w.groups, w.kernel, w.kernel));
}
constexpr definition linear(int rows, int in, int out) {
  return compute("linear", [](operand x, operand weight) {
    var m, k, c;
    return result(m, k) = sum(c)(x(m, c) * weight(k, c));
  })(extents(rows, in), extents(out, in));
}

// In constant evaluation, within the default limits of compilers.
constexpr definition of_image = gradient_of(convolution({3, 2, 1}, 2, 8, 4, 6).expressions[0], 0);
constexpr definition of_weights = gradient_of(convolution({3, 2, 1}, 2, 8, 4, 6).expressions[0], 1);
static_assert(of_image.bad.what == fault::none && of_weights.bad.what == fault::none);

}  // namespace

TEST_CASE("gradients in constant evaluation are those at run time") {
  CHECK(of_image == gradient_of(convolution({3, 2, 1}, 2, 8, 4, 6).expressions[0], 0));
  CHECK(of_weights == gradient_of(convolution({3, 2, 1}, 2, 8, 4, 6).expressions[0], 1));
}

TEST_CASE("gradients of sums of products are sums of products") {
  CHECK(nodes_of(operators::matrix_product(extents(5, 6), extents(6, 7)), 0) == "matmul");
  CHECK(nodes_of(operators::matrix_product(extents(5, 6), extents(6, 7)), 1) == "contraction");
  CHECK(nodes_of(linear(5, 6, 7), 0) == "matmul");
  CHECK(nodes_of(linear(5, 6, 7), 1) == "contraction");  // its depth is the rows
  CHECK(nodes_of(convolution({}, 2, 8, 4, 6), 0) == "matmul");
  CHECK(nodes_of(convolution({}, 2, 8, 4, 6), 1) == "contraction");
  CHECK(nodes_of(convolution({3, 1, 1}, 2, 8, 4, 6), 0) == "contraction");
  CHECK(nodes_of(convolution({3, 1, 1}, 2, 8, 4, 6), 1) == "contraction");
  CHECK(nodes_of(convolution({3, 1, 1, 2}, 2, 8, 4, 6), 0) == "contraction");
  CHECK(nodes_of(convolution({3, 1, 1, 4}, 2, 8, 4, 4), 0) == "contraction");
  CHECK(nodes_of(operators::outer_product(extents(5), extents(4)), 0) == "matmul");
}

TEST_CASE("dot products are loop nests") {
  auto const scaled = compute("scaled", [](operand x, operand factor) {
    var n, c;
    return result(n, c) = x(n, c) * factor(n);
  });
  CHECK(nodes_of(scaled(extents(5, 6), extents(5)), 1) == "nest");
  graph_test::run_time_trace trace;
  ago::tensor const x = trace.add({.n = 1, .h = 1, .w = 5, .c = 6}) | ago::view(5, 6);
  compute("dot", [](operand a) {
    var n, c;
    return result(n) = sum(c)(a(n, c) * a(n, 5 - c));
  })(x);
  REQUIRE(trace.fault() == ago::ir::fault::none);
  CHECK(trace.last().kind == ago::op::nest);
}

TEST_CASE("strides are divided into phases: one product for all of them, of which a part is taken if it does not fit") {
  CHECK(nodes_of(of_image) == "contraction");
  CHECK(nodes_of(of_weights) == "contraction");
  CHECK(nodes_of(convolution({2, 2}, 2, 8, 4, 6), 0) == "contraction");                 // windows without gaps
  CHECK(nodes_of(convolution({3, 2, 0, 1, 3}, 2, 9, 4, 6), 0) == "contraction, nest");  // phases in another order
  CHECK(nodes_of(convolution({1, 2}, 2, 8, 4, 6), 0) == "matmul, nest");                // most pixels are not read
  auto const pool = compute("pool", [](operand x) {  // windows that overlap: no conditions on the indices of a window
    var p{4}, r{3}, c;
    return result(p, c) = maximum(r)(x(2 * p + r, c));
  });
  definition const of_pool = gradient_of(pool(extents(9, 4)).expressions[0], 0);
  for (int i = 0; i < of_pool.expressions[1].body.node_count; ++i)
    CHECK(of_pool.expressions[1].body.nodes[i].kind != node_kind::less);
  // Phases from the first pixel on, if these are whole strides, and no phase of the window needs another step.
  CHECK(nodes_of(convolution({3, 2, 1, 4}, 2, 8, 4, 4), 0) == "contraction");
  CHECK(nodes_of(convolution({7, 2, 3}, 2, 8, 4, 6), 0) == "contraction");
  CHECK(nodes_of(convolution({4, 3, 1}, 2, 9, 4, 6), 0) == "contraction");
  CHECK(nodes_of(convolution({3, 2, 1}, 2, 9, 4, 6), 0) == "contraction, slice slice");
  CHECK(nodes_of(convolution({4, 2, 1}, 2, 8, 4, 6), 0) == "contraction, slice slice");
  CHECK(nodes_of(convolution({3, 3, 1}, 2, 9, 4, 6), 0) == "contraction, slice slice");
  // No more points than the convolution has, but for the windows at the edges.
  auto const points = [](definition const& d) { return loops_of(d.expressions[0]).points(); };
  definition const d = convolution({3, 2, 1}, 1, 64, 4, 6);
  CHECK(points(gradient_of(d.expressions[0], 0)) < 2 * points(d));
  CHECK(points(gradient_of(d.expressions[0], 1)) == points(d));
}

TEST_CASE("gradients of windows that are strided have the values of differences, whichever phase is the first") {
  expression_test::differences seen;
  std::mt19937 random(1);
  for (int const stride : {2, 3, 4})
    for (int const kernel : {3, 4, 5})
      for (int const pad : {0, 1, 2, 3})
        for (int const extent : {8, 9, 12}) {
          CAPTURE(stride);
          CAPTURE(kernel);
          CAPTURE(pad);
          CAPTURE(extent);
          for (int const groups : {1, 3}) {
            definition const d = convolution({kernel, stride, pad, groups}, 1, extent, 3, 3);
            for (int k = 0; k < 2; ++k) seen.check(d.expressions[0], k, gradient_of(d.expressions[0], k), random, 20);
          }
        }
  CHECK(seen.kinks == 0);
}

TEST_CASE("where windows are few and large, products are computed for each of their points and then added up") {
  auto const points = [](definition const& d) { return loops_of(d.expressions[0]).points(); };
  definition const d = convolution({9, 2}, 1, 20, 32, 64), g = gradient_of(d.expressions[0], 0);
  CHECK(nodes_of(g) == "matmul, nest");  // the weight is larger than the products, and read in its order
  CHECK(nodes_of(convolution({5, 1}, 1, 14, 6, 16), 0) == "contraction, nest");
  CHECK(points(g) == points(d));  // at once, more than three times as many
  CHECK(points(gradient_of(d.expressions[0], 0, LONG_MAX / 2)) > 3 * points(d));
  CHECK(nodes_of(convolution({3, 1, 1}, 1, 56, 64, 64), 0) == "contraction");  // nearly as many
}

TEST_CASE("gradients of elementwise operators and reductions are elementwise operators and reductions") {
  auto const relu = compute("relu", [](operand x) {
    var n, c;
    return result(n, c) = maximum(x(n, c), 0);
  });
  CHECK(nodes_of(relu(extents(5, 6)), 0) == "nest");
  index_expression const& e = gradient_of(relu(extents(5, 6)).expressions[0], 0).expressions[0];
  CHECK(e.at_root().kind == node_kind::select);
  CHECK(is_elementwise(e));
  auto const bias = compute("bias", [](operand x, operand shift) {
    var n, y, c;
    return result(n, y, c) = x(n, y, c) + shift(c);
  });
  CHECK(nodes_of(bias(extents(2, 5, 6), extents(6)), 0) == "identity");
  CHECK(nodes_of(bias(extents(2, 5, 6), extents(6)), 1) == "reduce_sum");
  auto const hyperbolic = compute("hyperbolic", [](operand x) {
    var n;
    return result(n) = tanh(x(n));
  });
  auto const clip = compute("clip", [](operand x) {
    var n;
    return result(n) = minimum(6, maximum(x(n), 0));
  });
  auto const hard = compute("hard", [](operand x) {
    var n;
    return result(n) = minimum(maximum(sigmoid(x(n)), .25), .75);
  });
  for (definition const& d : {hyperbolic(extents(5)), clip(extents(5)), relu(extents(1, 5)), hard(extents(5))}) {
    definition const g = gradient_of(d.expressions[0], 0);  // from the result: x is not needed
    REQUIRE(g.expression_count == 1);
    REQUIRE(g.expressions[0].operand_count == 2);
    CHECK(g.reads[0][0] != 0);
    CHECK(g.reads[0][1] != 0);
  }
  auto const mean = compute("mean", [](operand x) {
    var n, c;
    return result(n) = sum(c)(x(n, c)) / x.extent(1);
  });
  CHECK(nodes_of(mean(extents(5, 6)), 0) == "map expand");
}

TEST_CASE("gradients of movements are movements") {
  auto const transposed = compute("transposed", [](operand x) {
    var a, b, c;
    return result(a, b, c) = x(b, c, a);
  });
  CHECK(nodes_of(transposed(extents(2, 4, 3)), 0) == "permute");
  auto const part = compute("part", [](operand x) {
    var n, c{3};
    return result(n, c) = x(n, c + 1);
  });
  CHECK(nodes_of(part(extents(2, 6)), 0) == "pad");
  CHECK(nodes_of(operators::depth2space(2)(extents(2, 4, 4, 8)), 0) == "permute");
  auto const repeated = compute("repeated", [](operand x) {
    var n{4}, c;
    return result(n, c) = x(c);
  });
  CHECK(nodes_of(repeated(extents(6)), 0) == "reduce_sum");
}

TEST_CASE("a detached value is a copy that is told from other copies, also in the normal form and in the graph") {
  auto const softmax = compute("softmax", [](operand x) {
    var i, c;
    operand const peak = detached(result(i) = maximum(c)(x(i, c)));
    operand const e = result(i, c) = exp(x(i, c) - peak(i));
    operand const total = result(i) = sum(c)(e(i, c));
    return result(i, c) = e(i, c) / total(i);
  });
  definition const d = softmax(extents(3, 5)), normal = ago::recognition::normalised(d);
  REQUIRE(d.bad.what == fault::none);
  for (definition const* one : {&d, &normal}) {
    int count = 0;
    for (int i = 0; i < one->expression_count; ++i) {
      if (!one->values[one->makes[i]].is_detached) continue;
      ++count;
      CHECK(copies(one->expressions[i]));
      CHECK(one->expressions[i].result == extents(3));
    }
    CHECK(count == 1);
  }
  std::mt19937 random(1);
  auto const x = expression_test::random_operands(d, random);
  CHECK(expression_test::run(d, x) == expression_test::run(operators::softmax(extents(3, 5)), x));

  auto const both = compute("both", [](operand v) {
    var i, j;
    operand const copy = result(i) = v(i), constant = detached(v), again = result(j) = v(j);
    return result(i) = copy(i) * constant(i) + again(i);
  });
  definition const three = ago::recognition::normalised(both(extents(4)));
  CHECK(three.expression_count == 3);  // equal copies are one, the detached one is another
  graph_test::run_time_trace trace;
  softmax(trace.add({.n = 1, .h = 1, .w = 3, .c = 5}) | ago::view(3, 5));
  REQUIRE(trace.fault() == ago::ir::fault::none);
  int detached_nodes = 0;
  for (int v = 0; v < trace.recorder.nodes.size; ++v) {
    ago::ir::node const& n = trace.recorder.nodes[v];
    detached_nodes += n.is_detached && n.kind == ago::op::identity;
  }
  CHECK(detached_nodes == 1);
}

template <int N>
static constexpr definition product_at = compute("product_at", [](operand x) {
  var i{5};
  return result(i) = x(i + N) * x(2 * i + N);
})(extents(32));
template <int N>
static constexpr definition gradient_at = gradient_of(product_at<N>.expressions[0], 0);
TEST_CASE("a gradient that is a constant does not depend on other constants") {
  int const faults = []<int... N>(std::integer_sequence<int, N...>) {
    return (int(gradient_at<N>.bad.what != fault::none) + ...);
  }(std::make_integer_sequence<int, 16>());
  CHECK(faults == 0);
}
