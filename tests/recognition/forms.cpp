// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator is recognised however it is written, and what only looks like one is not.
#include "network/run_time_trace.hpp"
#include "recognised_graph.hpp"

#include <ago/expression/notation.hpp>
#include <ago/layers/layers.hpp>
#include <ago/simd/map.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace expression_test;
using namespace ago::expression;
using ago::op;
using ago::recognition::recognised_nodes;

namespace {

/// The kinds of the nodes of an expression, which must have its values.
std::vector<op> kinds_of(definition const& d) {
  REQUIRE(d.bad.what == fault::none);
  REQUIRE(d.expression_count == 1);
  recognised_nodes const r = recognised(d);
  std::vector<op> kinds;
  for (int i = 0; i < r.count; ++i) kinds.push_back(r.nodes[i].made.kind);
  std::mt19937 random(1);
  if (r) check_values(d, r, random_operands(d, random));
  return kinds;
}
using list = std::vector<op>;

/// The kinds of the nodes of an elementwise formula.
list kinds_of_formula(auto const& formula) {
  return kinds_of(compute("formula", [&](operand x) {
    var i, y, j, c;
    return result(i, y, j, c) = formula(x(i, y, j, c));
  })(extents(2, 3, 4, 5)));
}

}  // namespace

TEST_CASE("convolutions without images, of one dimension, with factors and folded axes in any order") {
  auto const image = compute("image", [](operand x, weights p) {  // no images
    operand const w = p("w", 4, 3, 3, 2);
    var y, j, k, r, s, c;
    return result(y, j, k) = sum(s, c, r)(w(k, c, r, s) * x(y + r, 2 * j + s, c));
  });
  CHECK(kinds_of(image(extents(7, 8, 3))) == list{op::conv2d});
  auto const line = compute("line", [](operand x, weights p) {
    operand const w = p("w", 4, 3, 3);
    operand const z = padded(x, 0);
    var n, t{8}, k, r, c;
    return result(n, t, k) = sum(r, c)(z(n, t + r - 1, c) * w(k, c, r));
  });
  recognised_nodes const r = recognised(line(extents(2, 8, 3)));
  CHECK(kinds_of(line(extents(2, 8, 3))) == list{op::conv2d});
  CHECK(r.nodes[0].made.win == ago::ir::window{.kernel_w = 3, .pad_left = 1, .pad_right = 1});
  auto const one_image = compute("one_image", [](operand x, weights p) {  // axes of one element, a window of one pixel
    operand const w = p("w", 4, 3, 1, 1);
    var i{1}, y, j, k, r{1}, s{1}, c;
    return result(i, y, j, k) = sum(c, r, s)(x(i, y + r, j + s, c) * w(k, c, r, s));
  });
  CHECK(kinds_of(one_image(extents(1, 5, 6, 3))) == list{op::pointwise});
  auto const each = compute("each", [](operand x, weights p) {  // weights without the axis of one channel
    operand const w = p("w", 4, 3, 2);
    var i, y, j, k, r, s;
    return result(i, y, j, k) = sum(r, s)(x(i, y + r, j + s, k) * w(k, r, s));
  });
  CHECK(kinds_of(each(extents(2, 5, 6, 4))) == list{op::depthwise});
  auto const groups = compute("groups", [](operand x, weights p) {  // an axis for the groups
    operand const w = p("w", 6, 2, 3, 3);
    var i, y, j, k, c, r, s;
    return result(i, y, j, k) = sum(r, s, c)(x(i, y + r, j + s, c + 2 * (k / 3)) * w(k, c, r, s));
  });
  REQUIRE(kinds_of(groups(extents(2, 5, 6, 4))) == list{op::conv2d});
  CHECK(recognised(groups(extents(2, 5, 6, 4))).nodes[0].made.groups == 2);
}

