// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that are composed of others: the shapes of their results, and what is refused. tests/import compares their
// values.
#include "single.hpp"

using namespace ago_test;

namespace {

attributes text(char const* name, char const* value) {
  return [=](node& n) { n.set(name, value); };
}

attributes number(char const* name, int value) {
  return [=](node& n) { n.set(name, value); };
}

attributes list_of(char const* name, ints const& values) {
  return [=](node& n) { n.set(name, values); };
}

attributes sampled(attributes const& more = {}) {
  return [=](node& n) {
    n.set("sampling_ratio", 2).set("output_height", 5).set("output_width", 7);
    if (more) more(n);
  };
}

}  // namespace

TEST_CASE("losses of classifiers") {
  for (char const* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    CAPTURE(type);
    std::vector<operand> const operands{in({2, 3, 4, 5}), integers_in({2, 4, 5}), in({3})};
    for (std::int64_t const opset : {12, 13, 26}) {
      CHECK(shape_of(opset, type, operands) == ints{});
      CHECK(shape_of(opset, type, operands, text("reduction", "none")) == ints{2, 4, 5});
    }
    CHECK(shape_of(13, type, {in({2, 3}), integers_in({2})}, text("reduction", "none")) == ints{2});
    CHECK(shape_of(13, type, {in({2, 3}), list({0, -7})}, number("ignore_index", -7)) == ints{});
    auto const refused = [&](std::vector<operand> const& given, std::string const& why, attributes const& set = {}) {
      contains(complaint_of(13, type, given, set), std::string("node \"op\" (") + type + ')' + why);
    };
    bool const first = type[0] == 'N';
    std::string const labels = first ? ", target: " : ", labels: ";
    refused({in({2, 3, 4}), integers_in({2, 5})}, labels + "the shape [2,5] does not fit [2,3,4]");
    refused({in({3}), integers_in({})}, labels + "the shape [] does not fit [3]");
    refused({in({2, 3}), in({2})}, labels + "they are not integers");
    refused({in({2, 3}), list({0, 3})}, labels + "class 3 of 3");
    refused({in({2, 3}), list({-1, 0})}, labels + "class -1 of 3", number("ignore_index", -7));
    refused({in({2, 3}), list({0, 1}), reals({1, 2})},
            std::string(first ? ", weight" : ", weights") + ": they have the shape [2], expected [3]");
    refused({in({2, 3}), list({0, 1})}, ", reduction: \"median\" is not supported", text("reduction", "median"));
  }
  auto const both = single(13, "SoftmaxCrossEntropyLoss", {in({2, 3, 4}), integers_in({2, 4})}, {}, 2).load();
  CHECK(output(both, 1).dims == ints{2, 3, 4});
}

TEST_CASE("samples of regions") {
  std::vector<operand> const operands{in({2, 3, 8, 9}), in({6, 4}), integers_in({6})};
  CHECK(shape_of(10, "RoiAlign", operands, sampled()) == ints{6, 3, 5, 7});
  CHECK(shape_of(22, "RoiAlign", operands, sampled(text("mode", "max"))) == ints{6, 3, 5, 7});
  auto const refused = [](std::vector<operand> const& given, attributes const& set, char const* why) {
    contains(complaint_of(16, "RoiAlign", given, set), std::string("node \"op\" (RoiAlign), ") + why);
  };
  refused(operands, {}, "sampling_ratio: it is 0, expected a positive number: the number of samples must be known");
  refused(operands, [](node& n) { n.set("sampling_ratio", 1).set("output_width", 0); }, "output_width: it is 0");
  refused(operands, sampled(text("mode", "sum")), "mode: \"sum\" is not supported");
  refused(operands, sampled(text("coordinate_transformation_mode", "none")),
          "coordinate_transformation_mode: \"none\" is not supported");
  refused({in({2, 3, 8, 9}), in({6, 5}), integers_in({6})}, sampled(), "rois: the shape [6,5] does not fit [2,3,8,9]");
  refused({in({2, 3, 8, 9}), in({2, 4}), integers_in({6})}, sampled(),
          "batch_indices: it has the shape [6], expected [2]");
  refused({in({2, 3, 8, 9}), in({2, 4}), list({1, 2})}, sampled(), "batch_indices: image 2 of 2");
}

TEST_CASE("convolutions with moved windows") {
  std::vector<operand> const operands{in({1, 4, 6, 7}), reals({3, 4, 2, 2}, floats(48)), in({1, 8, 5, 6})};
  CHECK(shape_of(19, "DeformConv", operands) == ints{1, 3, 5, 6});
  auto const refused = [&](std::vector<operand> given, attributes const& set, char const* why) {
    for (std::size_t i = given.size(); i < operands.size(); ++i) given.push_back(operands[i]);
    contains(complaint_of(19, "DeformConv", given, set), std::string("node \"op\" (DeformConv)") + why);
  };
  refused({}, number("offset_group", 3), ", offset_group: 3 groups of 4 channels");
  refused({}, number("offset_group", 2), ", offset: it has the shape [1,8,5,6], expected [1,16,5,6]");
  refused({}, list_of("kernel_shape", {2, 3}), ", kernel_shape: the weights have the shape [3,4,2,2]");
  refused({}, list_of("dilations", {1, 7}), ", kernel_shape: a window is larger than the image");
  refused({in({1, 4, 6})}, {}, ": its input has the shape [1,4,6]; only images of two dimensions are supported");
  refused({in({1, 4, 6, 7}), operands[1], operands[2], none(), in({1, 4, 5, 5})}, {},
          ", mask: it has the shape [1,4,5,5], expected [1,4,5,6]");
}

