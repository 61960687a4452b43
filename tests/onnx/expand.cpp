// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The decomposition of operators, written as expressions: operators with attributes and operands.
#include "single.hpp"

#include <sstream>

using namespace ago_test;

namespace {

struct printed {
  std::ostringstream& out;
  void operator()(std::int64_t x) const { out << x; }
  void operator()(float x) const { out << x; }
  void operator()(std::string const& x) const { out << x; }
  void operator()(ago::onnx::constant const& k) const { k.reals.empty() ? (*this)(k.integers) : (*this)(k.reals); }
  template <class T>
  void operator()(std::vector<T> const& list) const {
    for (std::size_t i = 0; i < list.size(); ++i) out << (i ? " " : "") << list[i];
  }
};

/// Constants in braces, inputs by name.
std::string expression(ago::onnx::model const& m, int value) {
  if (value < 0) return "none";
  auto const& v = m.values[std::size_t(value)];
  std::ostringstream out;
  if (v.known) {
    out << '{';
    printed{out}(*v.known);
    out << '}';
    return out.str();
  }
  for (auto const& op : m.operations)
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.outputs[i] != value) continue;
      out << op.type << (i > 0 ? std::to_string(i) : "");
      for (auto const& [name, a] : op.attributes) {
        out << ' ' << name << '=';
        std::visit(printed{out}, a);
      }
      out << '(';
      for (std::size_t k = 0; k < op.inputs.size(); ++k) out << (k ? ", " : "") << expression(m, op.inputs[k]);
      return out.str() + ')';
    }
  return v.name;
}

/// The decomposition of an operator of ONNX Runtime.
std::string microsoft(char const* type, std::vector<operand> const& operands, attributes const& set = {},
                      int outputs = 1, std::int64_t opset = 13) {
  network net = single(opset, type, operands, set, outputs);
  net.graph().mutable_node(0)->set_domain("com.microsoft");
  auto const m = net.load();
  std::string r = expression(m, m.outputs.at(0));
  for (std::size_t i = 1; i < m.outputs.size(); ++i) r += "; " + expression(m, m.outputs[i]);
  return r;
}

std::string microsoft_complaint(char const* type, std::vector<operand> const& operands, attributes const& set = {},
                                int outputs = 1) {
  network net = single(13, type, operands, set, outputs);
  net.graph().mutable_node(0)->set_domain("com.microsoft");
  return net.complaint();
}

std::string standard(std::int64_t opset, char const* type, std::vector<operand> const& operands,
                     attributes const& set = {}, int outputs = 1) {
  auto const m = single(opset, type, operands, set, outputs).load();
  return expression(m, m.outputs.at(0));
}

}  // namespace

TEST_CASE("ONNX Runtime's activations") {
  CHECK(microsoft("Gelu", {in({2, 2})}) == "Gelu(x0)");
  CHECK(microsoft("BiasGelu", {in({2, 2}), reals({1, 2})}) == "Gelu(Add(x0, {1 2}))");
  CHECK(microsoft("FastGelu", {in({2, 2})}) == "Gelu approximate=tanh(x0)");
  CHECK(microsoft("FastGelu", {in({2, 2}), reals({1, 2})}) == "Gelu approximate=tanh(Add(x0, {1 2}))");
  CHECK(microsoft("QuickGelu", {in({2, 2})}) == "Swish alpha=1.702(x0)");
  contains(microsoft_complaint("Gelu", {in({2})}, [](node& n) { n.set("approximate", "tanh"); }), "no such attribute");
  contains(complaint_of(13, "Gelu", {in({2})}), "operator set 13 has no such operator");
}

