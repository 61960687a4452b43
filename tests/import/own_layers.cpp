// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators and groups of operators for which ago has a layer.
#include "lowered.hpp"

using namespace ago::importer;
using namespace ago_test;

namespace {

/// An image {1, 2, 2, 3} in ago's layout.
network of_image(std::int64_t opset = 18) {
  network net(opset);
  net.input("x", {1, 2, 2, 3});
  net.node("MaxPool", {"x"}, {"p"}).set("kernel_shape", ints{1, 1});
  return net;
}

/// The only layer of its kind after lowering a model with one output.
template <class Layer>
Layer layer_of(network const& net) {
  auto const list = lowered_of(net).network;
  return std::get<Layer>(only<Layer>(list).what);
}

}  // namespace

TEST_CASE("a local response norm is one layer, without weights") {
  network net = of_image();
  net.node("LRN", {"p"}, {"y"}).set("size", 4).set("alpha", .5f).set("beta", 2.f).set("bias", 3.f);
  net.output("y");
  auto const list = lowered_of(net).network;
  call const& made = only<ago::local_response_norm>(list);
  auto const& layer = std::get<ago::local_response_norm>(made.what);
  CHECK((layer.size == 4 && layer.alpha == .5f && layer.beta == 2 && layer.bias == 3));
  CHECK(made.weights.empty());
  CHECK(count<ago::linear>(list) == 0);
}

TEST_CASE("a convolution of a volume is a layer on five axes, and its bias another one") {
  network net;
  net.input("x", {2, 3, 4, 5, 6}).constant("w", {4, 3, 1, 2, 3}, counted(72)).constant("b", {4}, counted(4));
  net.node("Conv", {"x", "w", "b"}, {"y"}).set("strides", ints{1, 2, 1}).set("pads", ints{0, 0, 1, 0, 1, 0});
  net.output("y");
  auto const list = lowered_of(net).network;
  call const& made = only<ago::conv3d>(list);
  auto const& layer = std::get<ago::conv3d>(made.what);
  CHECK((layer.out == 4 && layer.kernel.h == 2 && layer.kernel.w == 3 && layer.stride.d == 1 && layer.stride.h == 2));
  CHECK((layer.pad.top == 0 && layer.pad.left == 1 && layer.pad.bottom == 1 && layer.pad.right == 0));
  CHECK(made.weights == counted(72));
  CHECK(only<ago::bias>(list).weights == counted(4));
  call const& axes = list.calls[std::size_t(made.operands[0])];
  CHECK(std::get<view_as>(axes.what).to == ago::expression::extents(2, 4, 5, 6, 3));
}

TEST_CASE("the second output of a MaxPool reads its operand and the first one") {
  network net;
  net.input("x", {1, 2, 5, 6});
  net.node("MaxPool", {"x"}, {"y", "i"}).set("kernel_shape", ints{2, 3}).set("storage_order", 1);
  net.output("i");
  auto const list = lowered_of(net).network;
  auto const& layer = std::get<ago::max_pool3d_index>(only<ago::max_pool3d_index>(list).what);
  CHECK((layer.column_major && layer.kernel.d == 1 && layer.kernel.h == 2 && layer.kernel.w == 3));
  CHECK(count<ago::max_pool>(list) == 1);
}

TEST_CASE("places of maxima that floats cannot count are refused") {
  network net;
  net.input("x", {1, 1, 4096, 4097});
  net.node("MaxPool", {"x"}, {"y", "i"}).set("kernel_shape", ints{2, 2});
  net.output("i");
  CHECK_THROWS_WITH_AS(lowered_of(net), doctest::Contains("2^24"), ago::onnx::import_error);
}

TEST_CASE("an rms norm over a whole image has its gamma in memory order") {
  network net = of_image(23);
  net.constant("g", {2, 2, 3}, counted(12, 0));
  net.node("RMSNormalization", {"p", "g"}, {"y"}).set("axis", 1).set("epsilon", .25f);
  net.output("y");
  auto const list = lowered_of(net).network;
  call const& norm = only<ago::rms_norm>(list);
  CHECK(std::get<ago::rms_norm>(norm.what).epsilon == .25f);
  CHECK(norm.weights == floats{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11});
}

TEST_CASE("an rms norm by a computed gamma is multiplied by it") {
  network net(23);
  net.input("x", {2, 3}).input("g", {3});
  net.node("RMSNormalization", {"x", "g"}, {"y"});
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(only<ago::rms_norm>(list).weights == floats{1, 1, 1});
  CHECK(std::get<binary>(only<binary>(list).what).kind == ago::op::mul);
}

