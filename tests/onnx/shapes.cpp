// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of results, worked out by hand from the specification.
#include "single.hpp"

using namespace ago_test;

TEST_CASE("operands broadcast together") {
  CHECK(shape_of(13, "Add", {in({2, 3, 4}), in({2, 3, 4})}) == ints{2, 3, 4});
  CHECK(shape_of(13, "Mul", {in({2, 1, 4}), in({3, 1})}) == ints{2, 3, 4});
  CHECK(shape_of(13, "Sub", {in({}), in({5})}) == ints{5});
  CHECK(shape_of(13, "Max", {in({4, 1}), in({3}), in({2, 1, 1})}) == ints{2, 4, 3});
  CHECK(shape_of(13, "Where", {integers_in({3, 1}), in({4}), in({})}) == ints{3, 4});
  CHECK(shape_of(13, "Less", {in({3, 1}), in({4})}) == ints{3, 4});
  CHECK(shape_of(13, "PRelu", {in({1, 8, 4, 4}), in({8, 1, 1})}) == ints{1, 8, 4, 4});
  contains(complaint_of(13, "Add", {in({2, 3}), in({2})}), "node \"op\" (Add): the shapes [2,3] and [2] do not fit");
  contains(complaint_of(13, "Add", {in({2}), integers_in({2})}), "floats and integers");
  contains(complaint_of(13, "PRelu", {in({8}), in({4, 8})}), "slope: the shape [4,8] does not fit [8]");
}

TEST_CASE("operator set 6 broadcasts on request") {
  auto const at = [](int axis) { return [axis](node& n) { n.set("broadcast", 1).set("axis", axis); }; };
  CHECK(shape_of(6, "Add", {in({2, 3}), in({2, 3})}) == ints{2, 3});
  CHECK(shape_of(6, "Add", {in({2, 3}), in({3})}, [](node& n) { n.set("broadcast", 1); }) == ints{2, 3});
  CHECK(shape_of(6, "Add", {in({2, 3}), in({3})}, at(1)) == ints{2, 3});
  CHECK(shape_of(6, "Max", {in({2, 3}), in({2, 3})}) == ints{2, 3});
  contains(complaint_of(6, "Add", {in({2, 3}), in({3})}), "broadcast: the shapes [2,3] and [3] differ");
  contains(complaint_of(6, "Add", {in({2, 3, 3}), in({3})}, at(1)),
           "axis: broadcasting along other than the last axes");
  contains(complaint_of(6, "Add", {in({3}), in({2, 3})}, at(0)), "more axes than the first");
  contains(complaint_of(6, "Dropout", {in({3})}), "is_test: training is not supported");
  contains(complaint_of(6, "PRelu", {in({2, 3}), in({3})}), "slope: only one slope");
  contains(complaint_of(6, "BatchNormalization", {in({1, 2, 3}), in({2}), in({2}), in({2}), in({2})}), "is_test");
  contains(complaint_of(6, "Gemm", {in({2, 3}), in({3, 4}), in({4})}), "C: the shape [4] does not fit [2,4]");
}

TEST_CASE("matrix products have NumPy's shapes") {
  CHECK(shape_of(13, "MatMul", {in({2, 3}), in({3, 4})}) == ints{2, 4});
  CHECK(shape_of(13, "MatMul", {in({3}), in({3})}) == ints{});
  CHECK(shape_of(13, "MatMul", {in({3}), in({5, 3, 4})}) == ints{5, 4});
  CHECK(shape_of(13, "MatMul", {in({7, 1, 2, 3}), in({5, 3, 4})}) == ints{7, 5, 2, 4});
  CHECK(shape_of(13, "MatMul", {in({2, 3}), in({3})}) == ints{2});
  CHECK(shape_of(13, "Gemm", {in({3, 2}), in({4, 3}), in({4})}, [](node& n) { n.set("transA", 1).set("transB", 1); }) ==
        ints{2, 4});
  CHECK(shape_of(11, "Gemm", {in({2, 3}), in({3, 4})}) == ints{2, 4});
  contains(complaint_of(13, "MatMul", {in({2, 3}), in({4, 3})}), "[2,3] and [4,3] do not fit together");
  contains(complaint_of(13, "MatMul", {in({}), in({3})}), "scalar");
  contains(complaint_of(13, "Gemm", {in({2, 3}), in({3, 4}), in({3})}), "do not fit");
  contains(complaint_of(9, "Gemm", {in({2, 3}), in({3, 4})}), "2 inputs, expected 3");  // C is optional since 11
}