TEST_CASE("ONNX Runtime's normalisations") {
  auto const tiny = [](node& n) { n.set("epsilon", 0.5f); };
  CHECK(standard(11, "LayerNormalization", {in({3, 2}), reals({1, 2}), reals({3, 4})}, tiny) ==
        "LayerNormalization epsilon=0.5(x0, {1 2}, {3 4})");
  CHECK(standard(13, "SimplifiedLayerNormalization", {in({3, 2}), reals({1, 2})}, tiny) ==
        "RMSNormalization axis=-1 epsilon=0.5(x0, {1 2})");
  std::vector<operand> const skip{in({3, 2}), in({3, 2}), reals({1, 2}), reals({3, 4}), reals({5, 6})};
  CHECK(microsoft("SkipLayerNormalization", skip, tiny) ==
        "LayerNormalization epsilon=0.5(Add(Add(x0, x1), {5 6}), {1 2}, {3 4})");
  CHECK(microsoft("SkipLayerNormalization", {in({3, 2}), in({3, 2}), reals({1, 2})}) ==
        "LayerNormalization epsilon=1e-12(Add(x0, x1), {1 2})");
  CHECK(microsoft("SkipSimplifiedLayerNormalization", {in({3, 2}), in({3, 2}), reals({1, 2}), reals({5, 6})}, tiny) ==
        "RMSNormalization epsilon=0.5(Add(Add(x0, x1), {5 6}), {1 2})");
  contains(microsoft_complaint("SkipLayerNormalization", {in({3, 2}), in({3, 2}), reals({1, 2})}, {}, 2),
           "node \"op\" (com.microsoft.SkipLayerNormalization): its mean and deviation are not supported");
  contains(microsoft_complaint("LayerNormalization", {in({3, 2}), reals({1, 2})}), "the operator is not supported");
}

TEST_CASE("ONNX Runtime's layer norm of words, positions and segments") {
  std::vector<operand> const tables{reals({3, 1}, {1, 2, 3}), reals({2, 1}, {4, 5}), reals({2, 1}, {6, 7}), reals({8}),
                                    reals({9})};
  std::vector<operand> all{integers_in({1, 2}), integers_in({1, 2})};
  all.insert(all.end(), tables.begin(), tables.end());
  CHECK(microsoft("EmbedLayerNormalization", all, [](node& n) { n.set("epsilon", 0.5f); }) ==
        "LayerNormalization epsilon=0.5(Add(Add(Gather({1 2 3}, x0), {4 5}), Gather({6 7}, x1)), {8}, {9})");
}

TEST_CASE("ONNX Runtime's products and convolutions") {
  auto const both = [](node& n) { n.set("transB", 1).set("alpha", 0.5f); };
  CHECK(microsoft("FusedMatMul", {in({2, 3, 4}), in({2, 5, 4})}, both) ==
        "Mul(MatMul(x0, Transpose perm=0 2 1(x1)), {0.5})");
  CHECK(microsoft("FusedMatMul", {in({4, 2, 3}), in({2, 4, 5})},
                  [](node& n) { n.set("transA", 1).set("transBatchA", 1); }) == "MatMul(Transpose perm=1 2 0(x0), x1)");
  CHECK(microsoft("FusedGemm", {in({2, 3}), in({2, 3})}, [](node& n) {
          n.set("transB", 1).set("activation", "LeakyRelu").set("activation_alpha", 0.25f);
        }) == "LeakyRelu alpha=0.25(Gemm transB=1(x0, x1))");
  std::vector<operand> const conv{in({1, 1, 2, 2}), reals({1, 1, 1, 1}, {3}), reals({4}), in({1, 1, 2, 2})};
  CHECK(microsoft("FusedConv", conv, [](node& n) { n.set("activation", "Relu").set("group", 1); }) ==
        "Relu(Add(Conv group=1(x0, {3}, {4}), x3))");
  CHECK(microsoft("FusedConv", {conv[0], conv[1]}, [](node& n) {
          n.set("activation", "Clip").set("activation_params", floats{0, 6});
        }) == "Min(Max(Conv(x0, {3}), {0}), {6})");
  contains(microsoft_complaint("FusedConv", conv, [](node& n) { n.set("activation", "Swirl"); }),
           "activation: \"Swirl\" is not supported");
}

