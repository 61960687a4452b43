// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network of operators by index expressions has the graph of the same network of layers: hence the same plan, kernels
// and bits.
#include <ago/passes/optimized.hpp>
#include <ago/recognition/operation.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::ir;
using ago::passes::optimized;
using namespace ago::plan;

namespace {

namespace e = ago::expression;
using e::compute, e::operand, e::result, e::scalar, e::var, e::weights;

constexpr auto convolution = [](int out, int kernel, int stride, int pad, int groups = 1, int dilation = 1) {
  return compute("convolution", [=](operand x, weights parameter) {
    int const own = x.extent(3) / groups, each = out / groups;
    operand const w = parameter("weight", out, own, kernel, kernel), image = padded(x, 0);
    auto const count = [=](int extent) { return e::windows(extent, kernel, stride, dilation, 2 * pad); };
    var n, y{count(x.extent(1))}, j{count(x.extent(2))}, k, c, r, s;
    e::affine const row = stride * y + dilation * r - pad, column = stride * j + dilation * s - pad;
    return result(n, y, j, k) = sum(r, s, c)(w(k, c, r, s) * image(n, row, column, own * (k / each) + c));
  });
};
constexpr auto depthwise_convolution = [](int kernel, int stride, int pad) {
  return compute("depthwise", [=](operand x, weights parameter) {
    operand const w = parameter("weight", x.extent(3), kernel, kernel), image = padded(x, 0);
    auto const count = [=](int extent) { return e::windows(extent, kernel, stride, 1, 2 * pad); };
    var n, y{count(x.extent(1))}, j{count(x.extent(2))}, k, r, s;
    return result(n, y, j, k) = sum(r, s)(image(n, stride * y + r - pad, stride * j + s - pad, k) * w(k, r, s));
  });
};
constexpr auto mixed_channels = [](int out) {
  return compute("pointwise", [=](operand x, weights parameter) {
    operand const w = parameter("weight", out, x.extent(3), 1, 1);
    var n, y, j, k, c;
    return result(n, y, j, k) = sum(c)(x(n, y, j, c) * w(k, c, 0, 0));
  });
};
constexpr auto fully_connected = [](int out) {
  return compute("linear", [=](operand x, weights parameter) {
    operand const w = parameter("weight", out, x.extent(3)), b = parameter("bias", out);
    var n, y, j, k, c;
    return result(n, y, j, k) = sum(c)(x(n, y, j, c) * w(k, c)) + b(k);
  });
};
constexpr auto normalised_channels = compute("batch_norm", [](operand x, weights p) {
  operand const gamma = p("gamma"), beta = p("beta"), mean = p("mean"), variance = p("variance");
  var n, y, j, c;
  return result(n, y, j, c) = beta(c) + gamma(c) * (x(n, y, j, c) - mean(c)) / sqrt(variance(c) + 1e-5);
});
constexpr auto each_element(auto const& f) {
  return compute("elementwise", [f](operand x) {
    var n, y, j, c;
    return result(n, y, j, c) = f(x(n, y, j, c));
  });
}
constexpr auto clamped = each_element([](scalar x) { return minimum(maximum(x, 0), 6); });
constexpr auto swish = each_element([](scalar x) { return x / (1 + exp(-x)); });
constexpr auto image_mean = compute("image_mean", [](operand x) {
  var n, one{1}, two{1}, c, y, j;
  return result(n, one, two, c) = sum(y, j)(x(n, y, j, c)) / (double(x.extent(1)) * x.extent(2));
});
constexpr auto gated = compute("gated", [](operand x, operand g) {
  var n, y, j, c;
  return result(n, y, j, c) = x(n, y, j, c) * e::sigmoid(g(n, 0, 0, c));
});
constexpr auto added = compute("added", [](operand x, operand y) {
  var n, h, w, c;
  return result(n, h, w, c) = x(n, h, w, c) + y(n, h, w, c);
});
constexpr auto largest_of_window = [](int kernel, int stride) {
  return compute("max_pool", [=](operand x) {
    var n, y, j, c, r{kernel}, s{kernel};
    return result(n, y, j, c) = maximum(r, s)(x(n, stride * y + r, stride * j + s, c));
  });
};
constexpr auto blocks_of_channels = [](int block) {
  return compute("depth_to_space", [=](operand x) {
    int const channels = x.extent(3) / (block * block);
    var n, h, w, c{channels};
    return result(n, h, w, c) = x(n, h / block, w / block, c + channels * (block * (h % block) + w % block));
  });
};

// Inverted residuals with a gate, a grouped and a dilated convolution, pooling, blocks, a classifier.
inline constexpr auto by_layers = trace(
    [](tensor x) {
      x = x | conv2d{.out = 8, .kernel = 3, .stride = 2, .pad = 1} | batch_norm{} | relu6{};
      tensor y = x | pointwise{24} | batch_norm{} | relu6{} | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | silu{};
      tensor const gate = y | global_avg_pool{} | linear{24};
      y = y * (gate | sigmoid{}) | pointwise{8} | batch_norm{};
      x = x + y;
      x = x | max_pool{2} | conv2d{.out = 16, .kernel = 3, .pad = 2, .dilation = 2, .groups = 2};
      return x | depth_to_space{2} | linear{10};
    },
    input{.n = 2, .h = 20, .w = 16, .c = 3});
inline constexpr auto by_expressions = trace(
    [](tensor x) {
      x = x | convolution(8, 3, 2, 1) | normalised_channels | clamped;
      tensor y = x | mixed_channels(24) | normalised_channels | clamped | depthwise_convolution(3, 1, 1) |
                 normalised_channels | swish;
      tensor const gate = y | image_mean | fully_connected(24);
      y = gated(y, gate) | mixed_channels(8) | normalised_channels;
      x = added(x, y);
      x = x | largest_of_window(2, 2) | convolution(16, 3, 1, 2, 2, 2);
      return x | blocks_of_channels(2) | fully_connected(10);
    },
    input{.n = 2, .h = 20, .w = 16, .c = 3});

/// Everything but where it was written.
bool is_same(node a, node const& b) {
  a.layer = b.layer, a.line = b.line, a.name = b.name;
  bool same = a.kind == b.kind && a.out == b.out && a.input_first == b.input_first && a.input_count == b.input_count &&
              a.win == b.win && a.scatter == b.scatter && a.groups == b.groups && a.count_pads == b.count_pads &&
              a.transposed == b.transposed && a.axis == b.axis && a.begin == b.begin && a.step == b.step &&
              a.entries == b.entries && a.alpha == b.alpha && a.beta == b.beta && a.function == b.function &&
              a.weight == b.weight && a.shift == b.shift && a.norm == b.norm && a.described == b.described;
  for (int i = 0; i < 4; ++i) same = same && a.order[i] == b.order[i];
  return same;
}

}  // namespace

TEST_CASE("a network of expressions has the graph of the network of layers") {
  auto const& a = optimized<by_layers>::value;
  auto const& b = optimized<by_expressions>::value;
  REQUIRE(a.bad.what == fault::none);
  REQUIRE(b.bad.what == fault::none);
  REQUIRE(a.node_count == b.node_count);
  REQUIRE(a.edge_count == b.edge_count);
  CHECK(a.parameters == b.parameters);
  for (int i = 0; i < a.edge_count; ++i) CHECK(a.edges[i] == b.edges[i]);
  for (int v = 0; v < a.node_count; ++v) {
    CAPTURE(v);
    CAPTURE(a.nodes[v].kind);
    CAPTURE(b.nodes[v].kind);
    CHECK(is_same(b.nodes[v], a.nodes[v]));
  }
}
