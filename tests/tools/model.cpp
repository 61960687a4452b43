// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inspection of ONNX models, beyond what networks of examples/ show.
#include "onnx/files.hpp"
#include "onnx/network.hpp"

#include <model_file.hpp>

#include <algorithm>

namespace {

using namespace ago::tools;
using ago::op;
using ago_test::floats;

inspection inspected(ago_test::network const& net, ago::options const& way = {}, std::vector<std::string> dims = {}) {
  ago_test::temporary_folder const folder;
  return inspect_model({.file = folder.write("model.onnx", net.bytes()), .dims = dims}, {way}).front();
}

/// A convolution, its bias and two activations, repeated.
ago_test::network long_chain(int blocks) {
  ago_test::network net;
  net.input("v0", {1, 8, 4, 4});
  net.constant("w", {8, 8, 1, 1}, floats(64, .1f)).constant("s", {8}, floats(8, .5f));
  for (int i = 0; i < blocks; ++i) {
    std::string const n = std::to_string(i), at = "v" + n;
    net.node("Conv", {at, "w", "s"}, {at + "a"}).named("conv" + n);
    net.node("Relu", {at + "a"}, {at + "b"}).named("relu" + n);
    net.node("Sigmoid", {at + "b"}, {"v" + std::to_string(i + 1)}).named("sigmoid" + n);
  }
  net.output("v" + std::to_string(blocks));
  return net;
}

}  // namespace

TEST_CASE("five thousand operators, and more than are supported") {
  inspection const few = inspected(long_chain(10), {.policy = ago::policy::fuse_ops});
  inspection const many = inspected(long_chain(1250), {.policy = ago::policy::fuse_ops});
  CHECK(few.operators() == 4 * 10 + 2);  // plus the changes of layout at the edges
  CHECK(many.operators() == 4 * 1250 + 2);
  auto const per_block = [&](auto figure) { return double(figure(many) - figure(few)) / (1250 - 10); };
  CHECK(per_block([](inspection const& i) { return long(i.steps.size()); }) == 1);
  CHECK(per_block([](inspection const& i) { return i.statistics.groups; }) == 1);
  CHECK(per_block([](inspection const& i) { return i.account().multiply_adds; }) == 16 * 8 * 8);
  CHECK(few.arena_bytes == many.arena_bytes);
  CHECK_THROWS_WITH_AS(inspected(long_chain(5000)), doctest::Contains("20003 operators"), std::length_error);
}

TEST_CASE("operators have the names of the model's nodes") {
  inspection const i = inspected(long_chain(2));
  CHECK(i.network == "model.onnx");
  CHECK(i.size == 0);
  auto const named = [&](char const* name, op kind) {
    return std::any_of(i.nodes.begin(), i.nodes.end(),
                       [&](inspected_node const& n) { return n.name == name && n.kind == kind && n.line == 0; });
  };
  CHECK((named("v0", op::input) && named("conv1", op::pointwise) && named("relu1", op::relu)));
}

TEST_CASE("operators by index expressions are planned at run time, equal ones once") {
  ago_test::network net;
  net.input("x", {1, 2, 4, 4, 4}).constant("w", {3, 2, 2, 2, 2}, floats(48, .1f));
  net.node("Conv", {"x", "w"}, {"a"}).named("conv");
  net.node("MaxPool", {"a"}, {"b"}).named("pool").set("kernel_shape", ago_test::ints{2, 2, 2});
  net.node("MaxPool", {"a"}, {"c"}).named("again").set("kernel_shape", ago_test::ints{2, 2, 2});
  net.node("Add", {"b", "c"}, {"y"});
  net.output("y");
  inspection const i = inspected(net);
  auto const number_of = [&](op kind) {
    return std::count_if(i.nodes.begin(), i.nodes.end(), [=](auto const& n) { return n.kind == kind; });
  };
  CHECK(number_of(op::contraction) == 1);
  CHECK(number_of(op::nest) == 1);
  CHECK(i.account().multiply_adds >= 27 * 3 * 2 * 8);
}

TEST_CASE("different functions of one value are distinguished") {
  ago_test::network net;
  net.input("x", {1, 8});
  net.node("Sinh", {"x"}, {"a"});
  net.node("Cosh", {"x"}, {"b"});
  net.node("Mul", {"a", "b"}, {"y"});
  net.output("y");
  inspection const i = inspected(net);
  CHECK(std::count_if(i.nodes.begin(), i.nodes.end(), [](auto const& n) { return n.kind == op::map; }) == 2);
}

TEST_CASE("sizes of symbolic dimensions") {
  ago_test::network net;
  net.symbolic("x", {"N", "8"});
  net.node("Relu", {"x"}, {"y"});
  net.output("y");
  CHECK(inspected(net, {}, {"N=5"}).nodes.back().out == ago::shape{5, 1, 1, 8});
  CHECK_THROWS_WITH_AS(inspected(net), doctest::Contains("model.onnx cannot be imported:\n"), not_imported);
  CHECK_THROWS_WITH_AS(inspected(net, {}, {"N"}), doctest::Contains("--dim takes NAME=NUMBER, not N"), not_imported);
}
