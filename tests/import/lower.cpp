// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering of ONNX operators: the layers, their order, and their weights.
#include "lowered.hpp"

#include <ago/network/lowering.hpp>

#include <limits>

using namespace ago::importer;
using namespace ago_test;

namespace {

void add_conv(ago_test::network& net, std::string const& x, std::string const& y, ints const& weights, int group,
              int stride, int pad) {
  net.constant(y + "_w", weights, counted(std::size_t(product(weights))));
  net.node("Conv", {x, y + "_w"}, {y})
      .set("group", group)
      .set("strides", ints{stride, stride})
      .set("pads", ints{pad, pad, pad, pad});
}

constexpr auto widen =
    ago::pointwise{12} | ago::relu6{} | ago::depthwise{.kernel = 3, .pad = 1} | ago::relu6{} | ago::pointwise{4};
constexpr auto hand_written = ago::input{.h = 9, .w = 7, .c = 3, .layout = ago::layout::nchw} |
                              ago::conv2d{.out = 4, .kernel = 3, .stride = 2, .pad = 1} | ago::residual{widen} |
                              ago::global_avg_pool{} | ago::linear{5};

}  // namespace

TEST_CASE("an inverted residual is recorded like the network written by hand") {
  ago_test::network net;
  net.input("x", {1, 3, 9, 7});
  add_conv(net, "x", "a", {4, 3, 3, 3}, 1, 2, 1);
  add_conv(net, "a", "b", {12, 4, 1, 1}, 1, 1, 0);
  net.constant("lo", {}, floats{0}).constant("hi", {}, floats{6});
  net.node("Clip", {"b", "lo", "hi"}, {"b6"});
  add_conv(net, "b6", "c", {12, 1, 3, 3}, 12, 1, 1);
  net.node("Clip", {"c", "lo", "hi"}, {"c6"});
  add_conv(net, "c6", "d", {4, 12, 1, 1}, 1, 1, 0);
  net.node("Add", {"a", "d"}, {"e"});
  net.node("GlobalAveragePool", {"e"}, {"f"});
  net.node("Flatten", {"f"}, {"g"});
  net.constant("w", {5, 4}, counted(20)).constant("s", {5}, counted(5));
  net.node("Gemm", {"g", "w", "s"}, {"y"}).set("transB", 1);
  net.output("y");

  ago::tracing::recorder recorded;
  record(lowered_of(net).network, recorded);
  auto const& g = ago::lowering::lowered<hand_written>::value;
  REQUIRE(recorded.nodes.size == g.node_count);
  for (int v = 0; v < g.node_count; ++v) {
    ago::ir::node const &a = recorded.nodes[v], &b = g.nodes[v];
    CAPTURE(v);
    CHECK(a.kind == b.kind);
    CHECK(a.out == b.out);
    CHECK(a.win == b.win);
    CHECK(a.weight == b.weight);
    CHECK(a.shift == b.shift);
    REQUIRE(a.input_count == b.input_count);
    for (int k = 0; k < a.input_count; ++k) CHECK(recorded.edges[a.input_first + k] == g.edges[b.input_first + k]);
  }
  CHECK(recorded.floats == g.parameters);
}