TEST_CASE("matrix products of any rank") {
  auto const linear = compute("linear", [](operand x, weights p) {
    operand const w = p("w", 7, 5);
    var n, t, o, k;
    return x.rank() == 1   ? result(o) = sum(k)(w(o, k) * x(k))
           : x.rank() == 2 ? result(n, o) = sum(k)(x(n, k) * w(o, k))
                           : result(n, t, o) = sum(k)(x(n, t, k) * w(o, k));
  });
  CHECK(kinds_of(linear(extents(5))) == list{op::linear});
  CHECK(kinds_of(linear(extents(3, 5))) == list{op::linear});
  CHECK(kinds_of(linear(extents(2, 3, 5))) == list{op::linear});
  auto const product = [](bool first_transposed, bool second_transposed) {
    return compute("product", [=](operand a, operand b) {
      var n, i, j, k;
      scalar const x = first_transposed ? a(n, k, i) : a(n, i, k), y = second_transposed ? b(n, j, k) : b(n, k, j);
      return result(n, i, j) = sum(k)(y * x) * .5;
    });
  };
  CHECK(kinds_of(product(false, false)(extents(2, 3, 5), extents(2, 5, 4))) == list{op::matmul});
  CHECK(kinds_of(product(false, true)(extents(2, 3, 5), extents(2, 4, 5))) == list{op::matmul});
  CHECK(kinds_of(product(true, false)(extents(2, 5, 3), extents(2, 5, 4))).empty());
  auto const heads = compute("heads", [](operand q, operand k) {  // images and heads, which are apart
    var n, h, t, u, c;
    return result(n, h, t, u) = sum(c)(q(n, h, t, c) * k(n, h, u, c)) / 2;
  });
  CHECK(kinds_of(heads(extents(2, 3, 4, 5), extents(2, 3, 6, 5))) == list{op::matmul});
  auto const shared = compute("shared", [](operand a, operand b) {  // five axes; b is the same for all
    var n, h, t, s, u, c;
    return result(n, h, t, s, u) = sum(c)(a(n, h, t, s, c) * b(c, u));
  });
  CHECK(kinds_of(shared(extents(2, 3, 2, 2, 5), extents(5, 4))) == list{op::matmul});
}

TEST_CASE("weights in another order, other steps and offsets are no convolution") {
  auto const with = [](int kernel, auto const& index, auto const& weight, int rows = 6) {
    return compute("convolution", [=](operand x, weights p) {
      operand const w = p("w"), z = padded(x, 0);
      var i, y{rows}, j{6}, k{4}, c, r{kernel}, s{3};
      return result(i, y, j, k) = sum(c, r, s)(z(i, index(y, r), j + s - 1, c) * weight(w, k, c, r, s));
    })(extents(2, 6, 6, 3));
  };
  auto const stored = [](operand w, var& k, var& c, var& r, var& s) { return w(k, c, r, s); };
  auto const plain = [](var& y, var& r) { return y + r - 1; };
  CHECK(kinds_of(with(3, plain, stored)) == list{op::conv2d});
  CHECK(kinds_of(with(3, plain, [](operand w, var& k, var& c, var& r, var& s) { return w(c, k, r, s); })).empty());
  CHECK(kinds_of(with(3, plain, [](operand w, var& k, var& c, var& r, var& s) { return w(k, c, s, r); })).empty());
  CHECK(kinds_of(with(3, plain, [](operand w, var& k, var& c, var& r, var& s) { return w(k, r, s, c); })).empty());
  CHECK(kinds_of(with(3, plain, [](operand w, var& k, var& c, var& r, var& s) { return w(k, c, 2 - r, s); })).empty());
  CHECK(kinds_of(with(3, plain, [](operand w, var& k, var& c, var& r, var& s) { return w(k, c, r, s + 1); })).empty());
  CHECK(kinds_of(with(3, [](var& y, var& r) { return 5 - y + r; }, stored)).empty());
  CHECK(kinds_of(with(3, [](var& y, var& r) { return y - r; }, stored)).empty());
  CHECK(kinds_of(with(3, [](var& y, var& r) { return y + r + 1; }, stored)).empty());  // the first row is not read
  CHECK(kinds_of(with(3, plain, stored, 4)).empty());                                  // nor are the last
  CHECK(kinds_of(with(3, [](var& y, var& r) { return y + 2 * r - 2; }, stored)) == list{op::conv2d});
  CHECK(kinds_of(with(3, [](var& y, var& r) { return y + r - 5; }, stored, 14)) == list{op::conv2d});
  auto const padded_by = [](float value) {
    return compute("padded", [=](operand x, weights p) {
      operand const w = p("w"), z = padded(x, value);
      var i, y{6}, j, k{4}, c, r{3};
      return result(i, y, j, k) = sum(c, r)(z(i, y + r - 1, j, c) * w(k, c, r));
    })(extents(2, 6, 6, 3));
  };
  CHECK(kinds_of(padded_by(0)) == list{op::conv2d});
  CHECK(kinds_of(padded_by(1)).empty());
}

