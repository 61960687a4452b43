// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "import_seeds.hpp"

namespace ago_test {

namespace {

/// Weights that all differ, so that their order matters.
floats numbers(std::size_t count) {
  floats r(count);
  for (std::size_t i = 0; i < count; ++i) r[i] = 0.25f * static_cast<float>(i % 7) - 0.5f;
  return r;
}

/// A chain of operators with one operand, the result of the previous one.
class chain {
 public:
  chain(network& net, std::string first) : net_(net), last_(std::move(first)) {}

  /// `more`: operands after the first.
  node then(std::string const& type, names more = {}) {
    more.insert(more.begin(), last_);
    last_ = "v" + std::to_string(++made_);
    return net_.node(type, more, {last_});
  }
  std::string const& last() const { return last_; }
  network end() { return net_.output(last_); }

 private:
  network& net_;
  std::string last_;
  int made_ = 0;
};

network windows() {
  network net(19);
  net.input("x", {1, 4, 9, 8});
  net.constant("w", {4, 4, 3, 3}, numbers(144)).constant("d", {8, 1, 3, 3}, numbers(72));
  net.constant("g", {4, 4, 1, 3}, numbers(48)).constant("t", {4, 2, 2, 2}, numbers(32)).constant("b", {4}, numbers(4));
  chain c(net, "x");
  c.then("Conv", {"w", "b"}).set("pads", ints{1, 0, 1, 2}).set("strides", ints{2, 1});
  c.then("Conv", {"d"}).set("group", 4).set("dilations", ints{2, 1}).set("auto_pad", "SAME_UPPER");
  c.then("Conv", {"g"}).set("group", 2).set("auto_pad", "SAME_LOWER");
  c.then("ConvTranspose", {"t", "b"}).set("group", 2).set("strides", ints{2, 3}).set("output_padding", ints{1, 1});
  c.then("MaxPool").set("kernel_shape", ints{3, 2}).set("strides", ints{2, 2}).set("ceil_mode", 1);
  c.then("AveragePool").set("kernel_shape", ints{2, 3}).set("pads", ints{1, 1, 1, 1}).set("count_include_pad", 1);
  c.then("AveragePool").set("kernel_shape", ints{2, 2}).set("dilations", ints{2, 2}).set("pads", ints{1, 0, 0, 1});
  c.then("LpPool").set("kernel_shape", ints{2, 2}).set("p", 3);
  return c.end();
}

network signals() {
  network net;
  net.input("x", {2, 3, 12}).constant("w", {6, 1, 3}, numbers(18)).constant("t", {6, 2, 2}, numbers(24));
  net.constant("k", {2}, numbers(2));
  chain c(net, "x");
  c.then("Conv", {"w"}).set("group", 3).set("pads", ints{1, 1});
  c.then("ConvTranspose", {"t"}).set("output_shape", ints{25}).set("strides", ints{2});
  c.then("BatchNormalization", {"k", "k", "k", "k"});
  c.then("MaxPool").set("kernel_shape", ints{3}).set("pads", ints{1, 1});
  c.then("GlobalMaxPool");
  return c.end();
}

network products() {
  network net;
  net.input("x", {2, 6}).input("z", {3, 2, 6, 4}).constant("w", {5, 6}, numbers(30)).constant("b", {5}, numbers(5));
  net.constant("m", {5, 6}, numbers(30)).constant("l", {2, 3}, numbers(6)).constant("v", {6}, numbers(6));
  net.node("Gemm", {"x", "w", "b"}, {"a"}).set("transB", 1).set("alpha", 0.5f);
  net.node("MatMul", {"a", "m"}, {"c"});
  net.node("MatMul", {"c", "z"}, {"d"});
  net.node("MatMul", {"l", "e"}, {"f"});
  net.node("Gemm", {"x", "c"}, {"g"}).set("transB", 1).set("beta", 2.0f);
  net.node("MatMul", {"x", "v"}, {"h"});
  net.node("ReduceMean", {"d"}, {"e"}).set("axes", ints{1, 2}).set("keepdims", 0);
  return net.output("d").output("f").output("g").output("h");
}

network norms() {
  network net(23);
  net.input("x", {1, 4, 3, 5}).constant("k", {4}, numbers(4)).constant("r", {5}, numbers(5));
  net.constant("v", {4}, floats(4, 1)).constant("m", {3, 5}, numbers(15));
  chain c(net, "x");
  c.then("BatchNormalization", {"k", "k", "k", "v"});
  c.then("GroupNormalization", {"k", "k"}).set("num_groups", 2);
  c.then("InstanceNormalization", {"k", "k"});
  c.then("LRN").set("size", 3);
  c.then("LayerNormalization", {"m", "r"}).set("axis", 2);
  c.then("RMSNormalization", {"r"});
  c.then("LpNormalization").set("axis", 1);
  c.then("MeanVarianceNormalization");
  c.then("LogSoftmax").set("axis", 2);
  c.then("Softmax").set("axis", 1);
  return c.end();
}

network activations() {
  network net(22);
  net.input("x", {2, 3}).constant("zero", {}, floats{0}).constant("six", {}, floats{6});
  chain c(net, "x");
  for (char const* type : {"Relu", "Sigmoid", "Tanh", "HardSwish", "Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal",
                           "Erf", "Sin", "Floor", "Softplus", "Mish", "Sign", "Sinh", "Atanh"})
    c.then(type);
  c.then("Elu").set("alpha", 2.0f);
  c.then("Selu");
  c.then("ThresholdedRelu").set("alpha", 0.5f);
  c.then("Shrink").set("lambd", 0.25f);
  c.then("LeakyRelu").set("alpha", 0.2f);
  c.then("HardSigmoid").set("alpha", 0.3f);
  c.then("Gelu").set("approximate", "tanh");
  c.then("Clip", {"zero", "six"});
  c.then("Dropout");
  c.then("Cast").set("to", ::onnx::TensorProto::BOOL);
  c.then("Not");
  return c.end();
}

network broadcasts() {
  network net;
  net.input("x", {2, 3, 4}).input("z", {3, 1}).constant("k", {4}, numbers(4)).constant("r", {3, 1}, numbers(3));
  net.constant("two", {}, floats{2});
  net.node("Add", {"x", "z"}, {"a"});
  net.node("Mul", {"a", "k"}, {"b"});
  net.node("Sub", {"r", "b"}, {"c"});
  net.node("Div", {"c", "two"}, {"d"});
  net.node("Pow", {"d", "two"}, {"e"});
  net.node("Max", {"e", "z", "k"}, {"f"});
  net.node("Mean", {"f", "x"}, {"g"});
  net.node("Greater", {"g", "z"}, {"h"});
  net.node("Where", {"h", "g", "r"}, {"i"});
  net.node("PRelu", {"i", "r"}, {"j"});
  net.node("Equal", {"j", "x"}, {"y"});
  return net.output("y");
}

network reductions() {
  network net;
  net.input("x", {2, 3, 4, 5}).list("k", {2});
  names all;
  for (char const* type :
       {"ReduceMean", "ReduceMax", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}) {
    all.push_back(type);
    net.node(type, {"x"}, {type}).set("axes", ints{1, 3}).set("keepdims", 0);
  }
  net.node("ArgMax", {"x"}, {"a"}).set("axis", 2).set("keepdims", 0);
  net.node("TopK", {"x", "k"}, {"t", "i"}).set("axis", 1);
  net.node("Cast", {"a"}, {"b"}).set("to", ::onnx::TensorProto::FLOAT);
  net.node("Sum", all, {"s"});
  net.node("GlobalAveragePool", {"t"}, {"g"});
  return net.output("s").output("b").output("g").output("i");
}

network images() {
  network net(18);
  net.input("x", {1, 4, 4, 6}).list("cubic", {7, 9}).constant("twice", {4}, floats{1, 1, 2, 2});
  net.list("around", {0, 0, 1, 2, 0, 0, 0, 1}).list("mirror", {0, 1, 2, 0, 0, 1, 0, 1});
  chain c(net, "x");
  c.then("Resize", {"", "twice"}).set("mode", "nearest").set("coordinate_transformation_mode", "asymmetric");
  c.then("DepthToSpace").set("blocksize", 2).set("mode", "CRD");
  c.then("SpaceToDepth").set("blocksize", 4);
  c.then("Pad", {"around"});
  c.then("Pad", {"mirror"}).set("mode", "reflect");
  c.then("Resize", {"", "", "cubic"}).set("axes", ints{2, 3}).set("nearest_mode", "ceil");
  c.then("Resize", {"", "twice"}).set("mode", "linear");
  c.then("Resize", {"", "", "cubic"}).set("mode", "cubic").set("axes", ints{2, 3}).set("antialias", 1);
  c.then("GlobalAveragePool");
  return c.end();
}

network movement() {
  network net(14);
  net.input("x", {2, 6, 4}).list("shape", {2, 2, 3, 4}).list("two", {2}).list("minus", {-1}).list("least", {-9});
  net.list("axis", {1}).list("five", {5, 2, 2, 3, 1}).list("times", {1, 2, 1, 3}).list("wide", {3, 2, 4, 4, 3});
  net.node("Reshape", {"x", "shape"}, {"a"});
  net.node("Transpose", {"a"}, {"b"}).set("perm", ints{0, 2, 1, 3});
  net.node("Split", {"b"}, {"c", "d"}).set("axis", 3);
  net.node("Slice", {"c", "minus", "least", "axis", "minus"}, {"e"});
  net.node("Concat", {"e", "d", "b"}, {"f"}).set("axis", -1);
  net.node("Gather", {"f", "five"}, {"g"}).set("axis", 0).named("gone");
  net.node("Tile", {"f", "times"}, {"h"});
  net.node("Unsqueeze", {"b", "axis"}, {"i"});
  net.node("Squeeze", {"i", "axis"}, {"j"});
  net.node("Flatten", {"j"}, {"k"});
  net.node("CumSum", {"k", "axis"}, {"l"});
  net.node("Trilu", {"h"}, {"y"});
  return net.output("y").output("l");
}

network choices() {
  network net;
  net.input("t", {2, 3}, ::onnx::TensorProto::INT64).input("x", {3, 4}).constant("table", {5, 4}, numbers(20));
  net.constant("i", {2, 2}, ints{0, 2, 1, 1}).constant("n", {2, 1}, ints{2, 0}).constant("u", {2, 4}, numbers(8));
  net.list("rows", {2, 0, 0}).list("wide", {2, 3, 4});
  net.node("Gather", {"table", "t"}, {"a"});
  net.node("Gather", {"x", "rows"}, {"b"});
  net.node("GatherElements", {"b", "i"}, {"c"}).set("axis", 1);
  net.node("ScatterND", {"b", "n", "u"}, {"d"});
  net.node("Expand", {"d", "wide"}, {"e"});
  net.node("Add", {"a", "e"}, {"y"});
  return net.output("y").output("c");
}

network attention() {
  network net(24);
  net.input("q", {1, 3, 8}).input("k", {1, 5, 4}).input("v", {1, 5, 4}).constant("mask", {3, 4}, numbers(12));
  net.constant("cos", {1, 3, 1}, numbers(3)).constant("sin", {1, 3, 1}, numbers(3));
  net.node("RotaryEmbedding", {"q", "cos", "sin"}, {"r"}).set("num_heads", 4);
  net.node("Attention", {"r", "k", "v", "mask"}, {"y"})
      .set("q_num_heads", 4)
      .set("kv_num_heads", 2)
      .set("is_causal", 1)
      .set("softcap", 2.0f);
  return net.output("y");
}

/// Past keys and values, a computed mask, all outputs; positions of tokens.
network memory() {
  network net(24);
  net.input("q", {2, 2, 3, 4}).input("k", {2, 1, 3, 4}).input("v", {2, 1, 3, 5}).input("mask", {3, 4});
  net.input("pk", {2, 1, 2, 4}).input("pv", {2, 1, 2, 5}).constant("cos", {5, 2}, numbers(10)).list("lengths", {5, 3});
  net.constant("sin", {5, 2}, numbers(10)).constant("at", {2, 3}, ints{0, 1, 2, 2, 3, 4});
  net.node("RotaryEmbedding", {"q", "cos", "sin", "at"}, {"r"}).set("interleaved", 1);
  net.node("Attention", {"r", "k", "v", "mask", "pk", "pv", "lengths"}, {"y", "nk", "nv", "s"})
      .set("qk_matmul_output_mode", 2);
  return net.output("y").output("nk").output("nv").output("s");
}

/// Attributes that later became inputs.
network old_operators() {
  network net(9);
  net.input("x", {1, 3, 4, 4}).constant("twice", {4}, floats{1, 1, 2, 2}).constant("k", {3}, floats(3, 1));
  chain c(net, "x");
  c.then("Upsample", {"twice"}).set("mode", "linear");
  c.then("BatchNormalization", {"k", "k", "k", "k"});
  c.then("Clip").set("min", 0.0f).set("max", 6.0f);
  c.then("Pad").set("pads", ints{0, 0, 1, -1, 0, 0, 0, 2}).set("value", 0.5f);
  c.then("Slice").set("axes", ints{2, 3}).set("starts", ints{1, -6}).set("ends", ints{9, 99});
  c.then("Dropout");
  c.then("Softmax");
  c.then("Unsqueeze").set("axes", ints{0});
  c.then("Squeeze").set("axes", ints{0, 1});
  net.node("Split", {c.last()}, {"s", "t"}).set("axis", 0).set("split", ints{2, 1});
  net.node("TopK", {"s"}, {"u", "i"}).set("k", 2).set("axis", 2);
  net.node("ReduceSum", {"t"}, {"v"}).set("axes", ints{-1});
  return net.output("i").output("v");
}

/// The attention of a transformer as exporters write it.
network attention_pattern() {
  network net;
  net.input("x", {1, 3, 4}).constant("w", {4, 4}, numbers(16)).list("heads", {1, 3, 2, 2}).list("whole", {1, 3, 4});
  net.constant("root", {}, floats{1.41421356f});
  for (std::string const part : {"q", "k", "v"}) {
    net.node("MatMul", {"x", "w"}, {part});
    net.node("Reshape", {part, "heads"}, {part + "r"});
    net.node("Transpose", {part + "r"}, {part + "t"}).set("perm", part == "k" ? ints{0, 2, 3, 1} : ints{0, 2, 1, 3});
  }
  net.node("MatMul", {"qt", "kt"}, {"s"});
  net.node("Div", {"s", "root"}, {"d"});
  net.node("Softmax", {"d"}, {"p"}).set("axis", -1);
  net.node("MatMul", {"p", "vt"}, {"o"});
  net.node("Transpose", {"o"}, {"t"}).set("perm", ints{0, 2, 1, 3});
  net.node("Reshape", {"t", "whole"}, {"y"});
  return net.output("y");
}

/// Layer norm, GELU, SiLU, hard swish and Mish as several operators.
network patterns() {
  network net;
  net.input("x", {2, 4}).constant("two", {}, floats{2}).constant("tiny", {}, floats{1e-5f});
  net.constant("one", {}, floats{1});
  net.constant("g", {4}, numbers(4)).constant("root", {}, floats{1.41421356f}).constant("half", {}, floats{0.5f});
  net.node("ReduceMean", {"x"}, {"mean"}).set("axes", ints{-1});
  net.node("Sub", {"x", "mean"}, {"d"});
  net.node("Pow", {"d", "two"}, {"s"});
  net.node("ReduceMean", {"s"}, {"v"}).set("axes", ints{-1});
  net.node("Add", {"v", "tiny"}, {"e"});
  net.node("Sqrt", {"e"}, {"r"});
  net.node("Div", {"d", "r"}, {"n"});
  net.node("Mul", {"n", "g"}, {"m"});
  net.node("Add", {"m", "g"}, {"a"});
  net.node("Div", {"a", "root"}, {"b"});
  net.node("Erf", {"b"}, {"c"});
  net.node("Add", {"c", "one"}, {"f"});
  net.node("Mul", {"a", "f"}, {"h"});
  net.node("Mul", {"h", "half"}, {"i"});
  net.node("Sigmoid", {"i"}, {"j"});
  net.node("Mul", {"i", "j"}, {"k"});
  net.node("HardSigmoid", {"k"}, {"l"}).set("alpha", 1 / 6.f).set("beta", 0.5f);
  net.node("Mul", {"k", "l"}, {"o"});
  net.node("Softplus", {"o"}, {"p"});
  net.node("Tanh", {"p"}, {"q"});
  net.node("Mul", {"o", "q"}, {"y"});
  return net.output("y");
}

/// RMS norm and group norm as several operators.
network norm_patterns() {
  network net;
  net.input("x", {1, 4, 2, 3}).constant("two", {}, floats{2}).constant("tiny", {}, floats{1e-5f});
  net.constant("one", {2}, floats{1, 1}).constant("zero", {2}, floats{0, 0}).list("grouped", {1, 2, 12});
  net.list("whole", {1, 4, 2, 3}).constant("k", {4, 1, 1}, numbers(4)).constant("g", {3}, numbers(3));
  net.node("Reshape", {"x", "grouped"}, {"a"});
  net.node("InstanceNormalization", {"a", "one", "zero"}, {"b"});
  net.node("Reshape", {"b", "whole"}, {"c"});
  net.node("Mul", {"c", "k"}, {"d"});
  net.node("Add", {"d", "k"}, {"e"});
  net.node("Pow", {"e", "two"}, {"f"});
  net.node("ReduceMean", {"f"}, {"h"}).set("axes", ints{-1});
  net.node("Add", {"h", "tiny"}, {"i"});
  net.node("Sqrt", {"i"}, {"j"});
  net.node("Div", {"e", "j"}, {"l"});
  net.node("Mul", {"l", "g"}, {"y"});
  return net.output("y");
}

/// Inverted residuals with gates and a channel shuffle, repeated often enough to become functions.
network blocks() {
  network net;
  net.input("x", {1, 4, 5, 5}).constant("w", {6, 4, 1, 1}, numbers(24)).constant("d", {6, 1, 3, 3}, numbers(54));
  net.constant("p", {4, 6, 1, 1}, numbers(24)).constant("s", {4, 4, 1, 1}, numbers(16));
  net.list("cut", {1, 2, 2, 5, 5}).list("whole", {1, 4, 5, 5});
  std::string x = "x";
  for (std::string const n : {"1", "2", "3"}) {
    net.node("Conv", {x, "w"}, {"a" + n});
    net.node("Relu", {"a" + n}, {"b" + n});
    net.node("Conv", {"b" + n, "d"}, {"c" + n}).set("group", 6).set("pads", ints{1, 1, 1, 1});
    net.node("Conv", {"c" + n, "p"}, {"d" + n});
    net.node("Add", {x, "d" + n}, {"e" + n});
    net.node("GlobalAveragePool", {"e" + n}, {"f" + n});
    net.node("Conv", {"f" + n, "s"}, {"g" + n});
    net.node("Sigmoid", {"g" + n}, {"h" + n});
    net.node("Mul", {"e" + n, "h" + n}, {x = "y" + n});
  }
  net.node("Reshape", {x, "cut"}, {"i"});
  net.node("Transpose", {"i"}, {"j"}).set("perm", ints{0, 2, 1, 3, 4});
  net.node("Reshape", {"j", "whole"}, {"k"});
  net.node("MaxPool", {"k"}, {"y"}).set("kernel_shape", ints{2, 2});
  return net.output("y");
}

/// Values with many axes and with none, an output that is an input, and a constant output.
network shapes() {
  network net;
  net.input("x", {2, 1, 3, 2, 2, 2}).input("s", {}).constant("k", {2, 1, 2}, numbers(4));
  net.constant("c", {1, 2}, numbers(2));
  net.node("Add", {"x", "k"}, {"a"});
  net.node("Transpose", {"a"}, {"b"});
  net.node("Mul", {"b", "s"}, {"d"});
  net.node("ReduceSum", {"d"}, {"e"});
  net.node("Softmax", {"d"}, {"f"}).set("axis", 2);
  net.node("Identity", {"c"}, {"g"});
  return net.output("e").output("f").output("s").output("g").output("b");
}

}  // namespace

std::map<std::string, network> import_seeds() {
  return {{"windows", windows()},
          {"signals", signals()},
          {"products", products()},
          {"norms", norms()},
          {"activations", activations()},
          {"broadcasts", broadcasts()},
          {"reductions", reductions()},
          {"images", images()},
          {"movement", movement()},
          {"choices", choices()},
          {"attention", attention()},
          {"memory", memory()},
          {"old_operators", old_operators()},
          {"attention_pattern", attention_pattern()},
          {"patterns", patterns()},
          {"norm_patterns", norm_patterns()},
          {"blocks", blocks()},
          {"shapes", shapes()},
          {"fused", fused_seed()},
          {"fused_attention", fused_attention_seed()},
          {"einsum", einsum_seed()},
          {"branches", branches_seed()},
          {"tensorflow", tensorflow_seed()},
          {"composed", composed_seed()}};
}

}  // namespace ago_test