TEST_CASE("convolutions") {
  auto const padded = [](node& n) { n.set("pads", ints{1, 1, 1, 1}).set("strides", ints{2, 2}); };
  CHECK(shape_of(13, "Conv", {in({1, 3, 224, 224}), in({64, 3, 7, 7})},
                 [](node& n) { n.set("pads", ints{3, 3, 3, 3}).set("strides", ints{2, 2}); }) == ints{1, 64, 112, 112});
  CHECK(shape_of(13, "Conv", {in({1, 8, 9, 10}), in({8, 1, 3, 3}), in({8})},
                 [&](node& n) { padded(n), n.set("group", 8); }) == ints{1, 8, 5, 5});
  CHECK(shape_of(13, "Conv", {in({2, 4, 10}), in({6, 4, 3})}, [](node& n) { n.set("dilations", ints{4}); }) ==
        ints{2, 6, 2});
  for (char const* same : {"SAME_UPPER", "SAME_LOWER"}) {
    CHECK(shape_of(13, "Conv", {in({1, 1, 7, 8}), in({1, 1, 3, 2})},
                   [&](node& n) { n.set("auto_pad", same).set("strides", ints{2, 3}); }) == ints{1, 1, 4, 3});
  }
  CHECK(shape_of(13, "Conv", {in({1, 1, 7, 8}), in({1, 1, 3, 2})}, [](node& n) { n.set("auto_pad", "VALID"); }) ==
        ints{1, 1, 5, 7});
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 2, 3, 3})}), "weights for 2 channels");
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 9, 1})}), "a window that spans 9 on 8 pixels");
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 3})}), "weights of the shape [4,3,3]");
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 3, 3}), in({3})}), "B: it has the shape [3]");
  contains(complaint_of(13, "Conv", {in({1, 4, 8, 8}), in({3, 2, 1, 1})}, [](node& n) { n.set("group", 2); }),
           "group: 3 output channels in 2 groups");
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 3, 3})}, [](node& n) { n.set("strides", ints{1}); }),
           "strides: 1 numbers, expected 2");
  contains(
      complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 3, 3})}, [](node& n) { n.set("strides", ints{0, 1}); }),
      "strides: 0, expected at least 1");
  contains(complaint_of(13, "Conv", {in({1, 3, 8, 8}), in({4, 3, 3, 3})}, [](node& n) { n.set("auto_pad", "MOST"); }),
           "auto_pad: it is not one of");
}

TEST_CASE("transposed convolutions") {
  CHECK(shape_of(13, "ConvTranspose", {in({1, 1, 3, 3}), in({1, 2, 3, 3})}) == ints{1, 2, 5, 5});
  CHECK(shape_of(13, "ConvTranspose", {in({1, 4, 3, 3}), in({4, 3, 3, 3})}, [](node& n) {
          n.set("group", 2).set("strides", ints{3, 2}).set("output_padding", ints{1, 1}).set("pads", ints{1, 0, 0, 2});
        }) == ints{1, 6, 9, 6});
  CHECK(shape_of(13, "ConvTranspose", {in({1, 1, 3, 3}), in({1, 2, 3, 3})},
                 [](node& n) { n.set("strides", ints{3, 2}).set("output_shape", ints{10, 8}); }) == ints{1, 2, 10, 8});
  CHECK(shape_of(13, "ConvTranspose", {in({1, 1, 3, 3}), in({1, 2, 3, 3})},
                 [](node& n) { n.set("strides", ints{2, 2}).set("auto_pad", "SAME_UPPER"); }) == ints{1, 2, 6, 6});
}

