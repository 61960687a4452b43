// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The executor compared with results by hand and by Eigen.
#include "executor.hpp"

#include <doctest/doctest.h>

#define EIGEN_DONT_VECTORIZE  // plain loops suffice; g++ 12 warns about its own intrinsics (GCC bug 105593)
#include <Eigen/Core>

#include "builder.hpp"
#include "by_hand.hpp"

namespace {

using ago::op;
using ago::shape;
using reference::builder;
using reference::check_close;
using reference::outputs_of;
using reference::random_inputs;
using reference::random_parameters;
using row_major = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

row_major matrix(float const* from, long rows, long columns) {
  using floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<floats const>(from, rows, columns).cast<double>();
}

/// Rows: output pixels; columns: (channel of the group, ky, kx), as the weights are stored.
row_major image_to_columns(std::vector<float> const& image, shape in, shape out, ago::ir::window const& w, int groups,
                           int group) {
  int const channels = in.c / groups;
  row_major columns = row_major::Zero(out.pixels(), long(channels) * w.kernel_h * w.kernel_w);
  for (int tap = 0; tap < columns.cols(); ++tap) {
    int const kx = tap % w.kernel_w, ky = tap / w.kernel_w % w.kernel_h, c = tap / w.kernel_w / w.kernel_h;
    for (int pixel = 0; pixel < columns.rows(); ++pixel) {
      int const x = pixel % out.w * w.stride_w - w.pad_left + kx * w.dilation_w;
      int const y = pixel / out.w % out.h * w.stride_h - w.pad_top + ky * w.dilation_h;
      if (x < 0 || y < 0 || x >= in.w || y >= in.h) continue;
      int const n = pixel / out.w / out.h;
      columns(pixel, tap) = image[std::size_t(((n * in.h + y) * in.w + x) * in.c + group * channels + c)];
    }
  }
  return columns;
}

}  // namespace

TEST_CASE("a 2x2 convolution with stride and an uneven pad, by hand") {
  builder b;
  int const x = b.input({1, 3, 3, 1});
  b.convolution(op::conv2d, x, 1, {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 1, .pad_left = 1});
  REQUIRE(b.shape(1) == shape{1, 1, 3, 1});
  //  0 | 1 2 3
  //  0 | 4 5 6     weights 1 10
  //                      100 1000
  check_close(outputs_of(b, {1, 10, 100, 1000}, {{1, 2, 3, 4, 5, 6, 7, 8, 9}}), {4010, 5421, 6532});
}

TEST_CASE("groups and depthwise keep channels separate") {
  builder b;
  int const x = b.input({1, 1, 1, 4});
  SUBCASE("two groups") {
    b.convolution(op::conv2d, x, 2, {}, 2);
    check_close(outputs_of(b, {1, 10, 100, 1000}, {{1, 2, 3, 4}}), {21, 4300});
  }
  SUBCASE("depthwise") {
    b.convolution(op::depthwise, x, 4);
    check_close(outputs_of(b, {1, 10, 100, 1000}, {{1, 2, 3, 4}}), {1, 20, 300, 4000});
  }
  SUBCASE("linear acts on every pixel's channels") {
    b.convolution(op::linear, x, 1);
    check_close(outputs_of(b, {1, 10, 100, 1000}, {{1, 2, 3, 4}}), {4321});
  }
}

TEST_CASE("a folded norm scales the weights and shifts the bias") {
  builder b;
  int const x = b.input({1, 1, 1, 1});
  int const weight = b.convolution(op::pointwise, x, 1);
  b.graph.nodes[weight].norm = 2;
  b.graph.nodes[weight].alpha = 1;
  SUBCASE("with a bias") { b.append({.kind = op::bias, .out = {}, .alpha = 1, .shift = 1, .norm = 2}, {weight}); }
  SUBCASE("without") { b.append({.kind = op::bias, .out = {}, .alpha = 1, .norm = 2}, {weight}); }
  bool const bias = b.graph.nodes[2].shift >= 0;
  b.graph.parameters = 6;
  //                          weight bias gamma beta mean variance
  std::vector<float> const p{5, 7, 6, 11, 4, 8};
  check_close(outputs_of(b, p, {{3}}), {3 * 5 * 2. + ((bias ? 7 : 0) - 4) * 2. + 11});
}

TEST_CASE("batch norm, by hand") {
  builder b;
  b.batch_norm(b.input({1, 1, 2, 2}), 1);
  //                          gamma  beta    mean  variance
  std::vector<float> const p{6, 8, 10, 20, 1, 2, 8, 3};
  check_close(outputs_of(b, p, {{2, 3, 4, 5}}), {12, 24, 16, 32});
}