TEST_CASE("flattening an image costs nothing: the weights after it are reordered") {
  ago_test::network net;
  net.input("x", {1, 2, 2, 3});
  net.node("MaxPool", {"x"}, {"p"}).set("kernel_shape", ints{1, 1});
  net.node("Flatten", {"p"}, {"f"});
  net.constant("w", {1, 12}, counted(12, 0));
  net.node("Gemm", {"f", "w"}, {"y"}).set("transB", 1);
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::permute>(list) == 0);
  // In memory the two channels of a pixel are adjacent; in ONNX they are six elements apart.
  CHECK(only<ago::linear>(list).weights == floats{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
}

TEST_CASE("the weights of a MatMul are transposed, and a sum after it is its bias") {
  ago_test::network net;
  net.input("x", {2, 3});
  net.constant("w", {3, 2}, floats{1, 2, 3, 4, 5, 6}).constant("b", {2}, floats{7, 8});
  net.node("MatMul", {"x", "w"}, {"m"});
  net.node("Add", {"m", "b"}, {"y"});
  net.output("y");
  CHECK(only<ago::linear>(lowered_of(net).network).weights == floats{1, 3, 5, 2, 4, 6, 7, 8});
}

TEST_CASE("activations that exporters write as several operators are one layer") {
  ago_test::network net;
  net.input("x", {1, 8});
  net.constant("root", {}, floats{1.41421356f}).constant("one", {}, floats{1}).constant("half", {}, floats{.5f});
  net.node("Div", {"x", "root"}, {"a"});
  net.node("Erf", {"a"}, {"b"});
  net.node("Add", {"b", "one"}, {"c"});
  net.node("Mul", {"x", "c"}, {"d"});
  net.node("Mul", {"d", "half"}, {"g"});
  net.node("Sigmoid", {"g"}, {"s"});
  net.node("Mul", {"g", "s"}, {"y"});
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(list.calls.size() == 3);
  CHECK(count<ago::gelu>(list) == 1);
  CHECK(count<ago::silu>(list) == 1);
}

TEST_CASE("a sigmoid with other readers stays") {
  ago_test::network net;
  net.input("x", {1, 8});
  net.node("Sigmoid", {"x"}, {"s"});
  net.node("Mul", {"x", "s"}, {"y"});
  net.output("y").output("s");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::silu>(list) == 0);
  CHECK(count<ago::sigmoid>(list) == 1);
}

TEST_CASE("a decomposed layer norm is one layer") {
  ago_test::network net;
  net.input("x", {1, 5, 8});
  net.constant("two", {}, floats{2}).constant("eps", {}, floats{1e-6f});
  net.constant("gamma", {8}, counted(8)).constant("beta", {8}, counted(8, 100));
  net.node("ReduceMean", {"x"}, {"m"}).set("axes", ints{-1});
  net.node("Sub", {"x", "m"}, {"d"});
  net.node("Pow", {"d", "two"}, {"q"});
  net.node("ReduceMean", {"q"}, {"v"}).set("axes", ints{-1});
  net.node("Add", {"v", "eps"}, {"e"});
  net.node("Sqrt", {"e"}, {"r"});
  net.node("Div", {"d", "r"}, {"n"});
  net.node("Mul", {"n", "gamma"}, {"g"});
  net.node("Add", {"g", "beta"}, {"y"});
  net.output("y");
  auto const list = lowered_of(net).network;
  call const& norm = only<ago::layer_norm>(list);
  CHECK(list.calls.size() == 2);
  CHECK(std::get<ago::layer_norm>(norm.what).epsilon == 1e-6f);
  CHECK(norm.weights[7] == 8);
  CHECK(norm.weights[8] == 100);
}

TEST_CASE("everything that is not supported is reported, each node once") {
  ago_test::network net;
  net.input("x", {1, 2, 4, 4}).input("w", {3, 2, 1, 1});
  net.node("Conv", {"x", "w"}, {"a"}).named("first");
  net.node("Relu", {"a"}, {"b"}).named("behind_it");
  net.node("Conv", {"x", "w"}, {"p"}).named("second");
  net.output("b").output("p");
  try {
    lowered_of(net);
    FAIL("no error");
  } catch (ago::onnx::import_error const& e) {
    REQUIRE(e.findings().size() == 2);
    CHECK(e.findings()[0].node == "first");
    CHECK(e.findings()[0].op == "Conv");
    CHECK(e.findings()[0].reason == "its weights must be constant");
    CHECK(e.findings()[1].node == "second");
  }
}

TEST_CASE("networks that the library refuses give a sentence about the node") {
  ago_test::network net;
  net.input("x", {1, 1, 60000, 60000});
  net.node("Tile", {"x", "times"}, {"y"}).named("huge");
  net.list("times", {1, 1, 1, 1});
  net.output("y");
  CHECK_THROWS_AS(lowered_of(net), ago::onnx::import_error);
}