TEST_CASE("activations, however they are written") {
  CHECK(kinds_of_formula([](scalar x) { return maximum(0, x); }) == list{op::relu});
  CHECK(kinds_of_formula([](scalar x) { return select(x < 0, 0, x); }) == list{op::relu});
  CHECK(kinds_of_formula([](scalar x) { return maximum(minimum(6, x), 0); }) == list{op::relu6});
  CHECK(kinds_of_formula([](scalar x) { return minimum(maximum(x, -1), 1); }) == list{op::clip});
  CHECK(kinds_of_formula([](scalar x) { return minimum(x, 2); }) == list{op::clip});
  CHECK(kinds_of_formula([](scalar x) { return maximum(minimum(x, -2), 2); }) == list{op::clip, op::clip});
  CHECK(kinds_of_formula([](scalar x) { return maximum(x, .25 * x); }) == list{op::leaky_relu});
  CHECK(kinds_of_formula([](scalar x) { return minimum(2 * x, x); }) == list{op::leaky_relu});
  CHECK(kinds_of_formula([](scalar x) { return maximum(2 * x, x); }) == list{op::map, op::maximum});
  CHECK(kinds_of_formula([](scalar x) { return select(x > 0, x, x / 8); }) == list{op::leaky_relu});
  CHECK(kinds_of_formula([](scalar x) { return select(x >= 0, x, x * .5); }) == list{op::leaky_relu});
  CHECK(kinds_of_formula([](scalar x) { return select(x > 1, x, x * .5); }).empty());
  CHECK(kinds_of_formula([](scalar x) { return 1 / (1 + exp(-x)); }) == list{op::sigmoid});
  CHECK(kinds_of_formula([](scalar x) { return x / (exp(-x) + 1); }) == list{op::silu});
  CHECK(kinds_of_formula([](scalar x) { return sigmoid(x) * x; }) == list{op::silu});
  CHECK(kinds_of_formula([](scalar x) { return x * sigmoid(2 * x); }) == list{op::map, op::sigmoid, op::mul});
  CHECK(kinds_of_formula([](scalar x) { return minimum(maximum(x + 3, 0), 6) / 6; }) == list{op::hard_sigmoid});
  CHECK(kinds_of_formula([](scalar x) { return x * minimum(maximum(3 + x, 0), 6) / 6; }) == list{op::hard_swish});
  CHECK(kinds_of_formula([](scalar x) { return x * minimum(maximum(x / 6 + .5, 0), 1); }) == list{op::hard_swish});
  CHECK(kinds_of_formula([](scalar x) { return minimum(maximum(x / 5 + .5, 0), 1); }) == list{op::map, op::clip});
  CHECK(kinds_of_formula([](scalar x) { return x * (.5 + .5 * erf(x / 1.4142135623730951)); }) == list{op::gelu});
  CHECK(kinds_of_formula([](scalar x) { return (erf(x * .70710678) + 1) * (x / 2); }) == list{op::gelu});
  CHECK(kinds_of_formula([](scalar x) {
          scalar const cube = x * x * x;
          return x * .5 * (tanh((x + cube * .044715) * .7978845608) + 1);
        }) == list{op::gelu_tanh});
  CHECK(kinds_of_formula([](scalar x) { return x * (1 + tanh(.79788456 * x * (1 + .044715 * pow(x, 2)))) / 2; }) ==
        list{op::gelu_tanh});
  CHECK(kinds_of_formula([](scalar x) { return x * (1 + erf(x * .7)) / 2; }) ==
        list{op::map, op::map, op::map, op::mul, op::map});
}