TEST_CASE("a decomposed rms norm is one layer, however its quotient is written") {
  for (std::string const form : {"quotient", "reciprocal", "one over"}) {
    CAPTURE(form);
    network net;
    net.input("x", {1, 5, 8}).constant("gamma", {8}, counted(8));
    net.constant("two", {}, floats{2}).constant("eps", {}, floats{1e-6f}).constant("one", {}, floats{1});
    net.node("Pow", {"x", "two"}, {"q"});
    net.node("ReduceMean", {"q"}, {"m"}).set("axes", ints{-1});
    net.node("Add", {"m", "eps"}, {"e"});
    net.node("Sqrt", {"e"}, {"r"});
    if (form == "quotient") net.node("Div", {"x", "r"}, {"n"});
    if (form == "reciprocal") net.node("Reciprocal", {"r"}, {"i"});
    if (form == "one over") net.node("Div", {"one", "r"}, {"i"});
    if (form != "quotient") net.node("Mul", {"x", "i"}, {"n"});
    net.node("Mul", {"gamma", "n"}, {"y"});
    net.output("y");
    auto const list = lowered_of(net).network;
    CHECK(list.calls.size() == 2);
    CHECK(only<ago::rms_norm>(list).weights == counted(8));
    CHECK(layer_of<ago::rms_norm>(net).epsilon == 1e-6f);
  }
}

TEST_CASE("a mean of squares with other readers stays") {
  network net;
  net.input("x", {5, 8}).constant("gamma", {8}, counted(8)).constant("eps", {}, floats{1e-6f});
  net.node("Mul", {"x", "x"}, {"q"});
  net.node("ReduceMean", {"q"}, {"m"}).set("axes", ints{-1});
  net.node("Add", {"m", "eps"}, {"e"});
  net.node("Sqrt", {"e"}, {"r"});
  net.node("Div", {"x", "r"}, {"n"});
  net.node("Mul", {"n", "gamma"}, {"y"});
  net.output("y").output("m");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::rms_norm>(list) == 0);
  CHECK(count<ago::reduce_mean>(list) == 1);
}

TEST_CASE("an instance norm works on the image without moving it") {
  network net = of_image();
  net.constant("g", {2}, floats{2, 3}).constant("b", {2}, floats{4, 5});
  net.node("InstanceNormalization", {"p", "g", "b"}, {"y"}).set("epsilon", .5f);
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(only<ago::instance_norm>(list).weights == floats{2, 3, 4, 5});
  CHECK(layer_of<ago::instance_norm>(net).epsilon == .5f);
  CHECK(count<ago::permute>(list) == 0);
}

TEST_CASE("a group norm has its numbers per group before operator set 21, per channel since") {
  for (int opset : {18, 21}) {
    network net(opset);
    net.input("x", {2, 4, 3});
    if (opset == 18) net.constant("g", {2}, floats{2, 3}).constant("b", {2}, floats{4, 5});
    else net.constant("g", {4}, floats{2, 2, 3, 3}).constant("b", {4}, floats{4, 4, 5, 5});
    net.node("GroupNormalization", {"x", "g", "b"}, {"y"}).set("num_groups", 2);
    net.output("y");
    auto const list = lowered_of(net).network;
    CHECK(only<ago::group_norm>(list).weights == floats{2, 2, 3, 3, 4, 4, 5, 5});
    CHECK(layer_of<ago::group_norm>(net).groups == 2);
  }
}

TEST_CASE("a group norm written around an instance norm is one layer") {
  for (float const scale : {1.f, 2.f}) {
    network net(13);
    net.input("x", {1, 4, 3, 5}).list("grouped", {0, 2, -1}).list("whole", {1, 4, 3, 5});
    net.constant("ones", {2}, floats{scale, scale}).constant("zeros", {2}, floats{0, 0});
    net.constant("g", {4, 1, 1}, counted(4)).constant("b", {4, 1, 1}, counted(4, 5));
    net.node("Reshape", {"x", "grouped"}, {"r"});
    net.node("InstanceNormalization", {"r", "ones", "zeros"}, {"n"}).set("epsilon", .5f);
    net.node("Reshape", {"n", "whole"}, {"i"});
    net.node("Mul", {"i", "g"}, {"m"});
    net.node("Add", {"m", "b"}, {"y"});
    net.output("y");
    auto const list = lowered_of(net).network;
    CHECK(count<ago::group_norm>(list) == (scale == 1 ? 1 : 0));
    CHECK(count<ago::instance_norm>(list) == (scale == 1 ? 0 : 1));
    if (scale != 1) continue;
    CHECK(only<ago::group_norm>(list).weights == counted(8));
    CHECK(layer_of<ago::group_norm>(net).epsilon == .5f);
  }
}

TEST_CASE("a division by the length along an axis is one layer") {
  network net = of_image();
  net.node("LpNormalization", {"p"}, {"y"}).set("axis", 3);
  net.output("y");
  CHECK(layer_of<ago::l2_normalize>(net).along == ago::axis::columns);
}

TEST_CASE("pads of all modes, channels included, are pads of the layer") {
  struct named {
    char const* name;
    ago::pad_mode mode;
  };
  for (named const& n : {named{"constant", ago::pad_mode::constant},
                         {"edge", ago::pad_mode::edge},
                         {"reflect", ago::pad_mode::reflect},
                         {"wrap", ago::pad_mode::wrap}}) {
    CAPTURE(n.name);
    network net = of_image(19);
    net.list("pads", {0, 1, 1, 2, 0, 0, 1, 0});
    net.node("Pad", {"p", "pads"}, {"y"}).set("mode", n.name);
    net.output("y");
    auto const layer = layer_of<ago::pad>(net);
    ago::pads const& sides = layer.sides.sides;
    CHECK(layer.mode == n.mode);
    CHECK((sides.top == 1 && sides.left == 2 && sides.bottom == 1 && sides.right == 0));
    CHECK((layer.channels_before == 1 && layer.channels_after == 0));
    CHECK(count<join>(lowered_of(net).network) == 0);
  }
}

