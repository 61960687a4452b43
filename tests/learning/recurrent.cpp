// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrent network, whose steps share their parameters.
#include "compare.hpp"

using namespace train_test;

TEST_CASE("parameters that all steps of a recurrent network read are trained as by PyTorch") {
  using trainer = ago::trainer<recurrent, cross_entropy, sgd, training{.batch = 3}>;
  static trainer t(0, {.momentum = .9f});
  t.rate = .1f;
  compare(t, parameters<recurrent>, 7, pytorch::recurrent_losses, pytorch::recurrent_parameters);
}

namespace {

/// How many operators of a kind have results of this shape.
template <class Trainer>
constexpr int count(op kind, shape const& out) {
  int r = 0;
  for (ago::ir::node const& n : Trainer::program::graph.nodes) r += n.kind == kind && n.out == out;
  return r;
}

// y = sum of x_t u^T over the steps t; of the last one nothing is used unless `All`.
template <bool All>
inline constexpr auto products = trace(
    [](tensor x) {
      tensor const u = x | constant{.w = 4, .c = 6};
      tensor sum;
      for (int t = 0; t < 3; ++t) {
        tensor const rows = x | slice{t, 1, axis::columns} | reshape{.n = 1, .w = x.images()};
        tensor const y = matmul(rows, u, true) | reshape{.n = x.images(), .w = 1};
        if (All || t < 2) sum = sum.recorder ? sum + y : y;
      }
      return sum;
    },
    input{.w = 3, .c = 6});

/// Compares the gradient of the matrix with a plain loop's.
template <class Trainer>
void compare_products(int used) {
  static Trainer t(1);
  constexpr int batch = Trainer::batch;
  generator random(3);
  std::array<float, batch * 3 * 6> x;
  std::array<float, batch * 4> target;
  for (float& v : x) v = float(random.value());
  for (float& v : target) v = float(random.value());
  t.backward(x, target);
  std::vector<double> expected(4 * 6);
  for (int n = 0; n < batch; ++n)
    for (int j = 0; j < 4; ++j) {
      double y = 0;
      for (int s = 0; s < used; ++s)
        for (int c = 0; c < 6; ++c) y += double(x[(n * 3 + s) * 6 + c]) * double(t.parameters()[j * 6 + c]);
      double const flow = 2 * (y - double(target[n * 4 + j])) / (batch * 4);
      for (int s = 0; s < used; ++s)
        for (int c = 0; c < 6; ++c) expected[j * 6 + c] += flow * double(x[(n * 3 + s) * 6 + c]);
    }
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(double(t.gradients()[i]) == doctest::Approx(expected[i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("gradients of slices are put side by side, and that of a matrix that steps share is one product") {
  using trainer = ago::trainer<recurrent, cross_entropy, sgd, training{.batch = 3}>;
  // Of 3 units, 3 steps and 4 gates, one of which has no effect in the first step.
  CHECK(count<trainer>(op::pad, {3, 1, 1, 6}) == 1);
  CHECK(count<trainer>(op::pad, {3, 1, 1, 12}) == 0);
  CHECK(count<trainer>(op::nest, {3, 1, 3, 12}) == 0);
  CHECK(count<trainer>(op::contraction, {1, 1, 12, 3}) == 1);
}

TEST_CASE("the gradient of a matrix of several products is the sum of theirs, also where some have none") {
  using all = trainer<products<true>, mean_squared_error, sgd, training{.batch = 2}>;
  using some = trainer<products<false>, mean_squared_error, sgd, training{.batch = 2}>;
  compare_products<all>(3);
  compare_products<some>(2);
  compare_products<trainer<products<true>, mean_squared_error>>(3);
}