TEST_CASE("images may have their channels last in the user's memory") {
  ago_test::network net;
  net.input("x", {1, 3, 5, 4}).input("v", {1, 6});
  add_conv(net, "x", "a", {6, 3, 1, 1}, 1, 1, 0);
  net.node("Relu", {"v"}, {"b"});
  net.output("a").output("b");
  lowered_model const first = lower(net.load()), last = lower(net.load(), {.channels_last = true});
  CHECK(count<ago::to_nchw>(first.network) == 1);
  CHECK(count<ago::to_nchw>(last.network) == 0);
  auto const layout_of = [](lowered_model const& m) { return std::get<ago::input>(m.network.calls[0].what).layout; };
  CHECK((layout_of(first) == ago::layout::nchw && layout_of(last) == ago::layout::nhwc));
  CHECK((first.inputs[0].dims == ints{1, 3, 5, 4} && first.outputs[0].dims == ints{1, 6, 5, 4}));
  CHECK((last.inputs[0].dims == ints{1, 5, 4, 3} && last.outputs[0].dims == ints{1, 5, 4, 6}));
  CHECK((last.inputs[1].dims == ints{1, 6} && last.outputs[1].dims == ints{1, 6}));
}

TEST_CASE("a vector added to channels is a bias, however the other axes are split") {
  ago_test::network net;
  net.input("x", {1, 4, 6, 4});
  add_conv(net, "x", "a", {4, 4, 1, 1}, 1, 1, 0);
  net.list("pairs", {4, 3, 2, 2, 2});
  net.node("Reshape", {"a", "pairs"}, {"b"});  // rows and columns in pairs
  net.node("Transpose", {"b"}, {"c"}).set("perm", ints{2, 4, 1, 3, 0});
  net.list("patches", {4, 6, 4});
  net.node("Reshape", {"c", "patches"}, {"d"});
  net.constant("w", {4, 8}, counted(32)).constant("s", {8}, counted(8));
  net.node("MatMul", {"d", "w"}, {"e"});
  net.node("Add", {"e", "s"}, {"y"});
  net.output("y");
  call_list const list = lowered_of(net).network;
  CHECK(count<ago::positions>(list) == 0);
  CHECK(only<ago::linear>(list).weights.size() == 4 * 8 + 8);
}

TEST_CASE("attention among the pixels at the same place of all patches is one layer on the image itself") {
  ago_test::network net;
  net.input("x", {1, 3, 4, 6});
  add_conv(net, "x", "a", {12, 3, 1, 1}, 1, 1, 0);
  net.list("cut", {12, 2, 2, 3, 2}).list("flat", {4, 6, 12}).list("thirds", {4, 4, 4}).list("heads", {4, 6, 2, 2});
  net.node("Reshape", {"a", "cut"}, {"b"});
  net.node("Transpose", {"b"}, {"c"}).set("perm", ints{2, 4, 1, 3, 0});
  net.node("Reshape", {"c", "flat"}, {"t"});
  net.node("Split", {"t", "thirds"}, {"q", "k", "v"}).set("axis", 2);
  for (std::string const name : {"q", "k", "v"}) {
    net.node("Reshape", {name, "heads"}, {name + "h"});
    net.node("Transpose", {name + "h"}, {name + "t"}).set("perm", name == "k" ? ints{0, 2, 3, 1} : ints{0, 2, 1, 3});
  }
  net.node("MatMul", {"qt", "kt"}, {"scores"});
  net.node("Softmax", {"scores"}, {"weights"}).set("axis", -1);
  net.node("MatMul", {"weights", "vt"}, {"z"});
  net.node("Transpose", {"z"}, {"zt"}).set("perm", ints{0, 2, 1, 3});
  net.list("out", {4, 6, 4});
  net.node("Reshape", {"zt", "out"}, {"y"});
  net.output("y");
  call_list const list = lowered_of(net).network;
  call const& made = only<ago::attention>(list);
  auto const& layer = std::get<ago::attention>(made.what);
  CHECK((layer.heads == 2 && layer.patch.h == 2 && layer.patch.w == 2 && layer.scale == 1));
  CHECK(made.operands.size() == 1);
  CHECK(made.out == ago::shape{1, 4, 6, 4});
}