TEST_CASE("a value mirrored twice is assembled from slices") {
  network net = of_image(19);
  net.list("pads", {0, 0, 0, 0, 0, 0, 0, 5});
  net.node("Pad", {"p", "pads"}, {"y"}).set("mode", "reflect");
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::pad>(list) == 0);
  CHECK(count<join>(list) == 1);
}

TEST_CASE("resizing uses the model's coordinate transformation") {
  using ago::rounding, ago::sampling;
  struct nearest {
    char const *coordinates, *rule;
    sampling from;
    rounding to;
  };
  for (nearest const& n :
       {nearest{"asymmetric", "floor", sampling::standard, rounding::down},
        {"asymmetric", "ceil", sampling::asymmetric, rounding::up},
        {"half_pixel", "ceil", sampling::half_pixel, rounding::up},
        {"half_pixel", "round_prefer_ceil", sampling::half_pixel, rounding::nearest_or_up},
        {"align_corners", "round_prefer_floor", sampling::align_corners, rounding::nearest_or_down}}) {
    CAPTURE(n.coordinates);
    CAPTURE(n.rule);
    network net = of_image();
    net.list("sizes", {1, 2, 5, 4});
    net.node("Resize", {"p", "", "", "sizes"}, {"y"})
        .set("coordinate_transformation_mode", n.coordinates)
        .set("nearest_mode", n.rule);
    net.output("y");
    auto const layer = layer_of<ago::resize_nearest>(net);
    CHECK((layer.height == 5 && layer.width == 4));
    CHECK((layer.sampling == n.from && layer.rounding == n.to));
  }
  struct linear {
    char const* coordinates;
    sampling from;
  };
  for (linear const& n : {linear{"half_pixel", sampling::standard},
                          {"asymmetric", sampling::asymmetric},
                          {"align_corners", sampling::align_corners}}) {
    CAPTURE(n.coordinates);
    network net = of_image();
    net.list("sizes", {1, 2, 5, 4});
    net.node("Resize", {"p", "", "", "sizes"}, {"y"})
        .set("mode", "linear")
        .set("coordinate_transformation_mode", n.coordinates);
    net.output("y");
    CHECK(layer_of<ago::resize_bilinear>(net).sampling == n.from);
  }
}

TEST_CASE("images of one row are resized by the same layers") {
  network net(18);
  net.input("x", {1, 2, 3}).list("sizes", {1, 2, 7});
  net.node("Resize", {"x", "", "", "sizes"}, {"y"}).set("mode", "linear");
  net.output("y");
  auto const layer = layer_of<ago::resize_bilinear>(net);
  CHECK((layer.height == 1 && layer.width == 7));
}

TEST_CASE("resizing by scales that differ from the ratio of extents is a product with matrices") {
  network net = of_image();
  net.constant("scales", {4}, floats{1, 1, 1, 1.9f});  // of 3 columns 5
  net.node("Resize", {"p", "", "scales"}, {"y"}).set("mode", "linear");
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::resize_bilinear>(list) == 0);
  CHECK(only<ago::linear>(list).weights.size() == 3 * 5);
}

TEST_CASE("a backward slice is a slice") {
  network net = of_image();
  net.list("begin", {-1}).list("end", {-9}).list("axis", {3}).list("step", {-2});
  net.node("Slice", {"p", "begin", "end", "axis", "step"}, {"y"});
  net.output("y");
  auto const layer = layer_of<ago::slice>(net);
  CHECK((layer.begin == 2 && layer.count == 2 && layer.step == -2));
  CHECK(layer.axis == ago::axis::columns);
  CHECK(count<ago::linear>(lowered_of(net).network) == 0);
}

TEST_CASE("axes are tiled by a layer, and axes of one element are expanded") {
  network net(13);
  net.input("x", {2, 1, 3}).list("times", {1, 4, 5});
  net.node("Tile", {"x", "times"}, {"y"});
  net.output("y");
  auto const list = lowered_of(net).network;
  CHECK(count<ago::expand>(list) == 1);
  CHECK(std::get<ago::tile>(only<ago::tile>(list).what).c == 5);
}

TEST_CASE("the mean of a dilated window is a pooling") {
  network net(19);
  net.input("x", {1, 2, 5, 5});
  net.node("AveragePool", {"x"}, {"y"}).set("kernel_shape", ints{2, 2}).set("dilations", ints{2, 2});
  net.output("y");
  CHECK(layer_of<ago::avg_pool>(net).dilation.w == 2);
  CHECK(lowered_of(net).network.calls.back().weights.empty());
}