TEST_CASE("numbers and functions are maps, and what is shared is computed once") {
  CHECK(kinds_of_formula([](scalar x) { return x * 2 + 1; }) == list{op::map});
  CHECK(kinds_of_formula([](scalar x) { return 3 - (x / 4 - 1) * 8; }) == list{op::map});
  CHECK(kinds_of_formula([](scalar x) { return -x; }) == list{op::map});
  CHECK(kinds_of_formula([](scalar x) { return 1 / x; }) == list{op::map});
  CHECK(kinds_of_formula([](scalar x) { return 1 / sqrt(abs(x)); }) == list{op::map, op::map});
  CHECK(kinds_of_formula([](scalar x) { return x * x; }) == list{op::mul});
  CHECK(kinds_of_formula([](scalar x) { return (exp(x) - exp(-x)) / (exp(x) + exp(-x)); }) ==
        list{op::map, op::map, op::map, op::sub, op::add, op::div});
  CHECK(kinds_of_formula([](scalar x) { return select(x < 1, x, x * x); }).empty());
  CHECK(kinds_of_formula([](scalar x) { return floor(x) + ceil(x) * round(x); }).size() == 5);
}

TEST_CASE("an operator whose normal form exceeds a limit stays as it is") {
  auto const many = compute("many", [](operand x) {
    var n, k;
    operand y = x;
    for (int i = 0; i < 7; ++i) y = result(n) = sum(k)(y(n) * x(k)) + sum(k)(x(k) + i) / 3;
    return y;
  });
  definition const d = many(extents(4));
  REQUIRE(d.bad.what == fault::none);
  CHECK(ago::recognition::normalised(d) == d);
}

TEST_CASE("operands that broadcast, in up to six axes") {
  auto const six = compute("six", [](operand x, operand y, weights p) {
    var a, b, c, d, e, f;
    return result(a, b, c, d, e, f) = x(a, b, c, d, e, f) * y(a, b) + p("shift", 2)(f);
  });
  CHECK(kinds_of(six(extents(2, 3, 2, 3, 2, 2), extents(2, 3))) == list{op::mul, op::bias});
  auto const gate = compute("gate", [](operand x, operand y) {
    var n, t, c;
    return result(n, t, c) = x(n, t, c) * y(n, c);
  });
  CHECK(kinds_of(gate(extents(2, 3, 4), extents(2, 4))) == list{op::mul});  // nothing is expanded
  auto const scattered = compute("scattered", [](operand x, operand y, operand z) {
    var a, b, c, d, e, f;
    return result(a, b, c, d, e, f) = x(a, b, c, d, e, f) * y(a, c, e) + z(b, d, f);
  });
  CHECK(kinds_of(scattered(extents(2, 3, 2, 3, 2, 2), extents(2, 2, 2), extents(3, 3, 2))).empty());
  auto const parts = compute("parts", [](operand x) {
    var n, j{3};
    return result(n, j) = sigmoid(x(n, j)) * tanh(x(n, j + 3));
  });
  CHECK(kinds_of(parts(extents(2, 6))) == list{op::slice, op::sigmoid, op::slice, op::tanh, op::mul});
  auto const symmetric = compute("symmetric", [](operand x) {
    var i, j;
    return result(i, j) = x(i, j) + x(j, i);
  });
  CHECK(kinds_of(symmetric(extents(4, 4))) == list{op::permute, op::add});
}

