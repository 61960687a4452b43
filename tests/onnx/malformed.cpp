// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged, incomplete, hostile or unsupported files: a sentence for each, never a crash.
#include "files.hpp"
#include "single.hpp"

using namespace ago_test;
using ::onnx::TensorProto;

namespace {

/// A node of each kind that the decoder reads: attributes, initializers, shapes.
network small() {
  network net;
  net.symbolic("x", {"N", "3", "8", "8"}).constant("w", {4, 3, 3, 3}, floats(108, 0.5f)).list("to", {0, -1});
  net.node("Conv", {"x", "w"}, {"a"}).set("pads", ints{1, 1, 1, 1}).set("auto_pad", "NOTSET").set("group", 1);
  net.node("Clip", {"a"}, {"b"});
  net.node("Reshape", {"b", "to"}, {"c"});
  fill(net.node("Constant", {}, {"k"}).tensor("value"), {1}, floats{2});
  net.node("Mul", {"c", "k"}, {"y"});
  net.output("y");
  return net;
}

std::string complaint_about(std::string const& bytes) {
  try {
    ago::onnx::load_bytes(bytes, "", {.batch = 1});
  } catch (ago::onnx::import_error const& e) {
    CHECK(std::string(e.what()).size() > 10);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a model that is truncated anywhere") {
  std::string const whole = small().bytes();
  CHECK(complaint_about(whole).empty());
  int loaded = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) loaded += complaint_about(whole.substr(0, size)).empty();
  CHECK(loaded == 0);
}

TEST_CASE("a model with any byte changed") {
  std::string const whole = small().bytes();
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (char const flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      refused += !complaint_about(bytes).empty();
    }
  }
  CHECK(refused > 300);  // the other bytes changed a weight or a name
}

TEST_CASE("files that are not models") {
  contains(complaint_about(""), "no graph");
  contains(complaint_about("PK\x03\x04 something else"), "damaged, or not an ONNX model");
  temporary_folder const folder;
  CHECK_THROWS_WITH_AS(ago::onnx::load(folder.path()), doctest::Contains("is not a regular file"),
                       ago::onnx::import_error);
  CHECK_THROWS_WITH_AS(ago::onnx::load(folder.path() / "nothing.onnx"), doctest::Contains("No such file"),
                       ago::onnx::import_error);
  auto const file = folder.write("text.onnx", "This is not a model.");
  CHECK_THROWS_WITH_AS(ago::onnx::load(file), doctest::Contains("is a text file"), ago::onnx::import_error);
}

TEST_CASE("operator sets that are too old, too new or missing") {
  for (std::int64_t const opset : {-1, 0, 5, 27}) {
    contains(single(opset, "Relu", {in({1})}).complaint(),
             "operator set " + std::to_string(opset) + " is not supported");
  }
  network none;
  none.proto().clear_opset_import();
  contains(none.complaint(), "operator set 0 is not supported");
}

TEST_CASE("inconsistent graphs") {
  network cycle;
  cycle.input("x", {2});
  cycle.node("Add", {"x", "b"}, {"a"}).named("first");
  cycle.node("Relu", {"a"}, {"b"});
  contains(cycle.output("b").complaint(), "node \"first\" (Add): it is on a cycle");

  network self;
  self.node("Relu", {"a"}, {"a"});
  contains(self.output("a").complaint(), "node \"#0\" (Relu): it is on a cycle");

  network dangling;
  dangling.input("x", {2});
  dangling.node("Add", {"x", "ghost"}, {"y"}).named("sum");
  contains(dangling.output("y").complaint(), "node \"sum\" (Add): its input \"ghost\" is not defined");
  contains(network().input("x", {2}).output("ghost").complaint(), "the output \"ghost\" is not defined");
  contains(network().input("x", {2}).complaint(), "the graph has no outputs");

  network twice;
  twice.input("x", {2});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Exp", {"x"}, {"y"}).named("again");
  contains(twice.output("y").complaint(), "node \"again\" (Exp): its output \"y\" is already defined");
  contains(network().input("x", {2}).input("x", {2}).output("x").complaint(), "the input \"x\" appears twice");
  contains(network().list("w", {2}).list("w", {2}).output("w").complaint(), "the initializer \"w\" appears twice");
}