TEST_CASE("maxima go back to their places") {
  auto const windows = [](node& n) { n.set("kernel_shape", ints{2, 3}).set("strides", ints{2, 3}); };
  std::vector<operand> operands{in({1, 2, 3, 4}), integers_in({1, 2, 3, 4})};
  CHECK(shape_of(11, "MaxUnpool", operands, windows) == ints{1, 2, 6, 12});
  operands.push_back(list({1, 2, 7, 12}));
  CHECK(shape_of(9, "MaxUnpool", operands, windows) == ints{1, 2, 7, 12});
  operands.back() = list({1, 2, 5, 12});
  contains(complaint_of(11, "MaxUnpool", operands, windows),
           "node \"op\" (MaxUnpool), output_shape: it is [1,2,5,12], expected at least [1,2,6,12]");
  operands.pop_back();
  contains(complaint_of(11, "MaxUnpool", operands, list_of("kernel_shape", {2, 3})),
           "strides: windows that overlap, leave gaps or have pads are not supported");
  operands[1] = integers_in({1, 2, 3, 5});
  contains(complaint_of(11, "MaxUnpool", operands, windows), "I: the shape [1,2,3,5] does not fit [1,2,3,4]");
}

TEST_CASE("elements are chosen by known conditions") {
  operand const x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(value_of(11, "Compress", {x, list({0, 1, 1})}, number("axis", -1)).integers == ints{2, 3, 5, 6});
  CHECK(value_of(11, "Compress", {x, list({1, 0, 0, 1})}).integers == ints{1, 4});
  contains(complaint_of(11, "Compress", {in({2, 3}), integers_in({3})}),
           "node \"op\" (Compress), condition: it is computed at run time; only a constant is supported");
  contains(complaint_of(11, "Compress", {in({2, 3}), list({0, 0, 1})}, number("axis", 0)),
           "condition: it chooses element 2 of 2");
}

TEST_CASE("elements are scattered to known places") {
  operand const x = reals({3}, {1, 2, 3});
  CHECK(value_of(11, "ScatterElements", {x, list({-1, 0}), reals({8, 9})}).reals == floats{9, 2, 8});
  CHECK(value_of(9, "Scatter", {x, list({1}), reals({8})}).reals == floats{1, 8, 3});
  contains(complaint_of(11, "ScatterElements", {in({3}), integers_in({1}), in({1})}),
           "node \"op\" (ScatterElements), indices: it is computed at run time");
  contains(complaint_of(11, "ScatterElements", {in({3}), list({1}), in({2})}),
           "updates: shapes of [3], indices of [1] and updates of [2] do not fit together");
  for (std::int64_t const i : {3, -4}) {
    contains(complaint_of(11, "ScatterElements", {in({3}), list({i}), in({1})}),
             "node \"op\" (ScatterElements), indices: " + std::to_string(i) + " is outside an axis of 3");
  }
}

TEST_CASE("a cache is updated") {
  CHECK(shape_of(24, "TensorScatter", {in({2, 4, 9, 3}), in({2, 4, 2, 3}), integers_in({2})}) == ints{2, 4, 9, 3});
  auto const refused = [](std::vector<operand> const& given, attributes const& set, char const* why) {
    contains(complaint_of(24, "TensorScatter", given, set), std::string("node \"op\" (TensorScatter), ") + why);
  };
  refused({in({2, 9, 3}), in({2, 10, 3})}, {}, "update: the shape [2,10,3] does not fit [2,9,3]");
  refused({in({2, 9, 3}), in({2, 1, 3}), integers_in({1})}, {}, "write_indices: it has the shape [1], expected [2]");
  refused({in({2, 9, 3}), in({2, 1, 3})}, text("mode", "spiral"), "mode: \"spiral\" is not supported");
}

TEST_CASE("determinants, norms of images, and tests of numbers") {
  CHECK(shape_of(11, "Det", {in({5, 2, 3, 3})}) == ints{5, 2});
  CHECK(shape_of(11, "Det", {in({4, 4})}) == ints{});
  contains(complaint_of(11, "Det", {in({2, 3})}), "its input has the shape [2,3], expected square matrices");
  contains(complaint_of(11, "Det", {in({5, 5})}), "matrices of 5 rows are not supported, only of 1 to 4");
  CHECK(shape_of(13, "GlobalLpPool", {in({2, 3, 4, 5})}) == ints{2, 3, 1, 1});
  contains(complaint_of(13, "GlobalLpPool", {in({2, 3})}), "its input has the shape [2,3], expected images");
  floats const x{0, INFINITY, -INFINITY, NAN};
  CHECK(value_of(10, "IsInf", {reals(x)}).integers == ints{0, 1, 1, 0});
  CHECK(value_of(10, "IsInf", {reals(x)}, number("detect_negative", 0)).integers == ints{0, 1, 0, 0});
  CHECK(value_of(13, "IsNaN", {reals(x)}).integers == ints{0, 0, 0, 1});
  CHECK(value_of(15, "CastLike", {list({3}), reals({1})}).reals == floats{3});
  contains(complaint_of(15, "CastLike", {in({3}), integers_in({1})}),
           "target_type: it is not a float, and integers are not told from booleans");
  CHECK(value_of(13, "EyeLike", {integers_in({2, 2})}, number("dtype", ::onnx::TensorProto::FLOAT)).reals ==
        floats{1, 0, 0, 1});
}
