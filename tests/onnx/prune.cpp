// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes that do not affect the outputs are left out.
#include "single.hpp"

using namespace ago_test;

namespace {

std::vector<std::string> types(ago::onnx::model const& m) {
  std::vector<std::string> all;
  for (auto const& op : m.operations) all.push_back(op.type);
  return all;
}

}  // namespace

TEST_CASE("operators that no output needs are removed with their constants, whatever they are") {
  network net;
  net.input("x", {2}).constant("dead", {1}, floats{1});
  net.node("Unheard", {"x", "dead"}, {"z"});
  net.node("Relu", {"x"}, {"y"});
  auto const m = net.output("y").load();
  CHECK(types(m) == names{"Relu"});
  CHECK(m.values.size() == 2);
}

TEST_CASE("copies between operators disappear") {
  network net(11);
  net.input("x", {1, 4}).list("same", {1, 4}).list("zero", {0}).list("four", {4}).list("pads", {0, 0, 0, 0});
  net.node("Relu", {"x"}, {"a"});
  net.node("Identity", {"a"}, {"b"});
  net.node("Dropout", {"b"}, {"c", "mask"});
  net.node("Cast", {"c"}, {"d"}).set("to", ::onnx::TensorProto::FLOAT16);
  net.node("Reshape", {"d", "same"}, {"e"});
  net.node("Transpose", {"e"}, {"f"}).set("perm", ints{0, 1});
  net.node("Slice", {"f", "zero", "four", "zero"}, {"g"});
  net.node("Concat", {"g"}, {"h"}).set("axis", 0);
  net.node("Sum", {"h"}, {"i"});
  net.node("Pad", {"i", "pads"}, {"j"});
  net.node("Exp", {"j"}, {"y"});
  auto const m = net.output("y").load();
  CHECK(types(m) == names{"Relu", "Exp"});
  CHECK(m.operations[1].inputs == m.operations[0].outputs);
}

TEST_CASE("operators that only look like copies stay") {
  auto const between = [](std::string const& type, names const& more, auto set) {
    network net;
    net.input("x", {4, 4}).list("zero", {0}).list("three", {3}).list("before", {-9}).list("back", {-1});
    net.list("shifted", {1, 0, -1, 0}).list("swapped", {1, 0});
    names inputs{"a"};
    inputs.insert(inputs.end(), more.begin(), more.end());
    net.node("Relu", {"x"}, {"a"});
    node n = net.node(type, inputs, {"b"});
    set(n);
    net.node("Exp", {"b"}, {"y"});
    return types(net.output("y").load());
  };
  auto const nothing = [](node&) {};
  CHECK(between("Identity", {}, nothing) == names{"Relu", "Exp"});
  CHECK(between("Slice", {"three", "before", "zero", "back"}, nothing) == names{"Relu", "Slice", "Exp"});
  CHECK(between("Pad", {"shifted"}, nothing) == names{"Relu", "Pad", "Exp"});
  CHECK(between("Transpose", {}, nothing) == names{"Relu", "Transpose", "Exp"});
  CHECK(between("Transpose", {}, [](node& n) { n.set("perm", ints{0, 1}); }) == names{"Relu", "Exp"});
  CHECK(between("Sum", {"a"}, nothing) == names{"Relu", "Sum", "Exp"});
}

TEST_CASE("casts of integers stay if they can change a value") {
  auto const cast = [](int to) {
    network net;
    net.input("x", {4}, ::onnx::TensorProto::INT64);
    net.node("Neg", {"x"}, {"a"});
    net.node("Cast", {"a"}, {"b"}).set("to", to);
    net.node("Abs", {"b"}, {"y"});
    return types(net.output("y").load()).size();
  };
  CHECK(cast(::onnx::TensorProto::INT64) == 2);
  CHECK(cast(::onnx::TensorProto::INT32) == 2);
  CHECK(cast(::onnx::TensorProto::BOOL) == 3);
  CHECK(cast(::onnx::TensorProto::UINT8) == 3);
}

TEST_CASE("an output keeps its name if the copy that produced it is removed") {
  network net;
  net.input("x", {2});
  net.node("Relu", {"x"}, {"a"});
  net.node("Identity", {"a"}, {"y"});
  auto const m = net.output("y").load();
  CHECK(types(m) == names{"Relu"});
  CHECK(output(m).name == "y");
  CHECK(m.outputs == m.operations[0].outputs);
}

TEST_CASE("an output that copies an input, a constant or another output stays a copy") {
  network net;
  net.input("x", {2});
  net.node("Identity", {"x"}, {"y"});
  net.node("Relu", {"x"}, {"a"});
  net.node("Identity", {"a"}, {"b"});
  net.node("Identity", {"b"}, {"c"});
  auto const m = net.output("y").output("a").output("c").load();
  CHECK(types(m) == names{"Identity", "Relu", "Identity"});
  CHECK(output(m, 0).name == "y");
  CHECK(output(m, 1).name == "a");
  CHECK(output(m, 2).name == "c");
  CHECK(m.operations[2].inputs == m.operations[1].outputs);
}

TEST_CASE("optional outputs without readers are removed") {
  auto const m = single(13, "MaxPool", {in({1, 1, 4, 4})}, [](node& n) { n.set("kernel_shape", ints{2, 2}); }).load();
  CHECK(m.operations.at(0).outputs.size() == 1);
  network net;
  net.input("x", {5});
  net.list("k", {2});
  net.node("TopK", {"x", "k"}, {"v", "i"});
  auto const second = net.output("i").load();
  REQUIRE(second.operations.at(0).outputs.size() == 2);
  CHECK(second.operations[0].outputs[0] == -1);
  CHECK(second.operations[0].outputs[1] == second.outputs[0]);
}

TEST_CASE("operators are put into execution order, whatever their order in the file") {
  network net;
  net.input("x", {2});
  net.node("Exp", {"b"}, {"y"});
  net.node("Neg", {"a"}, {"b"});
  net.node("Relu", {"x"}, {"a"});
  CHECK(types(net.output("y").load()) == names{"Relu", "Neg", "Exp"});
}

TEST_CASE("inputs stay, even those without readers") {
  network net;
  net.input("x", {2}).input("unused", {3});
  net.node("Relu", {"x"}, {"y"});
  auto const m = net.output("y").load();
  REQUIRE(m.inputs.size() == 2);
  CHECK(m.values[static_cast<std::size_t>(m.inputs[1])].name == "unused");
}
