// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that exporters write as several ones, in all the orders they use.
#include "lowered.hpp"

using namespace ago::importer;
using namespace ago_test;

namespace {

/// A network of x, with distinct names for nodes.
class sketch {
 public:
  explicit sketch(ints const& dims, std::int64_t opset = 15) : net(opset) { net.input("x", dims); }

  std::string number(float k) { return constant({}, floats{k}); }
  template <class Numbers>
  std::string constant(ints const& dims, Numbers const& numbers) {
    net.constant(name(), dims, numbers);
    return name(false);
  }
  std::string node(std::string const& type, names const& inputs) {
    net.node(type, inputs, {name()});
    return name(false);
  }
  std::string reduce(std::string const& type, std::string const& x, ints const& axes, int keep = 1) {
    net.node(type, {x}, {name()}).set("axes", axes).set("keepdims", keep);
    return name(false);
  }
  std::string reshape(std::string const& x, ints const& dims) {
    return node("Reshape", {x, constant({std::int64_t(dims.size())}, dims)});
  }
  std::string transpose(std::string const& x, ints const& perm) {
    net.node("Transpose", {x}, {name()}).set("perm", perm);
    return name(false);
  }
  call_list lowered(std::string const& y) {
    net.output(y);
    return lowered_of(net).network;
  }

  network net;

 private:
  std::string name(bool next = true) { return "v" + std::to_string(next ? ++made_ : made_); }
  int made_ = 0;
};

/// The order in which x, (1 + f(x)) and 1 / 2 are multiplied: 0 to 5.
std::string halved(sketch& s, std::string const& e, int order) {
  std::string const half = s.number(.5f);
  switch (order) {
    case 0: return s.node("Mul", {s.node("Mul", {"x", half}), e});
    case 1: return s.node("Mul", {s.node("Mul", {half, e}), "x"});
    case 2: return s.node("Mul", {half, s.node("Mul", {e, "x"})});
    case 3: return s.node("Div", {s.node("Mul", {"x", e}), s.number(2)});
    case 4: return s.node("Mul", {s.node("Div", {"x", s.number(2)}), e});
    default: return s.node("Mul", {"x", s.node("Add", {s.node("Mul", {half, s.node("Sub", {e, s.number(1)})}), half})});
  }
}

/// Gamma and beta of 4 elements.
std::string gamma_of(sketch& s) { return s.constant({4}, counted(4)); }
std::string beta_of(sketch& s) { return s.constant({4}, counted(4, 100)); }

void expect_layer_norm(call_list const& list, bool gamma = true, bool beta = true) {
  call const& norm = only<ago::layer_norm>(list);
  CHECK(list.calls.size() == 2);
  CHECK(std::get<ago::layer_norm>(norm.what).epsilon == 1e-6f);
  floats expected = gamma ? counted(4) : floats(4, 1);
  for (float b : beta ? counted(4, 100) : floats(4, 0)) expected.push_back(b);
  CHECK(norm.weights == expected);
}

/// 1 / sqrt(variance + epsilon) of x, given the mean.
std::string reciprocal_deviation(sketch& s, std::string const& mean) {
  std::string const d = s.node("Sub", {"x", mean});
  std::string const variance = s.reduce("ReduceMean", s.node("Mul", {d, d}), {-1});
  return s.node("Reciprocal", {s.node("Sqrt", {s.node("Add", {variance, s.number(1e-6f)})})});
}

}  // namespace

TEST_CASE("GELU by the error function is one layer, in all orders and spellings of its numbers") {
  for (int order = 0; order < 6; ++order)
    for (bool divides : {true, false}) {
      CAPTURE(order);
      CAPTURE(divides);
      sketch s({1, 8});
      std::string const inside =
          divides ? s.node("Div", {"x", s.number(1.41421356f)}) : s.node("Mul", {s.number(.70710678f), "x"});
      std::string const e = s.node("Add", {s.number(1), s.node("Erf", {inside})});
      auto const list = s.lowered(halved(s, e, order));
      CHECK(list.calls.size() == 2);
      CHECK(!std::get<ago::gelu>(only<ago::gelu>(list).what).approximate);
    }
}