TEST_CASE("in ceil mode, a window that starts inside the image is clipped to it") {
  builder b;
  int const x = b.input({1, 1, 4, 1});
  ago::ir::window w{.kernel_w = 3, .stride_w = 2};
  std::vector<std::vector<float>> const row{{1, 8, 3, 5}};
  SUBCASE("max") { check_close((b.pool(op::max_pool, x, w, 1, 2), outputs_of(b, {}, row)), {8, 5}); }
  SUBCASE("average") { check_close((b.pool(op::avg_pool, x, w, 1, 2), outputs_of(b, {}, row)), {4, 4}); }
  SUBCASE("padded pixels count, those beyond the pads do not") {
    w.pad_left = w.pad_right = 1;  // _ 1 8 | 8 3 5 | 5 _
    b.pool(op::avg_pool, x, w, 1, 3, true);
    check_close(outputs_of(b, {}, row), {9 / 3., 16 / 3., 5 / 2.});
  }
  SUBCASE("a window that starts in the padding after the image does not exist") {
    w = {.kernel_w = 2, .stride_w = 2, .pad_right = 1};  // 1 8 | 3 5 | _
    b.pool(op::avg_pool, x, w, 1, 3);
    CHECK_THROWS_AS(outputs_of(b, {}, row), std::logic_error);
  }
  SUBCASE("a large stride skips the pads") {
    w = {.kernel_w = 3, .stride_w = 3, .pad_left = 1, .pad_right = 1};  // _ 1 8 | 3 5 _
    b.pool(op::avg_pool, x, w, 1, 2, true);
    check_close(outputs_of(b, {}, row), {9 / 3., 8 / 3.});
  }
}

TEST_CASE("pads never win a maximum") {
  builder b;
  b.pool(op::max_pool, b.input({1, 1, 2, 1}), {.kernel_w = 2, .pad_left = 1}, 1, 2);
  check_close(outputs_of(b, {}, {{-3, -4}}), {-3, -3});
}

TEST_CASE("global pooling works per image and channel") {
  builder b;
  int const x = b.input({2, 1, 2, 2});
  std::vector<std::vector<float>> const in{{1, -2, 3, -4, 5, -6, 7, -9}};
  SUBCASE("average") { check_close((b.global_pool(op::global_avg_pool, x), outputs_of(b, {}, in)), {2, -3, 6, -7.5}); }
  SUBCASE("max") { check_close((b.global_pool(op::global_max_pool, x), outputs_of(b, {}, in)), {3, -2, 7, -6}); }
}

TEST_CASE("a gate is broadcast over the pixels of its own image") {
  builder b;
  int const x = b.input({2, 1, 2, 2}), gate = b.input({2, 1, 1, 2});
  std::vector<std::vector<float>> const in{{1, 2, 3, 4, 5, 6, 7, 8}, {10, 100, 1000, 10000}};
  SUBCASE("mul") {
    check_close((b.binary(op::mul, x, gate), outputs_of(b, {}, in)), {10, 200, 30, 400, 5000, 60000, 7000, 80000});
  }
  SUBCASE("add") {
    check_close((b.binary(op::add, x, gate), outputs_of(b, {}, in)), {11, 102, 13, 104, 1005, 10006, 1007, 10008});
  }
}

TEST_CASE("concat joins channels or rows, channel-first memory is transposed") {
  builder b;
  SUBCASE("concat") {
    int const x = b.input({1, 1, 2, 1}), y = b.input({1, 1, 2, 2});
    b.concat({x, y, x});
    check_close(outputs_of(b, {}, {{1, 2}, {3, 4, 5, 6}}), {1, 3, 4, 1, 2, 5, 6, 2});
  }
  SUBCASE("concat of rows") {
    int const x = b.input({2, 1, 2, 1}), y = b.input({2, 2, 2, 1});
    b.concat({x, y}, 1);
    check_close(outputs_of(b, {}, {{1, 2, 3, 4}, {10, 20, 30, 40, 50, 60, 70, 80}}),
                {1, 2, 10, 20, 30, 40, 3, 4, 50, 60, 70, 80});
  }
  SUBCASE("from_nchw") {
    b.unary(op::from_nchw, b.input({1, 2, 2, 3}));
    check_close(outputs_of(b, {}, {{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}}),
                {0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23});
  }
  SUBCASE("to_nchw") {
    b.unary(op::to_nchw, b.input({2, 1, 2, 2}));
    check_close(outputs_of(b, {}, {{0, 10, 1, 11, 100, 110, 101, 111}}), {0, 1, 10, 11, 100, 101, 110, 111});
  }
}

TEST_CASE("clip and a user's function") {
  builder b;
  int const x = b.input({1, 1, 1, 3});
  SUBCASE("clip") { check_close((b.unary(op::clip, x, -1, 2), outputs_of(b, {}, {{-5, 1, 9}})), {-1, 1, 2}); }
  SUBCASE("map") {
    static constexpr ago::ir::user_function cube{};
    int const y = b.unary(op::map, x);
    b.graph.nodes[y].function = &cube;
    CHECK_THROWS_AS(outputs_of(b, {}, {{-5, 1, 9}}), std::logic_error);
    reference::define(&cube, [](double v) { return v * v * v; });
    check_close(reference::run(b.graph, {}, {{-5, 1, 9}})[0], {-125, 1, 729});
  }
}