TEST_CASE("pooling, and its last window in ceil mode") {
  auto const pool = [](ints kernel, ints strides, ints pads, int ceil) {
    return [=](node& n) {
      n.set("kernel_shape", kernel).set("strides", strides).set("pads", pads).set("ceil_mode", ceil);
    };
  };
  CHECK(shape_of(13, "MaxPool", {in({1, 3, 32, 32})}, pool({2, 2}, {2, 2}, {0, 0, 0, 0}, 0)) == ints{1, 3, 16, 16});
  CHECK(shape_of(13, "MaxPool", {in({1, 1, 4, 4})}, pool({3, 3}, {2, 2}, {0, 0, 0, 0}, 0)) == ints{1, 1, 1, 1});
  CHECK(shape_of(13, "MaxPool", {in({1, 1, 4, 4})}, pool({3, 3}, {2, 2}, {0, 0, 0, 0}, 1)) == ints{1, 1, 2, 2});
  CHECK(shape_of(13, "MaxPool", {in({1, 1, 2, 1})}, pool({3, 2}, {2, 2}, {0, 0, 0, 0}, 1)) == ints{1, 1, 1, 1});
  contains(complaint_of(13, "MaxPool", {in({1, 1, 1, 5})}, pool({3, 3}, {2, 2}, {0, 0, 0, 0}, 1)), "spans 3 on 1");
  // A third window would begin in the right padding.
  CHECK(shape_of(13, "MaxPool", {in({1, 1, 2, 2})}, pool({1, 1}, {3, 3}, {0, 0, 0, 0}, 1)) == ints{1, 1, 1, 1});
  CHECK(shape_of(13, "AveragePool", {in({1, 3, 2, 2})}, pool({3, 3}, {3, 3}, {1, 1, 1, 1}, 1)) == ints{1, 3, 1, 1});
  CHECK(shape_of(7, "AveragePool", {in({1, 3, 32})}, [](node& n) { n.set("kernel_shape", ints{2}); }) ==
        ints{1, 3, 31});
  CHECK(shape_of(13, "GlobalAveragePool", {in({2, 3, 5, 7})}) == ints{2, 3, 1, 1});
  contains(complaint_of(13, "MaxPool", {in({1, 1, 4, 4})}), "kernel_shape: it is missing");
  contains(complaint_of(13, "MaxPool", {in({1, 1, 4, 4})}, pool({2, 2}, {1, 1}, {2, 0, 0, 0}, 0)),
           "pads: padding of 2");
  contains(complaint_of(7, "MaxPool", {in({1, 1, 4, 4})}, pool({2, 2}, {1, 1}, {0, 0, 0, 0}, 1)),
           "ceil_mode: operator set 7 has no such attribute");
}

TEST_CASE("reshapes") {
  CHECK(shape_of(13, "Reshape", {in({2, 3, 4}), list({0, -1})}) == ints{2, 12});
  CHECK(shape_of(13, "Reshape", {in({2, 3, 4}), list({4, 0, 2})}) == ints{4, 3, 2});
  CHECK(shape_of(14, "Reshape", {in({0, 3}), list({3, 0})}, [](node& n) { n.set("allowzero", 1); }) == ints{3, 0});
  CHECK(shape_of(13, "Flatten", {in({2, 3, 4})}) == ints{2, 12});
  CHECK(shape_of(13, "Flatten", {in({2, 3, 4})}, [](node& n) { n.set("axis", 0); }) == ints{1, 24});
  CHECK(shape_of(13, "Flatten", {in({2, 3, 4})}, [](node& n) { n.set("axis", 3); }) == ints{24, 1});
  CHECK(shape_of(13, "Flatten", {in({2, 3, 4})}, [](node& n) { n.set("axis", -1); }) == ints{6, 4});
  contains(complaint_of(13, "Reshape", {in({2, 3}), list({-1, -1})}), "more than one size is -1");
  contains(complaint_of(13, "Reshape", {in({2, 3}), list({4, -1})}), "does not divide the shape [2,3]");
  contains(complaint_of(13, "Reshape", {in({2, 3}), list({7})}), "a different number of elements");
  contains(complaint_of(13, "Reshape", {in({2, 3}), list({2, 3, 0})}), "copies an axis that the input does not have");
  contains(complaint_of(13, "Reshape", {in({2, 3}), list({-2, 3})}), "shape: a size of -2");
  contains(complaint_of(13, "Reshape", {in({2, 3}), integers_in({1})}), "shape: it is computed at run time");
}