TEST_CASE("GELU by tanh is one layer, with a power or with products") {
  for (int order = 0; order < 6; ++order)
    for (int form = 0; form < 4; ++form) {
      CAPTURE(order);
      CAPTURE(form);
      sketch s({1, 8});
      std::string const k = s.number(.044715f), root = s.number(.79788456f);
      std::string const cube =
          form == 0 ? s.node("Pow", {"x", s.number(3)}) : s.node("Mul", {"x", s.node("Mul", {"x", "x"})});
      std::string const sum = s.node("Add", {"x", s.node("Mul", {cube, k})});
      std::string const square = s.node("Mul", {s.node("Mul", {k, "x"}), "x"});
      std::string const inside = form < 2 ? s.node("Mul", {sum, root})
                                 : form == 2
                                     ? s.node("Mul", {s.node("Mul", {root, "x"}), s.node("Add", {square, s.number(1)})})
                                     : s.node("Mul", {s.node("Add", {s.node("Mul", {square, root}), root}), "x"});
      std::string const e = s.node("Add", {s.node("Tanh", {inside}), s.number(1)});
      auto const list = s.lowered(halved(s, e, order));
      CHECK(list.calls.size() == 2);
      CHECK(std::get<ago::gelu>(only<ago::gelu>(list).what).approximate);
    }
}

TEST_CASE("an expression with other numbers is not GELU") {
  sketch s({1, 8});
  std::string const e = s.node("Add", {s.node("Erf", {s.node("Mul", {"x", s.number(.7f)})}), s.number(1)});
  CHECK(count<ago::gelu>(s.lowered(halved(s, e, 0))) == 0);
  sketch other({1, 8});
  other.net.input("z", {1, 8});
  std::string const of_z =
      other.node("Add", {other.node("Erf", {other.node("Div", {"z", other.number(1.41421356f)})}), other.number(1)});
  CHECK(count<ago::gelu>(other.lowered(halved(other, of_z, 0))) == 0);
}

TEST_CASE("TensorFlow's layer norm, x * (gamma / deviation) + (beta - mean * (gamma / deviation)), is one layer") {
  for (bool gamma : {true, false})
    for (bool beta : {true, false}) {
      CAPTURE(gamma);
      CAPTURE(beta);
      sketch s({1, 5, 4});
      std::string const mean = s.reduce("ReduceMean", "x", {2});
      std::string scale = reciprocal_deviation(s, mean);
      if (gamma) scale = s.node("Mul", {scale, gamma_of(s)});
      std::string const scaled = s.node("Mul", {"x", scale}), shift = s.node("Mul", {mean, scale});
      std::string const y =
          beta ? s.node("Add", {scaled, s.node("Sub", {beta_of(s), shift})}) : s.node("Sub", {scaled, shift});
      expect_layer_norm(s.lowered(y), gamma, beta);
    }
}

TEST_CASE("a layer norm that multiplies by the reciprocal of the deviation is one layer, in all orders") {
  for (int order = 0; order < 4; ++order) {
    CAPTURE(order);
    sketch s({1, 5, 4});
    std::string const mean = s.reduce("ReduceMean", "x", {-1}), r = reciprocal_deviation(s, mean);
    std::string const d = s.node("Sub", {"x", mean}), gamma = gamma_of(s);
    std::string const n = order == 0   ? s.node("Mul", {s.node("Mul", {r, gamma}), d})
                          : order == 1 ? s.node("Mul", {s.node("Mul", {r, d}), gamma})
                          : order == 2 ? s.node("Mul", {s.node("Mul", {gamma, d}), r})
                                       : s.node("Mul", {d, r});
    expect_layer_norm(s.lowered(s.node("Add", {n, beta_of(s)})), order != 3);
  }
}

TEST_CASE("a mean over another axis is not a layer norm") {
  sketch s({1, 4, 4});
  std::string const mean = s.reduce("ReduceMean", "x", {1}), scale = reciprocal_deviation(s, mean);
  std::string const y = s.node("Sub", {s.node("Mul", {"x", scale}), s.node("Mul", {mean, scale})});
  CHECK(count<ago::layer_norm>(s.lowered(y)) == 0);
}