TEST_CASE("permutations of up to six axes are one or two operators") {
  int const extent[] = {2, 3, 2, 2, 3, 2};
  int order[] = {0, 1, 2, 3, 4, 5};
  int one = 0, two = 0, none = 0;
  do {
    definition const d = compute("permuted", [&](operand x) {
      var v[6];
      return result(v[0], v[1], v[2], v[3], v[4], v[5]) =
                 x(v[order[0]], v[order[1]], v[order[2]], v[order[3]], v[order[4]], v[order[5]]);
    })(extents(extent[0], extent[1], extent[2], extent[3], extent[4], extent[5]));
    auto const kinds = kinds_of(d);
    ++(kinds.size() == 1 ? one : kinds.size() == 2 ? two : none);
  } while (std::next_permutation(order, order + 6));
  CHECK(one > 50);
  CHECK(two > 300);
  CHECK(none > 0);
}

TEST_CASE("blocks of pixels as channels, and back, are what their layers record, but for reshapes") {
  struct trial {
    definition as;
    void (*layer)(ago::tensor);
    ago::input in;
  };
  auto const blocks = [](bool outermost, int block) {
    return compute("blocks", [=](operand x) {
      int const channels = x.extent(3) / (block * block);
      var n, h, w, c{channels};
      affine const place = block * (h % block) + w % block;
      return result(n, h, w, c) =
                 x(n, h / block, w / block, outermost ? c + channels * place : c * (block * block) + place);
    });
  };
  auto const channels = [](bool outermost, int block) {
    return compute("channels", [=](operand x) {
      int const own = x.extent(3), all = block * block;
      var n, h, w, c{own * all};
      affine const place = outermost ? c / own : c % all;
      return result(n, h, w, c) =
                 x(n, block * h + place / block, block * w + place % block, outermost ? c % own : c / all);
    });
  };
  auto const n = [](int h, int w, int c) { return ago::input{.n = 2, .h = h, .w = w, .c = c}; };
  std::vector<trial> const all{
      {blocks(true, 2)(extents(2, 3, 4, 12)), [](ago::tensor x) { (void)ago::depth_to_space{}(x); }, n(3, 4, 12)},
      {channels(true, 2)(extents(2, 4, 6, 3)), [](ago::tensor x) { (void)ago::space_to_depth{}(x); }, n(4, 6, 3)},
      {blocks(false, 2)(extents(2, 3, 4, 12)), [](ago::tensor x) { (void)ago::pixel_shuffle{}(x); }, n(3, 4, 12)},
      {channels(false, 2)(extents(2, 4, 6, 3)), [](ago::tensor x) { (void)ago::pixel_unshuffle{}(x); }, n(4, 6, 3)},
      {blocks(true, 3)(extents(2, 3, 4, 18)), [](ago::tensor x) { (void)ago::depth_to_space{3}(x); }, n(3, 4, 18)},
  };
  for (trial const& t : all) {
    recognised_nodes const r = recognised(t.as);
    REQUIRE(r);
    std::mt19937 random(1);
    check_values(t.as, r, random_operands(t.as, random));
    graph_test::run_time_trace trace;
    t.layer(trace.add(t.in));
    int next = 0;
    for (int v = 1; v < trace.recorder.nodes.size; ++v) {
      ago::ir::node const& expected = trace.recorder.nodes[v];
      if (expected.kind == op::reshape) continue;
      REQUIRE(next < r.count);
      ago::ir::node const& got = r.nodes[next++].made;
      CHECK(got.kind == expected.kind);
      CHECK((got.out == expected.out));
      CHECK(std::equal(got.order, got.order + 4, expected.order));
    }
    CHECK(next == r.count);
  }
}