TEST_CASE("axes are attributes before operator set 13, and inputs since") {
  CHECK(shape_of(12, "Squeeze", {in({1, 3, 1})}, [](node& n) { n.set("axes", ints{-1}); }) == ints{1, 3});
  CHECK(shape_of(13, "Squeeze", {in({1, 3, 1}), list({0})}) == ints{3, 1});
  CHECK(shape_of(13, "Squeeze", {in({1, 3, 1})}) == ints{3});
  CHECK(shape_of(12, "Unsqueeze", {in({3})}, [](node& n) { n.set("axes", ints{0, 2}); }) == ints{1, 3, 1});
  CHECK(shape_of(13, "Unsqueeze", {in({3}), list({-1})}) == ints{3, 1});
  contains(complaint_of(13, "Squeeze", {in({1, 3})}, [](node& n) { n.set("axes", ints{0}); }),
           "axes: operator set 13 has no such attribute");
  contains(complaint_of(12, "Squeeze", {in({1, 3}), list({0})}), "2 inputs, expected 1");
  contains(complaint_of(13, "Squeeze", {in({1, 3}), list({1})}), "axis 1 of [1,3]");
  contains(complaint_of(13, "Unsqueeze", {in({3}), list({0, 0})}), "axis 0 appears twice");
  contains(complaint_of(13, "Unsqueeze", {in({3}), list({2})}), "axis 2 of a tensor with 2 axes");
}

TEST_CASE("transpose, concat, expand, tile, blocks") {
  CHECK(shape_of(13, "Transpose", {in({2, 3, 4})}) == ints{4, 3, 2});
  CHECK(shape_of(13, "Transpose", {in({2, 3, 4})}, [](node& n) { n.set("perm", ints{0, 2, 1}); }) == ints{2, 4, 3});
  CHECK(shape_of(13, "Concat", {in({2, 3}), in({2, 1}), in({2, 0})}, [](node& n) { n.set("axis", -1); }) == ints{2, 4});
  CHECK(shape_of(13, "Expand", {in({3, 1}), list({2, 1, 6})}) == ints{2, 3, 6});
  CHECK(shape_of(13, "Tile", {in({2, 3}), list({2, 0})}) == ints{4, 0});
  CHECK(shape_of(13, "DepthToSpace", {in({1, 8, 2, 3})}, [](node& n) { n.set("blocksize", 2); }) == ints{1, 2, 4, 6});
  CHECK(shape_of(13, "SpaceToDepth", {in({1, 2, 4, 6})}, [](node& n) { n.set("blocksize", 2); }) == ints{1, 8, 2, 3});
  contains(complaint_of(13, "Transpose", {in({2, 3})}, [](node& n) { n.set("perm", ints{0}); }), "perm");
  contains(complaint_of(13, "Transpose", {in({2, 3})}, [](node& n) { n.set("perm", ints{0, 0}); }), "twice");
  contains(complaint_of(13, "Concat", {in({2, 3}), in({3, 3})}, [](node& n) { n.set("axis", 1); }), "input 1");
  contains(complaint_of(13, "Concat", {in({2, 3}), in({2, 3})}), "axis: it is missing");
  contains(complaint_of(13, "DepthToSpace", {in({1, 6, 2, 3})}, [](node& n) { n.set("blocksize", 2); }), "6 channels");
}

TEST_CASE("slices are clamped to the axis") {
  CHECK(shape_of(9, "Slice", {in({20, 10, 5})}, [](node& n) {
          n.set("starts", ints{0, 3}).set("ends", ints{3, 10}).set("axes", ints{0, 1});
        }) == ints{3, 7, 5});
  CHECK(shape_of(13, "Slice", {in({20, 10}), list({1}), list({INT64_MAX}), list({1})}) == ints{20, 9});
  CHECK(shape_of(13, "Slice", {in({20, 10}), list({-1, 20}), list({INT64_MIN, 0}), list({1, 0}), list({-1, -4})}) ==
        ints{5, 10});
  CHECK(shape_of(13, "Slice", {in({10}), list({-3}), list({-1})}) == ints{2});
  CHECK(shape_of(13, "Slice", {in({10}), list({5}), list({2})}) == ints{0});
  CHECK(shape_of(13, "Slice", {in({10}), list({0}), list({10}), list({0}), list({3})}) == ints{4});
  CHECK(shape_of(13, "Slice", {in({10}), list({0}), list({10}), none(), list({INT64_MAX})}) == ints{1});
  contains(complaint_of(13, "Slice", {in({10}), list({0}), list({1}), list({0}), list({0})}), "steps: a step of 0");
  contains(complaint_of(13, "Slice", {in({10}), list({0}), list({1, 2})}), "differ in length");
}