TEST_CASE("Keras's layer norm, a batch norm of rows by their own statistics, is one layer") {
  sketch s({2, 5, 4});
  std::string const rows = s.reshape("x", {1, 10, 4, 1}), mean = s.reduce("ReduceMean", rows, {0, 2, 3});
  std::string const d = s.node("Sub", {rows, mean}), axes = s.constant({3}, ints{0, 2, 3});
  std::string const variance = s.node("Div", {s.reduce("ReduceSumSquare", d, {0, 2, 3}, 0), s.number(4)});
  std::string const ones = s.constant({10}, floats(10, 1)), zeros = s.constant({10}, floats(10, 0));
  s.net.node("BatchNormalization", {rows, ones, zeros, s.node("Squeeze", {mean, axes}), variance}, {"n"})
      .set("epsilon", 1e-6f);
  std::string const n = s.reshape("n", {2, 5, 4});
  expect_layer_norm(s.lowered(s.node("Add", {s.node("Mul", {n, gamma_of(s)}), beta_of(s)})));
}

TEST_CASE("an instance norm with rows in place of channels is a layer norm") {
  sketch s({1, 5, 4});
  s.net.node("InstanceNormalization", {"x", s.constant({5}, floats(5, 1)), s.constant({5}, floats(5, 0))}, {"n"})
      .set("epsilon", 1e-6f);
  expect_layer_norm(s.lowered(s.node("Add", {s.node("Mul", {"n", gamma_of(s)}), beta_of(s)})));
}

TEST_CASE("attention whose tokens are the rows of a matrix is one layer") {
  sketch s({1, 6, 8});
  std::string const rows = s.reshape("x", {6, 8});
  auto const heads = [&](ints const& perm) {
    std::string const w = s.constant({8, 8}, counted(64));
    return s.transpose(s.reshape(s.node("MatMul", {rows, w}), {1, 6, 2, 4}), perm);
  };
  std::string const q = heads({0, 2, 1, 3}), v = heads({0, 2, 1, 3});
  std::string const k = s.transpose(heads({0, 2, 1, 3}), {0, 1, 3, 2});
  s.net.node("Softmax", {s.node("Div", {s.node("MatMul", {q, k}), s.number(2)})}, {"w"}).set("axis", -1);
  std::string const y = s.transpose(s.node("MatMul", {"w", v}), {0, 2, 1, 3});
  auto const list = s.lowered(s.reshape(y, {6, 8}));
  auto const& layer = std::get<ago::attention>(only<ago::attention>(list).what);
  CHECK((layer.heads == 2 && layer.scale == 0));  // 1 / sqrt(depth)
  CHECK(count<ago::softmax>(list) == 0);
}

TEST_CASE("Keras's attention by Einsum, with a bias per head, is one layer") {
  sketch s({2, 6, 16});
  auto const einsum = [&](char const* equation, std::string const& a, std::string const& b) {
    std::string const y = "e" + std::to_string(s.net.graph().node_size());
    s.net.node("Einsum", {a, b}, {y}).set("equation", equation);
    return y;
  };
  auto const heads = [&] {
    std::string const w = s.constant({16, 2, 8}, counted(256)), b = s.constant({2, 8}, counted(16));
    return s.node("Add", {einsum("abc,cde->abde", "x", w), b});
  };
  std::string const q = s.node("Mul", {heads(), s.number(.25f)}), scores = einsum("aecd,abcd->acbe", heads(), q);
  s.net.node("Softmax", {scores}, {"w"}).set("axis", 3);
  std::string const y = einsum("acbe,aecd->abcd", "w", heads());
  auto const list = s.lowered(einsum("abcd,cde->abe", y, s.constant({2, 8, 16}, counted(256))));
  auto const& layer = std::get<ago::attention>(only<ago::attention>(list).what);
  CHECK((layer.heads == 2 && layer.scale == .25f));
  CHECK(count<ago::linear>(list) == 4);
  CHECK((count<ago::permute>(list) == 0 && count<ago::affine>(list) == 0));
}