TEST_CASE("ONNX Runtime's attention is products and a softmax") {
  auto const heads = [](node& n) { n.set("num_heads", 1); };
  std::string const scores =
      "Mul(MatMul(Transpose perm=0 2 1 3(Reshape(Split axis=-1(MatMul(x0, {1 2 3}), {1 1 1}), {1 2 1 1})), "
      "Transpose perm=0 2 3 1(Reshape(Split1 axis=-1(MatMul(x0, {1 2 3}), {1 1 1}), {1 2 1 1}))), {1})";
  std::string const rest =
      ", Transpose perm=0 2 1 3(Reshape(Split2 axis=-1(MatMul(x0, {1 2 3}), {1 1 1}), {1 2 1 1})))), {1 2 1})";
  std::vector<operand> operands{in({1, 2, 1}), reals({1, 3}, {1, 2, 3})};
  std::string const start = "Reshape(Transpose perm=0 2 1 3(MatMul(Softmax axis=3(";
  CHECK(microsoft("Attention", operands, heads) == start + scores + ")" + rest);
  operands.insert(operands.end(), {none(), tensor({1, 2}, {1, 0})});
  CHECK(microsoft("Attention", operands, [](node& n) { n.set("num_heads", 1).set("mask_filter_value", -8.f); }) ==
        start + "Add(" + scores + ", {-0 -8}))" + rest);
  operands.resize(2);
  CHECK(microsoft("Attention", operands, [](node& n) { n.set("num_heads", 1).set("unidirectional", 1); }) ==
        start + "Add(" + scores + ", {0 -1e+30 0 0}))" + rest);

  std::vector<operand> const three{in({1, 1, 1}), in({1, 2, 1}), in({1, 2, 1})};
  CHECK(microsoft("MultiHeadAttention", three, [](node& n) { n.set("num_heads", 1).set("scale", 0.5f); }) ==
        start +
            "Mul(MatMul(Transpose perm=0 2 1 3(Reshape(x0, {1 1 1 1})), Transpose perm=0 2 3 1(Reshape(x1, "
            "{1 2 1 1}))), {0.5})), Transpose perm=0 2 1 3(Reshape(x2, {1 2 1 1})))), {1 1 1})");

  contains(microsoft_complaint("Attention", {in({1, 2, 1}), reals({1, 3}, {1, 2, 3})}), "num_heads: 0 heads");
  operands.insert(operands.end(), {none(), none(), in({2, 1, 1, 4, 1})});
  contains(microsoft_complaint("Attention", operands, heads), "a past is not supported");
  contains(microsoft_complaint("MultiHeadAttention", {in({1, 2, 1, 3, 1})}, heads), "not three tensors");
  contains(microsoft_complaint("GroupQueryAttention", three, heads), "the operator is not supported");
}

TEST_CASE("tables that exceed any memory are not made for ONNX Runtime's operators either") {
  std::int64_t const many = 1 << 15, more = 1 << 29;
  auto const refused = [](char const* type, std::vector<operand> const& operands, attributes const& set = {}) {
    contains(microsoft_complaint(type, operands, set), "numbers, which is too large");
  };
  refused("Attention", {in({1, many, 1}), reals({1, 3}, {1, 2, 3})},
          [](node& n) { n.set("num_heads", 1).set("unidirectional", 1); });
  refused("RotaryEmbedding", {in({1, more, 2}), list({3}), reals({1, 1}, {1}), reals({1, 1}, {0})});
  refused("EmbedLayerNormalization",
          {integers_in({1, more}), none(), reals({1, 1}, {1}), reals({1, 1}, {1}), none(), reals({1}), reals({1})});
}

TEST_CASE("ONNX Runtime's rotary embedding counts positions from that of the first token") {
  std::vector<operand> const operands{in({1, 2, 2}), list({3}), reals({5, 1}, {1, 2, 3, 4, 5}),
                                      reals({5, 1}, floats(5, 0))};
  CHECK(microsoft("RotaryEmbedding", operands) ==
        "RotaryEmbedding interleaved=0 num_heads=1(x0, {1 2 3 4 5}, {0 0 0 0 0}, {3 4})");
}