TEST_CASE("splits") {
  auto const parts = [](std::int64_t opset, std::vector<operand> const& operands, attributes const& set, int outputs) {
    auto const m = single(opset, "Split", operands, set, outputs).load();
    ints sizes;
    for (std::size_t i = 0; i < m.outputs.size(); ++i) sizes.push_back(output(m, i).dims.at(0));
    return sizes;
  };
  CHECK(parts(11, {in({6, 2})}, {}, 3) == ints{2, 2, 2});
  CHECK(parts(11, {in({6})}, [](node& n) { n.set("split", ints{1, 5}); }, 2) == ints{1, 5});
  CHECK(parts(13, {in({6}), list({4, 0, 2})}, {}, 3) == ints{4, 0, 2});
  CHECK(parts(18, {in({7})}, [](node& n) { n.set("num_outputs", 3); }, 3) == ints{3, 3, 1});
  contains(complaint_of(13, "Split", {in({7})}, {}, 2), "7 elements in 2 equal parts");
  contains(complaint_of(13, "Split", {in({6}), list({4, 3})}, {}, 2), "do not add up to 6");
  contains(complaint_of(13, "Split", {in({6}), list({4, 2})}, {}, 3), "2 parts, but 3 outputs");
}

TEST_CASE("pads may be negative") {
  auto const pads = [](node& n) { n.set("pads", ints{1, -1, 2, 0}); };
  CHECK(shape_of(10, "Pad", {in({3, 4})}, pads) == ints{6, 3});
  CHECK(shape_of(13, "Pad", {in({3, 4}), list({1, -1, 2, 0})}) == ints{6, 3});
  CHECK(shape_of(18, "Pad", {in({3, 4}), list({2, 1}), none(), list({-1})}) == ints{3, 7});
  contains(complaint_of(13, "Pad", {in({3, 4}), list({1})}), "pads: 1 numbers, expected 4");
  contains(complaint_of(13, "Pad", {in({3, 4}), list({-4, 0, 0, 0})}), "more is removed than axis 0 has");
  contains(complaint_of(13, "Pad", {in({3}), list({1, 1})}, [](node& n) { n.set("mode", "wrap"); }), "mode");
}

TEST_CASE("looking elements up") {
  CHECK(shape_of(13, "Gather", {in({5, 4, 3}), integers_in({2, 6})}, [](node& n) { n.set("axis", 1); }) ==
        ints{5, 2, 6, 3});
  CHECK(shape_of(13, "Gather", {in({5, 4}), scalar(0)}) == ints{4});
  CHECK(shape_of(13, "GatherElements", {in({3, 4}), integers_in({2, 4})}) == ints{2, 4});
  CHECK(shape_of(13, "GatherND", {in({2, 3, 4}), integers_in({5, 2})}) == ints{5, 4});
  CHECK(shape_of(13, "GatherND", {in({2, 3, 4}), integers_in({2, 1})}, [](node& n) { n.set("batch_dims", 1); }) ==
        ints{2, 4});
  CHECK(shape_of(13, "ScatterND", {in({4, 5}), integers_in({2, 1}), in({2, 5})}) == ints{4, 5});
  CHECK(shape_of(13, "OneHot", {integers_in({2, 3}), scalar(7), in({2})}, [](node& n) { n.set("axis", 1); }) ==
        ints{2, 7, 3});
  CHECK(shape_of(13, "TopK", {in({3, 8}), list({5})}) == ints{3, 5});
  contains(complaint_of(13, "Gather", {in({5}), in({2})}), "indices: they are not integers");
  contains(complaint_of(13, "GatherElements", {in({3, 4}), integers_in({2, 5})}), "[2,5] does not fit [3,4]");
  contains(complaint_of(13, "TopK", {in({3}), list({5})}, {}, 2), "5 of 3 elements");
  contains(complaint_of(13, "ScatterND", {in({4, 5}), integers_in({2, 1}), in({2, 4})}), "expected [2,5]");
}