TEST_CASE("nodes with too many or too few of anything") {
  contains(complaint_of(13, "Relu", {in({2}), in({2})}), "2 inputs, expected 1");
  contains(complaint_of(13, "Add", {in({2})}), "1 inputs, expected 2");
  contains(complaint_of(13, "Concat", {}), "0 inputs, expected at least 1");
  contains(complaint_of(13, "Add", {none(), in({2})}), "input 0 is missing");
  contains(complaint_of(13, "Relu", {in({2})}, {}, 2), "2 outputs, expected one");
  contains(complaint_of(13, "Relu", {in({2})}, [](node& n) { n.set("alpha", 1.0f); }), "alpha: operator set 13 has no");
  contains(complaint_of(13, "Elu", {in({2})}, [](node& n) { n.set("alpha", 1.0f).set("alpha", 2.0f); }),
           "alpha: it appears twice");
  contains(complaint_of(13, "Flatten", {in({2})}, [](node& n) { n.set("axis", 1.0f); }), "axis: it is not an integer");
}

TEST_CASE("attributes of a kind that is not supported") {
  auto const with = [](auto set) {
    network net = single(13, "Relu", {in({2})});
    auto& a = *net.graph().mutable_node(0)->add_attribute();
    a.set_name("body");
    set(a);
    return net.complaint();
  };
  using ::onnx::AttributeProto;
  contains(with([](auto& a) { a.set_type(AttributeProto::GRAPH); }), "body: a graph within a graph is not supported");
  contains(with([](auto& a) { a.set_type(AttributeProto::TYPE_PROTO); }), "body: its type is not supported");
  contains(with([](auto&) {}), "body: its type is missing");
  contains(with([](auto& a) { a.set_type(AttributeProto::INT), a.set_ref_attr_name("x"); }), "attribute of a function");
}

TEST_CASE("sizes that are too large are refused before anything is allocated") {
  contains(complaint_of(13, "Relu", {in({1 << 20, 1 << 20})}), "more than 2147483647 elements");
  contains(complaint_of(13, "Expand", {in({1}), list({1 << 20, 1 << 20})}), "more than 2147483647 elements");
  contains(complaint_of(13, "Tile", {in({1 << 20}), list({INT32_MAX})}), "more than 2147483647 elements");
  contains(complaint_of(13, "ConstantOfShape", {list({INT64_MAX})}), "more than 2147483647 elements");
  contains(complaint_of(13, "MatMul", {in({1 << 20, 1}), in({1, 1 << 20})}), "more than 2147483647 elements");
  contains(complaint_of(13, "Unsqueeze", {in({1}), list(ints(40, 0))}), "40 axes are too many");
  contains(complaint_of(13, "DepthToSpace", {in({1, 4, 1, 1})}, [](node& n) { n.set("blocksize", INT64_MAX); }),
           "blocksize");
  contains(complaint_of(13, "Pad", {in({3}), list({INT64_MAX, INT64_MAX})}), "pads: numbers beyond");
  contains(complaint_of(13, "MaxPool", {in({1, 1, 8})}, [](node& n) { n.set("kernel_shape", ints{INT64_MAX}); }),
           "kernel_shape: 9223372036854775807");
}

TEST_CASE("everything that is not supported is reported at once") {
  network net;
  net.input("x", {1, 4});
  net.node("Unheard", {"x"}, {"a"}).named("one");
  net.node("Relu", {"a"}, {"b"});
  net.node("Softmax", {"b"}, {"c"}).named("two").set("temperature", 1.0f);
  net.node("Flatten", {"x"}, {"d"}).named("three").set("axis", 7);
  net.node("MatMul", {"d", "d"}, {"g"});  // consequences of another error are not reported
  net.node("Shape", {"g"}, {"h"});
  net.node("Tan", {"h"}, {"e"}).named("four");
  net.node("Exp", {"x"}, {"i"}).named("six");
  net.node("Identity", {"i"}, {"j"});
  net.node("Fused", {"x"}, {"f"}).named("five").proto().set_domain("com.microsoft");
  net.node("Scaler", {"x"}, {"k"}).named("seven").proto().set_domain("ai.onnx.ml");
  net.output("c").output("e").output("f").output("j").output("k");
  try {
    net.load({.operators = {"Relu", "MatMul"}});
    FAIL("no error");
  } catch (ago::onnx::import_error const& e) {
    std::string const text = e.what();
    contains(text, "node \"one\" (Unheard): the operator is not supported");
    contains(text, "node \"two\" (Softmax), temperature: operator set 13 has no such attribute");
    contains(text, "node \"three\" (Flatten), axis: axis 7 of a tensor with 2 axes");
    contains(text, "node \"four\" (Tan): the operator is not supported");  // the caller cannot lower it
    contains(text, "node \"five\" (com.microsoft.Fused): the operator is not supported");
    contains(text, "node \"seven\" (Scaler): operators of the domain \"ai.onnx.ml\" are not supported");
    contains(text, "node \"six\" (Exp): the operator is not supported");  // it could not have been folded
    CHECK(e.findings().size() == 7);
    CHECK(e.findings()[1].attribute != e.findings()[2].attribute);
  }
}