TEST_CASE("Where with a known condition uses minima and maxima, so that large and infinite numbers do not mix") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto const lowered_where = [](names const& operands, ints const& condition) {
    ago_test::network net;
    net.input("x", {3, 2}).input("z", {3, 2});
    net.list("numbers", condition).constant("large", {}, floats{-1e9f}).constant("masked", {}, floats{-infinity});
    net.constant("table", {3, 1}, floats{7, 8, 9});
    net.node("Cast", {"numbers"}, {"c"}).set("to", ::onnx::TensorProto::BOOL);
    net.node("Where", operands, {"y"});
    net.node("Add", {"y", "z"}, {"sum"});
    net.output("sum");
    return lowered_of(net).network;
  };
  auto const kinds_of = [](call_list const& list) {
    std::vector<ago::op> r;
    for (call const& c : list.calls)
      if (auto const* b = std::get_if<binary>(&c.what)) r.push_back(b->kind);
    return r;
  };
  auto const numbers_of = [](call_list const& list) {
    std::vector<floats> r;
    for (call const& c : list.calls)
      if (std::holds_alternative<ago::constant>(c.what)) r.push_back(c.weights);
    return r;
  };
  using enum ago::op;
  call_list const mask = lowered_where({"c", "masked", "x"}, {0, 1});
  CHECK(kinds_of(mask) == std::vector{minimum, add});
  CHECK(numbers_of(mask).at(0) == floats{infinity, -infinity});
  call_list const number = lowered_where({"c", "x", "large"}, {0, 1});
  CHECK(kinds_of(number) == std::vector{minimum, maximum, add});
  CHECK(numbers_of(number) == std::vector{floats{-infinity, infinity}, floats{-1e9f, -infinity}});
  call_list const wider = lowered_where({"c", "table", "x"}, {0, 1});
  CHECK(numbers_of(wider).back() == floats{-infinity, 7, -infinity, 8, -infinity, 9});
  call_list const two = lowered_where({"c", "x", "z"}, {0, 1});
  CHECK(kinds_of(two) == std::vector{minimum, minimum, maximum, add});
  CHECK(numbers_of(two) == std::vector{floats{-infinity, infinity}, floats{infinity, -infinity}});

  // Nothing to choose.
  CHECK(kinds_of(lowered_where({"c", "masked", "x"}, {0, 0})) == std::vector{add});
  CHECK(kinds_of(lowered_where({"c", "x", "table"}, {1, 1})) == std::vector{add});
}

TEST_CASE("Where with a computed condition does no arithmetic with values that are not chosen either") {
  auto const lowered_where = [](names const& operands) {
    ago_test::network net;
    net.input("c", {2}, ::onnx::TensorProto::BOOL).input("x", {3, 2});
    net.constant("one", {}, floats{1}).constant("masked", {}, floats{-std::numeric_limits<float>::infinity()});
    net.constant("large", {}, floats{-1e9f});
    net.node("Where", operands, {"y"});
    net.output("y");
    return lowered_of(net).network;
  };
  auto const map_in = [](call_list const& list) { return std::get<map_of>(only<map_of>(list).what).expression; };
  CHECK(map_in(lowered_where({"c", "one", "large"})) ==
        "math::where_less(decltype(x)(0.f), math::abs(x), decltype(x)(1.f), decltype(x)(-1e+09f))");
  call_list const mask = lowered_where({"c", "masked", "x"});
  CHECK(std::get<binary>(only<binary>(mask).what).kind == ago::op::minimum);
  CHECK(map_in(mask) ==
        "math::where_less(decltype(x)(0.f), math::abs(x), decltype(x)(-__builtin_inff()), "
        "decltype(x)(__builtin_inff()))");
  CHECK(count<map_of>(lowered_where({"c", "x", "large"})) == 2);
  CHECK(count<binary>(lowered_where({"c", "x", "large"})) == 2);
  CHECK(count<binary>(lowered_where({"c", "x", "x"})) == 3);
}

TEST_CASE("negative computed row numbers count from the end") {
  ago_test::network net;
  net.input("i", {3}, ::onnx::TensorProto::INT64).input("x", {3, 5});
  net.constant("table", {5, 2}, counted(10));
  net.node("Gather", {"table", "i"}, {"y"});
  net.node("ArgMax", {"x"}, {"largest"}).set("axis", 1).set("keepdims", 0);
  net.node("Gather", {"table", "largest"}, {"z"});  // an index from ArgMax is never negative
  net.output("y").output("z");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::embedding>(list) == 2);
  CHECK(std::get<map_of>(only<map_of>(list).what).expression == "math::where_less(x, decltype(x)(0.f), x + 5.f, x)");
}