TEST_CASE("a pointwise convolution is Eigen's matrix product") {
  std::mt19937 random(1);
  for (shape s : {shape{1, 1, 1, 1}, {1, 2, 3, 17}, {2, 3, 3, 8}}) {
    builder b;
    b.convolution(op::pointwise, b.input(s), 5);
    auto const weights = random_parameters(b, random);
    auto const in = random_inputs(b.graph, random);
    row_major const expected = matrix(in[0].data(), s.pixels(), s.c) * matrix(weights.data(), 5, s.c).transpose();
    check_close(outputs_of(b, weights, in), {expected.data(), expected.data() + expected.size()});
  }
}

TEST_CASE("a convolution is Eigen's product of weights and image columns") {
  std::mt19937 random(2);
  auto const any = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    int const groups = any(1, 3), group_in = any(1, 4), group_out = any(1, 4);
    ago::ir::window const w{.kernel_h = any(1, 4),
                            .kernel_w = any(1, 4),
                            .stride_h = any(1, 3),
                            .stride_w = any(1, 3),
                            .dilation_h = any(1, 2),
                            .dilation_w = any(1, 2),
                            .pad_top = any(0, 2),
                            .pad_left = any(0, 2),
                            .pad_bottom = any(0, 2),
                            .pad_right = any(0, 2)};
    shape const in{any(1, 2), any(w.span_h(), 9), any(w.span_w(), 9), groups * group_in};
    builder b;
    int const y = b.convolution(op::conv2d, b.input(in), groups * group_out, w, groups);
    auto const weights = random_parameters(b, random);
    auto const inputs = random_inputs(b.graph, random);
    shape const out = b.shape(y);
    row_major expected(out.pixels(), out.c);
    for (int g = 0; g < groups; ++g) {
      row_major const columns = image_to_columns(inputs[0], in, out, w, groups, g);
      expected.middleCols(g * group_out, group_out) =
          columns * matrix(weights.data() + g * group_out * columns.cols(), group_out, columns.cols()).transpose();
    }
    check_close(outputs_of(b, weights, inputs), {expected.data(), expected.data() + expected.size()});
  }
}

TEST_CASE("the error estimate covers float32 dot products closely") {
  std::mt19937 random(3);
  builder b;
  b.convolution(op::pointwise, b.input({1, 40, 10, 300}), 4);
  auto const weights = random_parameters(b, random);
  auto const in = random_inputs(b.graph, random);
  reference::value const y = reference::run_all(b.graph, weights, in)[1];
  double worst = 0;
  for (std::size_t i = 0; i < y.exact.size(); ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < 300; ++k) {
      float const product = in[0][i / 4 * 300 + k] * weights[i % 4 * 300 + k];
      sum += product;
    }
    worst = std::max(worst, std::abs(sum - y.exact[i]) / y.error[i]);
  }
  CHECK(worst < 8);
  CHECK(worst > .5);
}

TEST_CASE("inconsistent graphs are refused") {
  builder b;
  int const x = b.input({1, 4, 4, 2});
  SUBCASE("wrong extents") { b.graph.nodes[b.convolution(op::conv2d, x, 2, {.stride_h = 2})].out.h = 3; }
  SUBCASE("groups") { b.graph.nodes[b.convolution(op::conv2d, x, 2)].groups = 3; }
  SUBCASE("shapes of a sum") { b.binary(op::add, x, b.convolution(op::pointwise, x, 3)); }
  SUBCASE("channels of a concat") { b.graph.nodes[b.concat({x, x})].out.c = 5; }
  SUBCASE("rows of a concat") { b.concat({x, b.slice(x, 2, 0, 3)}, 1); }
  SUBCASE("a slice that ends after its operand") { b.slice(x, 1, 1, 2, 3); }
  SUBCASE("a slice that begins before it") { b.slice(x, 3, -1, 1); }
  SUBCASE("a shape with more elements") { b.append({.kind = op::reshape, .out = {1, 4, 5, 2}}, {x}); }
  SUBCASE("patches that do not fit") { b.append({.kind = op::unfold, .out = {3, 1, 4, 2}, .patch = {3, 1}}, {x}); }
  SUBCASE("heads that do not divide the channels") { b.attention_scores(x, x, 3); }
  SUBCASE("weights of other keys") {
    int const p = b.attention_scores(x, b.slice(x, 2, 0, 3), 1);
    b.attention_values(p, x, {1, 4, 4, 2});
  }
  SUBCASE("matrices that do not fit") { b.matmul(x, x); }
  SUBCASE("an operand that comes later") { b.graph.edges[b.graph.nodes[b.unary(op::relu, x)].input_first] = 1; }
  std::vector<float> const parameters(std::size_t(b.graph.parameters));
  CHECK_THROWS_AS(outputs_of(b, parameters, {std::vector<float>(32)}), std::logic_error);
}