TEST_CASE("unknown sizes of inputs are named, with the flag that sets them") {
  network net;
  net.symbolic("image", {"N", "", "height"});
  net.node("Relu", {"image"}, {"y"});
  net.output("y");
  std::string const text = net.complaint();
  contains(text, "input \"image\": the size of dimension 0, called \"N\", is not known; set it, for example with");
  contains(text, "--dim N=1");
  contains(text, "--dim image:1=1");
  contains(text, "--dim height=1");
  net.constant("seven", {7}, floats(7, 1));
  net.node("Add", {"y", "seven"}, {"z"});  // not reported while sizes are unknown
  net.output("z");
  CHECK(net.complaint().find("Add") == std::string::npos);
  net.graph().mutable_output()->RemoveLast();
  CHECK(output(net.load({.dims = {{"N", 2}, {"image:1", 3}, {"height", 4}}})).dims == ints{2, 3, 4});
  CHECK(output(net.load({.dims = {{"image:1", 3}, {"height", 4}}, .batch = 5})).dims == ints{5, 3, 4});
  contains(net.complaint({.dims = {{"image:1", 3}}, .batch = 5}), "--dim height=1");
  contains(net.complaint({.dims = {{"height", 3}}, .batch = 5}), "--dim image:1=1");
  contains(net.complaint({.dims = {{"N", 2}, {"image:1", 3}, {"height", -4}}}), "a size of -4");
  contains(net.complaint({.dims = {{"N", 2}, {"image:1", 3}, {"height", 4}, {"width", 4}}}),
           "no input has an unknown dimension called \"width\"");
}

TEST_CASE("inputs that are not tensors, or whose shape is unknown") {
  network net;
  net.graph().add_input()->set_name("x");
  net.node("Relu", {"x"}, {"y"});
  net.output("y");
  contains(net.complaint(), "input \"x\": it is not a tensor");
  net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  contains(net.complaint(), "input \"x\": its shape is not given");
  net.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  contains(net.complaint(), "input \"x\": data type STRING is not supported");
}

TEST_CASE("inputs with initializers are constants, others may be fixed") {
  network net;
  net.input("x", {2}).input("w", {2}).constant("w", {2}, floats{1, 2}).input("to", {1}, TensorProto::INT64);
  net.node("Mul", {"x", "w"}, {"a"});
  net.node("Reshape", {"a", "to"}, {"y"});
  net.output("y");
  ago::onnx::constant const to{.dims = {3}, .integers = {1, 2, 1}};
  contains(net.complaint(), "shape: it is computed at run time");
  ago::onnx::constant typed = to;
  typed.type = ago::onnx::element::integer;
  auto const m = net.load({.fixed = {{"to", typed}}});
  CHECK(output(m).dims == ints{1, 2, 1});
  CHECK(m.inputs.size() == 1);
  contains(net.complaint({.fixed = {{"to", typed}, {"w", to}}}), "an input that the model does not have");
}

TEST_CASE("names from the file cannot control the terminal") {
  network net = single(13, "Unheard\x1b[31m", {in({1})});
  net.graph().mutable_node(0)->set_name("bell\a" + std::string(500, 'n'));
  std::string const text = net.complaint();
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\a') == std::string::npos);
  CHECK(text.size() < 300);
}