TEST_CASE("reductions") {
  auto const axes = [](node& n) { n.set("axes", ints{1, -1}).set("keepdims", 0); };
  CHECK(shape_of(17, "ReduceMean", {in({2, 3, 4})}, axes) == ints{2});
  CHECK(shape_of(18, "ReduceMean", {in({2, 3, 4}), list({1})}) == ints{2, 1, 4});
  CHECK(shape_of(12, "ReduceSum", {in({2, 3, 4})}, axes) == ints{2});
  CHECK(shape_of(13, "ReduceSum", {in({2, 3, 4}), list({0})}, [](node& n) { n.set("keepdims", 0); }) == ints{3, 4});
  CHECK(shape_of(13, "ReduceSum", {in({2, 3})}) == ints{1, 1});
  CHECK(shape_of(13, "ReduceSum", {in({2, 3})}, [](node& n) { n.set("noop_with_empty_axes", 1); }) == ints{2, 3});
  CHECK(shape_of(13, "ArgMax", {in({2, 3})}, [](node& n) { n.set("axis", 1).set("keepdims", 0); }) == ints{2});
  contains(complaint_of(13, "ReduceSum", {in({2, 3})}, axes), "axes: operator set 13 has no such attribute");
  contains(complaint_of(13, "ArgMax", {in({2, 0})}, [](node& n) { n.set("axis", 1); }), "the axis is empty");
}

TEST_CASE("resizing by scales, sizes and policies") {
  CHECK(shape_of(9, "Upsample", {in({1, 1, 3, 4}), reals({1, 1, 2, 1.5f})}) == ints{1, 1, 6, 6});
  CHECK(shape_of(7, "Upsample", {in({1, 1, 3, 4})}, [](node& n) { n.set("scales", floats{1, 1, 2, 3}); }) ==
        ints{1, 1, 6, 12});
  CHECK(shape_of(10, "Resize", {in({1, 1, 10, 5}), reals({1, 1, 0.7f, 0.6f})}) == ints{1, 1, 7, 3});
  CHECK(shape_of(11, "Resize", {in({1, 1, 4, 4}), reals({}), reals({1, 1, 2, 2})}) == ints{1, 1, 8, 8});
  CHECK(shape_of(11, "Resize", {in({1, 1, 4, 4}), reals({}), reals({}), list({1, 1, 3, 9})}) == ints{1, 1, 3, 9});
  CHECK(shape_of(13, "Resize", {in({1, 1, 4, 4}), none(), none(), list({1, 1, 3, 9})}) == ints{1, 1, 3, 9});
  auto const policy = [](char const* name) {
    return [name](node& n) { n.set("axes", ints{2, 3}).set("keep_aspect_ratio_policy", name); };
  };
  CHECK(shape_of(18, "Resize", {in({1, 1, 2, 4}), none(), none(), list({7, 8})}, policy("not_larger")) ==
        ints{1, 1, 4, 8});
  CHECK(shape_of(18, "Resize", {in({1, 1, 2, 4}), none(), none(), list({7, 8})}, policy("not_smaller")) ==
        ints{1, 1, 7, 14});
  contains(complaint_of(13, "Resize", {in({1, 1, 4, 4})}), "exactly one of scales and sizes");
  contains(complaint_of(13, "Resize", {in({1, 1, 4, 4}), none(), reals({2, 2})}), "scales: 2 numbers, expected 4");
  contains(complaint_of(13, "Resize", {in({1, 4}), none(), reals({1, -2})}), "a scale of -2");
  contains(complaint_of(13, "Resize", {in({1, 4}), none(), reals({1, 1e30f})}), "a scale of 1");
  contains(complaint_of(11, "Upsample", {in({1, 4}), reals({1, 2})}), "operator set 11 has no such operator");
}

