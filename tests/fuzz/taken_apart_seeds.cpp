// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that are decomposed when a model is read, branches that are chosen, and nodes that vanish.
#include "import_seeds.hpp"

namespace ago_test {

namespace {

floats quarters(std::size_t count) {
  floats r(count);
  for (std::size_t i = 0; i < count; ++i) r[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
  return r;
}

node microsoft(network& net, std::string const& type, names const& inputs, names const& outputs) {
  node n = net.node(type, inputs, outputs);
  n.proto().set_domain("com.microsoft");
  return n;
}

}  // namespace

network fused_seed() {
  network net;
  net.input("x", {1, 4, 4}).input("i", {1, 4, 3, 3}).constant("g", {4}, quarters(4));
  net.constant("c", {4, 4, 1, 1}, quarters(16));
  microsoft(net, "SkipLayerNormalization", {"x", "x", "g", "g", "g"}, {"a", "", "", "s"}).set("epsilon", 1e-3f);
  microsoft(net, "FusedMatMul", {"a", "s"}, {"b"}).set("transB", 1).set("alpha", 0.5f);
  microsoft(net, "BiasGelu", {"b", "g"}, {"d"});
  microsoft(net, "QuickGelu", {"d"}, {"e"});
  microsoft(net, "FastGelu", {"e", "g"}, {"f"});
  net.node("SimplifiedLayerNormalization", {"f", "g"}, {"h"});
  net.node("LayerNormalization", {"h", "g", "g"}, {"y"});
  microsoft(net, "FusedConv", {"i", "c", "g", "i"}, {"z"})
      .set("activation", "Clip")
      .set("activation_params", floats{0, 1});
  return net.output("y").output("z");
}

network fused_attention_seed() {
  network net;
  net.input("words", {1, 3}, ::onnx::TensorProto::INT32).input("mask", {1, 3}, ::onnx::TensorProto::INT32);
  net.constant("t", {5, 4}, quarters(20)).constant("p", {3, 4}, quarters(12)).constant("g", {4}, quarters(4));
  net.constant("w", {4, 12}, quarters(48)).constant("b", {12}, quarters(12));
  microsoft(net, "EmbedLayerNormalization", {"words", "", "t", "p", "", "g", "g", "mask"}, {"e", "m"});
  microsoft(net, "Attention", {"e", "w", "b", "m"}, {"a"}).set("num_heads", 2).set("unidirectional", 1);
  microsoft(net, "MultiHeadAttention", {"a", "e", "e", "b", "mask"}, {"y"}).set("num_heads", 1).set("scale", 0.5f);
  return net.output("y");
}

network einsum_seed() {
  network net;
  net.input("x", {2, 3, 4}).input("z", {2, 4, 3}).constant("w", {4, 2, 2}, quarters(16));
  net.node("Einsum", {"x", "w"}, {"a"}).set("equation", "abc,cde->abde");
  net.node("Einsum", {"x", "z"}, {"b"}).set("equation", "...ij,...jk->...ki");
  net.node("Einsum", {"b"}, {"c"}).set("equation", "bij->j");
  net.node("Einsum", {"c", "c"}, {"d"}).set("equation", "i,k");
  return net.output("a").output("d");
}

/// An If within an If, computed indices, parts without elements.
network branches_seed() {
  network net;
  net.input("x", {2, 3}).input("past", {0, 3}).input("i", {2}, ::onnx::TensorProto::INT64);
  net.list("sizes", {3, 0}).list("two", {2}).list("zero", {0}).constant("table", {4, 3}, quarters(12));
  net.constant("values", {2}, floats{0, 1}).list("depth", {3});
  net.node("Concat", {"past", "x"}, {"all"}).set("axis", 0);
  net.node("Split", {"all", "sizes"}, {"a", "rest"}).set("axis", 1);
  net.node("Gather", {"table", "i"}, {"rows"});
  net.node("OneHot", {"two", "depth", "values"}, {"hot"});
  net.node("Shape", {"a"}, {"shape"});
  net.node("Gather", {"shape", "zero"}, {"first"});
  net.node("Equal", {"first", "two"}, {"is"});
  auto const branch = [](node& of, char const* name, char const* type, names const& inputs) -> ::onnx::GraphProto& {
    auto& a = *of.proto().add_attribute();
    a.set_name(name);
    a.set_type(::onnx::AttributeProto::GRAPH);
    auto& n = *a.mutable_g()->add_node();
    n.set_op_type(type);
    for (auto const& i : inputs) n.add_input(i);
    n.add_output("o");
    a.mutable_g()->add_output()->set_name("o");
    return *a.mutable_g();
  };
  node outer = net.node("If", {"is"}, {"y"});
  branch(outer, "else_branch", "Relu", {"x"});
  node inner(*branch(outer, "then_branch", "If", {"is"}).mutable_node(0));
  branch(inner, "then_branch", "Sum", {"a", "rows", "hot"});
  branch(inner, "else_branch", "Relu", {"a"});
  return net.output("y");
}

/// A layer norm and a GELU as in TensorFlow.
network tensorflow_seed() {
  network net;
  net.input("x", {1, 3, 4}).constant("g", {4}, quarters(4)).constant("tiny", {}, floats{1e-6f});
  net.constant("half", {}, floats{.5f}).constant("one", {}, floats{1}).constant("three", {}, floats{3});
  net.constant("k", {}, floats{.044715f}).constant("root", {}, floats{.79788456f});
  net.node("ReduceMean", {"x"}, {"m"}).set("axes", ints{2});
  net.node("Sub", {"x", "m"}, {"d"});
  net.node("Mul", {"d", "d"}, {"q"});
  net.node("ReduceMean", {"q"}, {"v"}).set("axes", ints{2});
  net.node("Add", {"v", "tiny"}, {"e"});
  net.node("Sqrt", {"e"}, {"s"});
  net.node("Reciprocal", {"s"}, {"r"});
  net.node("Mul", {"r", "g"}, {"i"});
  net.node("Mul", {"x", "i"}, {"xi"});
  net.node("Mul", {"m", "i"}, {"mi"});
  net.node("Sub", {"g", "mi"}, {"b"});
  net.node("Add", {"xi", "b"}, {"n"});
  net.node("Pow", {"n", "three"}, {"p"});
  net.node("Mul", {"p", "k"}, {"pk"});
  net.node("Add", {"n", "pk"}, {"sum"});
  net.node("Mul", {"sum", "root"}, {"inside"});
  net.node("Tanh", {"inside"}, {"t"});
  net.node("Add", {"t", "one"}, {"t1"});
  net.node("Mul", {"n", "half"}, {"h"});
  net.node("Mul", {"h", "t1"}, {"y"});
  return net.output("y");
}

network composed_seed() {
  network net(24);
  net.input("x", {1, 2, 4, 4}).input("rois", {2, 4}).input("i", {2}, ::onnx::TensorProto::INT64).input("z", {2, 3});
  net.input("o", {1, 8, 3, 3}).constant("w", {3, 2, 2, 2}, quarters(24)).list("at", {1, 0}).list("five", {5});
  net.constant("values", {2}, quarters(2)).list("some", {1, 0, 1}).input("u", {1, 2, 1, 4}).list("start", {2});
  net.node("RoiAlign", {"x", "rois", "i"}, {"a"}).set("sampling_ratio", 2).set("output_height", 2);
  net.node("DeformConv", {"x", "w", "o"}, {"b"});
  net.node("Cast", {"x"}, {"whole"}).set("to", ::onnx::TensorProto::INT64);
  net.node("MaxUnpool", {"x", "whole"}, {"c"}).set("kernel_shape", ints{2, 1}).set("strides", ints{2, 1});
  net.node("SoftmaxCrossEntropyLoss", {"z", "i"}, {"d", "e"}).set("ignore_index", -1);
  net.node("OneHot", {"i", "five", "values"}, {"f"}).set("axis", 0);
  net.node("Compress", {"z", "some"}, {"g"}).set("axis", 1);
  net.node("ScatterElements", {"values", "at", "values"}, {"h"}).set("reduction", "add");
  net.node("TensorScatter", {"x", "u", "start"}, {"k"}).set("mode", "circular");
  net.node("Mod", {"i", "five"}, {"l"});
  net.node("Det", {"x"}, {"m"});
  net.constant("place", {1, 1}, ints{1}).input("r", {1, 3});
  net.node("ScatterND", {"z", "place", "r"}, {"n"}).set("reduction", "max");
  for (char const* name : {"a", "b", "c", "d", "e", "f", "g", "h", "k", "l", "m", "n"}) net.output(name);
  return net;
}

}  // namespace ago_test