TEST_CASE("Einsum becomes transpositions, reshapes, sums, and matrix or elementwise products") {
  auto const einsum = [](char const* equation, std::vector<operand> const& operands, std::int64_t opset = 13) {
    return standard(opset, "Einsum", operands, [&](node& n) { n.set("equation", equation); });
  };
  CHECK(einsum("ij -> ji", {in({2, 3})}) == "Transpose perm=1 0(x0)");
  CHECK(einsum("ij->", {in({2, 3})}) == "ReduceSum keepdims=0(x0, {0 1})");
  CHECK(einsum("ij->", {in({2, 3})}, 12) == "ReduceSum axes=0 1 keepdims=0(x0)");
  CHECK(einsum("ij,jk", {in({2, 3}), in({3, 4})}) == "MatMul(x0, x1)");
  CHECK(einsum("bij,bkj->bik", {in({2, 3, 4}), in({2, 5, 4})}) == "MatMul(x0, Transpose perm=0 2 1(x1))");
  CHECK(einsum("jk,ij->ik", {in({3, 4}), in({2, 3})}) == "MatMul(x1, x0)");
  CHECK(einsum("ij,ij->i", {in({2, 3}), in({2, 3})}) ==
        "Reshape(MatMul(Reshape(x0, {2 1 3}), Reshape(x1, {2 3 1})), {2})");
  CHECK(einsum("i,j->ij", {in({2}), in({3})}) == "Mul(Reshape(x0, {2 1}), Reshape(x1, {1 3}))");
  CHECK(einsum("abc,cde->abde", {in({1, 2, 3}), reals({3, 1, 2}, {1, 2, 3, 4, 5, 6})}) ==
        "Reshape(MatMul(Reshape(x0, {2 3}), {1 2 3 4 5 6}), {1 2 1 2})");
  CHECK(einsum("...ij,...jk->...ik", {in({1, 4, 2, 3}), in({5, 1, 3, 2})}) == "MatMul(x0, x1)");
  CHECK(einsum("ij,kl->il", {in({2, 3}), in({4, 5})}) ==
        "Mul(Reshape(ReduceSum keepdims=0(x0, {1}), {2 1}), Reshape(ReduceSum keepdims=0(x1, {0}), {1 5}))");
  CHECK(einsum("ii->i", {in({3, 3})}) == "Slice(Reshape(x0, {9}), {0}, {9}, {0}, {4})");
  CHECK(einsum("iji", {in({3, 2, 3})}) ==
        "ReduceSum keepdims=0(Slice(Reshape(Transpose perm=1 0 2(x0), {2 9}), {0}, {9}, {1}, {4}), {1})");
  CHECK(shape_of(13, "Einsum", {in({2, 3}), in({3, 4}), in({4, 5})},
                 [](node& n) { n.set("equation", "ij,jk,kl->li"); }) == ints{5, 2});

  auto const refused = [](char const* equation, std::vector<operand> const& operands, char const* why) {
    contains(complaint_of(13, "Einsum", operands, [&](node& n) { n.set("equation", equation); }),
             std::string("node \"op\" (Einsum), equation: ") + why);
  };
  refused("i->ii", {in({2})}, "a label appears twice in its result");
  refused("ii->i", {in({2, 3})}, "a label stands for 2 and for 3 elements");
  refused("ij,jk->ik", {in({2, 3}), in({4, 5})}, "a label stands for 3 and for 4 elements");
  refused("ij->ik", {in({2, 3})}, "its result has a label that no operand has");
  refused("ijk->ij", {in({2, 3})}, "\"ijk\" does not fit an operand of [2,3]");
  refused("ij,jk", {in({2, 3})}, "it has 2 operands, the node has 1");
  refused("i.j->i", {in({2, 3})}, "\"i.j\" is not understood");
  refused("......->", {in({2, 3})}, "\"......\" is not understood");
}

TEST_CASE("a decomposed operator is not reported if sizes are unknown") {
  network net;
  net.symbolic("x", {"N", "4"});
  net.node("Gelu", {"x"}, {"y"}).proto().set_domain("com.microsoft");
  net.output("y");
  CHECK(net.complaint({.operators = {"Gelu"}}).find("Gelu") == std::string::npos);
}

TEST_CASE("values without elements are removed: parts of a split, slices, inputs, operands of a concatenation") {
  network net;
  net.input("x", {1, 4, 6}).input("past", {1, 0, 6});
  net.list("sizes", {6, 0}).list("zero", {0}).list("one", {1});
  net.node("Concat", {"past", "x"}, {"all"}).set("axis", 1);
  net.node("Split", {"all", "sizes"}, {"turned", "rest"}).set("axis", 2);
  net.node("Slice", {"all", "zero", "zero", "one"}, {"none"});
  net.node("Relu", {"turned"}, {"a"});
  net.node("Relu", {"rest"}, {"b"});
  net.node("Concat", {"a", "b"}, {"c"}).set("axis", 2);
  net.node("Concat", {"none", "c"}, {"y"}).set("axis", 1);
  net.output("y");
  auto const m = net.load();
  CHECK(m.inputs.size() == 1);
  CHECK(output(m).dims == ints{1, 4, 6});
  CHECK(expression(m, m.outputs[0]) == "Relu(x)");
}