TEST_CASE("normalizations check their parameters, and refuse training mode") {
  std::vector<operand> const batch{in({1, 8, 4, 4}), in({8}), in({8}), in({8}), in({8})};
  CHECK(shape_of(13, "BatchNormalization", batch) == ints{1, 8, 4, 4});
  CHECK(shape_of(17, "LayerNormalization", {in({2, 3, 4}), in({4}), in({4})}) == ints{2, 3, 4});
  CHECK(output(single(
                   17, "LayerNormalization", {in({2, 3, 4}), in({3, 4})}, [](node& n) { n.set("axis", 1); }, 3)
                   .load(),
               1)
            .dims == ints{2, 1, 1});
  CHECK(shape_of(13, "InstanceNormalization", {in({1, 8, 4}), in({8}), in({8})}) == ints{1, 8, 4});
  auto const groups = [](node& n) { n.set("num_groups", 2); };
  CHECK(shape_of(18, "GroupNormalization", {in({1, 8, 4}), in({2}), in({2})}, groups) == ints{1, 8, 4});
  CHECK(shape_of(21, "GroupNormalization", {in({1, 8, 4}), in({8}), in({8})}, groups) == ints{1, 8, 4});
  contains(complaint_of(21, "GroupNormalization", {in({1, 8, 4}), in({2}), in({2})}, groups), "scale");
  contains(complaint_of(13, "BatchNormalization", {in({1, 8, 4, 4}), in({8}), in({7}), in({8}), in({8})}), "B: it has");
  contains(complaint_of(13, "BatchNormalization", batch, {}, 5), "training is not supported");
  contains(complaint_of(14, "BatchNormalization", batch, [](node& n) { n.set("training_mode", 1); }), "training");
  contains(complaint_of(12, "Dropout", {in({2}), none(), scalar(1)}), "training_mode: training is not supported");
}

TEST_CASE("the default axis of softmax changed with operator set 13") {
  CHECK(shape_of(12, "Softmax", {in({5})}) == ints{5});  // one row: axis 1 is the end
  CHECK(shape_of(13, "Softmax", {in({5})}) == ints{5});
  contains(complaint_of(13, "Softmax", {in({5})}, [](node& n) { n.set("axis", 1); }), "axis 1 of a tensor with 1 axes");
  contains(complaint_of(12, "Softmax", {in({5})}, [](node& n) { n.set("axis", 2); }), "axis 2 of a tensor with 1 axes");
}

TEST_CASE("the bounds of clip are attributes before operator set 11, and inputs since") {
  CHECK(shape_of(10, "Clip", {in({5})}, [](node& n) { n.set("min", 0.0f).set("max", 6.0f); }) == ints{5});
  CHECK(shape_of(11, "Clip", {in({5}), none(), reals({}, {6})}) == ints{5});
  contains(complaint_of(11, "Clip", {in({5})}, [](node& n) { n.set("max", 6.0f); }),
           "max: operator set 11 has no such");
  contains(complaint_of(11, "Clip", {in({5}), reals({1, 2})}), "min: it has the shape [2], expected a scalar");
}

TEST_CASE("attention") {
  auto const heads = [](node& n) { n.set("q_num_heads", 4).set("kv_num_heads", 2); };
  CHECK(shape_of(23, "Attention", {in({1, 4, 5, 8}), in({1, 2, 7, 8}), in({1, 2, 7, 6})}) == ints{1, 4, 5, 6});
  CHECK(shape_of(23, "Attention", {in({1, 5, 32}), in({1, 7, 16}), in({1, 7, 12})}, heads) == ints{1, 5, 24});
  contains(complaint_of(23, "Attention", {in({1, 5, 32}), in({1, 7, 16}), in({1, 7, 12})}), "q_num_heads: 0 heads");
  contains(complaint_of(23, "Attention", {in({1, 4, 5, 8}), in({1, 3, 7, 8}), in({1, 3, 7, 6})}),
           "do not fit together");
  contains(complaint_of(22, "Attention", {in({1, 4, 5, 8}), in({1, 2, 7, 8}), in({1, 2, 7, 6})}), "operator set 22");
}
