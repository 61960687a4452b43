// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant folding, compared with results by hand.
#include <cmath>
#include <limits>

#include "single.hpp"

using namespace ago_test;

namespace {

ints integers_of(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                 attributes const& set = {}) {
  return value_of(opset, type, operands, set).integers;
}

floats reals_of(std::int64_t opset, std::string const& type, std::vector<operand> const& operands,
                attributes const& set = {}) {
  return value_of(opset, type, operands, set).reals;
}

bool folds(std::string const& type, std::vector<operand> const& operands, attributes const& set = {}) {
  return output(single(13, type, operands, set).load()).known.has_value();
}

constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("shapes are known even if values are not") {
  CHECK(integers_of(13, "Shape", {in({2, 3, 4})}) == ints{2, 3, 4});
  CHECK(integers_of(15, "Shape", {in({2, 3, 4})}, [](node& n) { n.set("start", -2).set("end", 9); }) == ints{3, 4});
  CHECK(integers_of(15, "Shape", {in({2, 3, 4})}, [](node& n) { n.set("start", 2).set("end", 1); }).empty());
  CHECK(integers_of(13, "Size", {in({2, 3, 4})}) == ints{24});
  CHECK(value_of(13, "Size", {in({2, 3, 4})}).dims.empty());
}

TEST_CASE("the arithmetic that exporters write for view(n, -1)") {
  network net;
  net.input("x", {2, 3, 4}).list("zero", {0}).list("minus", {-1});
  net.node("Shape", {"x"}, {"shape"});
  net.node("Gather", {"shape", "zero"}, {"n"});
  net.node("Concat", {"n", "minus"}, {"to"}).set("axis", 0);
  net.node("Reshape", {"x", "to"}, {"y"});
  auto const m = net.output("y").load();
  CHECK(output(m).dims == ints{2, 12});
  REQUIRE(m.operations.size() == 1);
  CHECK(m.operations[0].type == "Reshape");
  CHECK(m.values.size() == 3);  // x, to, y
}

TEST_CASE("values without elements take no time, however large their other extents") {
  constexpr std::int64_t many = 1 << 30;
  auto const second = [](node& n) { n.set("axis", 1); };
  CHECK(value_of(13, "Gather", {reals({many, 1, 0}, {}), list({0})}, second).dims == ints{many, 1, 0});
  CHECK(value_of(13, "Gather", {reals({many, 0, 1}, {}), tensor({0}, {})}, second).dims == ints{many, 0, 1});
  CHECK(value_of(13, "ScatterND", {reals({0}, {}), tensor({many, 0}, {}), reals({many, 0}, {})}).dims == ints{0});
  CHECK(value_of(13, "EyeLike", {reals({many, 0}, {})}).dims == ints{many, 0});
  CHECK(contains(complaint_of(13, "Gather", {reals({many, 1, 0}, {}), list({1})}, second), "index 1 of 1 elements"));
}

TEST_CASE("operators that produce constants") {
  CHECK(reals_of(13, "ConstantOfShape", {list({2, 2})}) == floats{0, 0, 0, 0});
  CHECK(integers_of(13, "ConstantOfShape", {list({3})}, [](node& n) { fill(n.tensor("value"), {1}, ints{7}); }) ==
        ints{7, 7, 7});
  CHECK(value_of(13, "ConstantOfShape", {list({})}).dims.empty());
  CHECK(integers_of(13, "Range", {scalar(10), scalar(4), scalar(-3)}) == ints{10, 7});
  CHECK(integers_of(13, "Range", {scalar(4), scalar(10), scalar(-3)}).empty());
  CHECK(reals_of(13, "Range", {reals({}, {0}), reals({}, {1}), reals({}, {0.4f})}) == floats{0, 0.4f, 0.8f});
  CHECK(integers_of(13, "Range", {scalar(INT64_MIN), scalar(INT64_MAX), scalar(INT64_MAX)}).size() == 3);
  CHECK(integers_of(13, "NonZero", {tensor({2, 3}, {0, 5, 0, 1, 0, 2})}) == ints{0, 1, 1, 1, 0, 2});
  CHECK(integers_of(13, "EyeLike", {integers_in({2, 3})}, [](node& n) { n.set("k", 1); }) == ints{0, 1, 0, 0, 0, 1});
  CHECK(reals_of(13, "Constant", {}, [](node& n) { n.set("value_floats", floats{1, 2}); }) == floats{1, 2});
  CHECK(integers_of(13, "Constant", {}, [](node& n) { n.set("value_int", 5); }) == ints{5});
  contains(complaint_of(13, "Constant", {}), "0 values, expected one");
  contains(complaint_of(13, "Constant", {}, [](node& n) { n.set("value_int", 5).set("value_float", 1.0f); }),
           "2 values");
  contains(complaint_of(13, "Range", {scalar(0), scalar(1), scalar(0)}), "delta: it is 0");
  contains(complaint_of(13, "Range", {scalar(0), scalar(INT64_MAX), scalar(1)}), "limit: too many numbers");
}

TEST_CASE("OneHot with a constant depth and constant indices") {
  auto const numbers = [](operand indices, std::int64_t axis) {
    auto const set = [&](node& n) { n.set("axis", axis); };
    return value_of(13, "OneHot", {std::move(indices), scalar(3), reals({2, 5})}, set);
  };
  CHECK(numbers(list({1, -1}), -1).reals == floats{2, 5, 2, 2, 2, 5});
  CHECK(numbers(list({1, -1}), 0).reals == floats{2, 2, 5, 2, 2, 5});
  CHECK(numbers(list({3, -4}), -1).reals == floats(6, 2));  // beyond the depth
  CHECK(numbers(tensor({2, 2}, {0, 1, 2, 0}), 1).dims == ints{2, 3, 2});
  CHECK(numbers(tensor({2, 2}, {0, 1, 2, 0}), 1).reals == floats{5, 2, 2, 5, 2, 2, 2, 5, 2, 2, 5, 2});
  CHECK(numbers(reals({2}), -1).reals == floats{2, 2, 5});
  CHECK(value_of(13, "OneHot", {list({0}), scalar(2), list({0, 1})}).integers == ints{1, 0});
  contains(complaint_of(13, "OneHot", {list({0}), scalar(2), reals({1, 2, 3})}), "values: it has the shape [3]");
}

TEST_CASE("elements are moved") {
  operand const x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(integers_of(13, "Transpose", {x}) == ints{1, 4, 2, 5, 3, 6});
  CHECK(integers_of(13, "Transpose", {tensor({1, 2, 3}, {1, 2, 3, 4, 5, 6})},
                    [](node& n) { n.set("perm", ints{2, 0, 1}); }) == ints{1, 4, 2, 5, 3, 6});
  CHECK(integers_of(13, "Reshape", {x, list({3, 2})}) == ints{1, 2, 3, 4, 5, 6});
  CHECK(integers_of(13, "Slice", {x, list({1}), list({3}), list({1})}) == ints{2, 3, 5, 6});
  CHECK(integers_of(13, "Slice", {x, list({-1, -1}), list({-9, -9}), list({0, 1}), list({-1, -2})}) ==
        ints{6, 4, 3, 1});
  CHECK(integers_of(13, "Concat", {x, tensor({2, 1}, {7, 8})}, [](node& n) { n.set("axis", 1); }) ==
        ints{1, 2, 3, 7, 4, 5, 6, 8});
  CHECK(integers_of(13, "Concat", {x, x}, [](node& n) { n.set("axis", 0); }) ==
        ints{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(integers_of(13, "Expand", {tensor({2, 1}, {1, 2}), list({2, 2, 2})}) == ints{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(integers_of(13, "Tile", {x, list({2, 2})}) ==
        ints{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  CHECK(integers_of(14, "Trilu", {x}) == ints{1, 2, 3, 0, 5, 6});
  CHECK(integers_of(14, "Trilu", {x, scalar(-1)}, [](node& n) { n.set("upper", 0); }) == ints{0, 0, 0, 4, 0, 0});
  CHECK(integers_of(14, "Trilu", {tensor({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}) == ints{1, 2, 0, 4, 5, 6, 0, 8});
  CHECK(integers_of(13, "Unsqueeze", {x, list({0})}) == x.numbers);
}

TEST_CASE("pads are filled, and negative ones cropped") {
  operand const x = reals({2, 2}, {1, 2, 3, 4});
  CHECK(reals_of(13, "Pad", {x, list({0, 1, 1, 0}), reals({}, {9})}) == floats{9, 1, 2, 9, 3, 4, 9, 9, 9});
  CHECK(reals_of(13, "Pad", {x, list({-1, 0, 0, 1})}) == floats{3, 4, 0});
  CHECK(reals_of(10, "Pad", {x}, [](node& n) { n.set("pads", ints{0, 1, 0, 0}).set("value", 5.0f); }) ==
        floats{5, 1, 2, 5, 3, 4});
  CHECK_FALSE(folds("Pad", {x, list({1, 0, 0, 0})}, [](node& n) { n.set("mode", "reflect"); }));
}

TEST_CASE("elements are looked up") {
  operand const x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(integers_of(13, "Gather", {x, list({1, -2, 1})}) == ints{4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(integers_of(13, "Gather", {x, scalar(-1)}, [](node& n) { n.set("axis", 1); }) == ints{3, 6});
  CHECK(integers_of(13, "GatherElements", {x, tensor({1, 3}, {1, 0, -1})}) == ints{4, 2, 6});
  CHECK(integers_of(13, "GatherElements", {x, tensor({2, 1}, {2, 0})}, [](node& n) { n.set("axis", 1); }) ==
        ints{3, 4});
  CHECK(integers_of(13, "ScatterND", {x, tensor({1, 1}, {-1}), tensor({1, 3}, {7, 8, 9})}) == ints{1, 2, 3, 7, 8, 9});
  CHECK(integers_of(13, "ScatterND", {x, tensor({2, 2}, {0, 2, 1, 0}), list({7, 8})}) == ints{1, 2, 7, 8, 5, 6});
  contains(complaint_of(13, "Gather", {x, list({2})}), "index 2 of 2 elements");
  contains(complaint_of(13, "Gather", {x, list({INT64_MIN})}), "index -9223372036854775808 of 2");
  contains(complaint_of(13, "ScatterND", {x, tensor({1, 1}, {2}), tensor({1, 3}, {7, 8, 9})}), "index 2 of 2");
}

TEST_CASE("parts of a split") {
  auto const m =
      single(
          13, "Split", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), list({1, 2})}, [](node& n) { n.set("axis", 1); }, 2)
          .load();
  CHECK(output(m, 0).known->integers == ints{1, 4});
  CHECK(output(m, 1).known->integers == ints{2, 3, 5, 6});
}

TEST_CASE("integers divide towards zero, and wrap around") {
  CHECK(integers_of(13, "Add", {list({1, INT64_MAX}), list({2, 1})}) == ints{3, INT64_MIN});
  CHECK(integers_of(13, "Sub", {list({1, 5}), scalar(3)}) == ints{-2, 2});
  CHECK(integers_of(13, "Mul", {tensor({2, 1}, {2, 3}), list({10, 100})}) == ints{20, 200, 30, 300});
  CHECK(integers_of(13, "Div", {list({7, -7, INT64_MIN}), list({2, 2, -1})}) == ints{3, -3, INT64_MIN});
  CHECK(integers_of(13, "Mod", {list({7, -7, 7, INT64_MIN}), list({3, 3, -3, -1})}) == ints{1, 2, -2, 0});
  CHECK(integers_of(13, "Mod", {list({-7, 7}), list({3, -3})}, [](node& n) { n.set("fmod", 1); }) == ints{-1, 1});
  CHECK(integers_of(13, "Pow", {list({2, -3, 7, 1, -1}), list({10, 3, 0, -5, -5})}) == ints{1024, -27, 1, 1, -1});
  CHECK(integers_of(13, "Max", {list({1, 5}), list({4, 2}), scalar(3)}) == ints{4, 5});
  CHECK(integers_of(13, "Min", {list({1, 5}), list({4, 2})}) == ints{1, 2});
  CHECK(integers_of(13, "Neg", {list({1, INT64_MIN})}) == ints{-1, INT64_MIN});
  CHECK(integers_of(13, "Abs", {list({-4, 4})}) == ints{4, 4});
  CHECK(integers_of(13, "Clip", {list({-4, 4, 9}), scalar(0), scalar(5)}) == ints{0, 4, 5});
  contains(complaint_of(13, "Div", {list({1}), list({0})}), "a constant is divided by 0");
  contains(complaint_of(13, "Mod", {list({1}), list({0})}), "a constant is divided by 0");
  contains(complaint_of(13, "Pow", {list({0}), list({-1})}), "0 to a negative power");
}

TEST_CASE("floats are single precision") {
  CHECK(reals_of(13, "Add", {reals({0.1f}), reals({0.2f})}) == floats{0.1f + 0.2f});
  CHECK(reals_of(13, "Div", {reals({1, 1}), reals({3, 0})}) == floats{1.0f / 3, infinity});
  CHECK(reals_of(13, "Pow", {reals({2, 9}), reals({3, 0.5f})}) == floats{8, 3});
  CHECK(reals_of(13, "Pow", {reals({2, 3}), list({3, 2})}) == floats{8, 9});
  CHECK(reals_of(13, "Sqrt", {reals({16})}) == floats{4});
  CHECK(reals_of(13, "Floor", {reals({-1.5f, 1.5f})}) == floats{-2, 1});
  CHECK(reals_of(13, "Ceil", {reals({-1.5f, 1.5f})}) == floats{-1, 2});
  CHECK(reals_of(13, "Round", {reals({0.5f, 1.5f, 2.5f})}) == floats{0, 2, 2});
  CHECK(reals_of(13, "Relu", {reals({-1, 2})}) == floats{0, 2});
  CHECK(reals_of(10, "Clip", {reals({-1, 9})}, [](node& n) { n.set("min", 0.0f).set("max", 6.0f); }) == floats{0, 6});
  CHECK(reals_of(13, "Clip", {reals({-1, 9}), none(), reals({}, {6})}) == floats{-1, 6});
  CHECK(reals_of(13, "Sum", {reals({1}), reals({2}), reals({3})}) == floats{6});
  contains(complaint_of(13, "Mod", {reals({1}), reals({2})}), "fmod: it must be 1 for floats");
}

TEST_CASE("comparisons, logic and choice") {
  CHECK(integers_of(13, "Equal", {list({1, 2, 3}), list({3, 2, 1})}) == ints{0, 1, 0});
  CHECK(integers_of(13, "Less", {list({1, 2, 3}), list({3, 2, 1})}) == ints{1, 0, 0});
  CHECK(integers_of(13, "Greater", {reals({1, 2, 3}), reals({2})}) == ints{0, 0, 1});
  CHECK(integers_of(13, "LessOrEqual", {list({1, 2, 3}), list({2})}) == ints{1, 1, 0});
  CHECK(integers_of(13, "GreaterOrEqual", {list({1, 2, 3}), list({2})}) == ints{0, 1, 1});
  CHECK(integers_of(13, "And", {list({0, 1, 1}), list({1, 0, 1})}) == ints{0, 0, 1});
  CHECK(integers_of(13, "Or", {list({0, 1, 0}), list({1, 0, 0})}) == ints{1, 1, 0});
  CHECK(integers_of(13, "Xor", {list({0, 1, 1}), list({1, 0, 1})}) == ints{1, 1, 0});
  CHECK(integers_of(13, "Not", {list({0, 1})}) == ints{1, 0});
  CHECK(reals_of(13, "Where", {tensor({2, 1}, {1, 0}), reals({1, 2}), reals({3})}) == floats{1, 2, 3, 3});
}

TEST_CASE("casts") {
  auto const to = [](int type) { return [type](node& n) { n.set("to", type); }; };
  using ::onnx::TensorProto;
  CHECK(integers_of(13, "Cast", {reals({-1.7f, 2.9f, 1e30f, std::nanf("")})}, to(TensorProto::INT64)) ==
        ints{-1, 2, INT64_MAX, 0});
  CHECK(integers_of(13, "Cast", {list({300, -1})}, to(TensorProto::UINT8)) == ints{44, 255});
  CHECK(integers_of(13, "Cast", {list({300, 128})}, to(TensorProto::INT8)) == ints{44, -128});
  CHECK(integers_of(13, "Cast", {reals({0.5f, 0})}, to(TensorProto::BOOL)) == ints{1, 0});
  CHECK(integers_of(13, "Cast", {list({5, 0})}, to(TensorProto::BOOL)) == ints{1, 0});
  CHECK(reals_of(13, "Cast", {list({3, -4})}, to(TensorProto::FLOAT)) == floats{3, -4});
  CHECK(reals_of(13, "Cast", {reals({1.5f})}, to(TensorProto::DOUBLE)) == floats{1.5f});
  contains(complaint_of(13, "Cast", {reals({1})}, to(TensorProto::STRING)), "data type STRING is not supported");
  contains(complaint_of(13, "Cast", {reals({1})}, to(77)), "data type number 77 is not supported");
  contains(complaint_of(13, "Cast", {reals({1})}), "to: it is missing");
}

TEST_CASE("reductions of constants") {
  operand const x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  auto const rows = [](node& n) { n.set("axes", ints{1}).set("keepdims", 0); };
  CHECK(integers_of(13, "ReduceProd", {x}) == ints{720});
  CHECK(integers_of(12, "ReduceSum", {x}, rows) == ints{6, 15});
  CHECK(integers_of(13, "ReduceSum", {x, list({0})}) == ints{5, 7, 9});
  CHECK(integers_of(13, "ReduceMax", {x}, rows) == ints{3, 6});
  CHECK(integers_of(13, "ReduceMin", {x}, rows) == ints{1, 4});
  operand const y = reals({2, 2}, {3, 4, -6, 8});
  CHECK(reals_of(13, "ReduceMean", {y}, rows) == floats{3.5f, 1});
  CHECK(reals_of(13, "ReduceL1", {y}, rows) == floats{7, 14});
  CHECK(reals_of(13, "ReduceL2", {y}, rows) == floats{5, 10});
  CHECK(reals_of(13, "ReduceSumSquare", {y}, rows) == floats{25, 100});
  CHECK(reals_of(13, "ReduceMax", {reals({0}, {})}) == floats{-infinity});
  CHECK_FALSE(folds("ReduceMean", {x}));  // integers: the rounding of the quotient is unspecified
}

TEST_CASE("quantized weights become floats") {
  operand const x = tensor({2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(reals_of(13, "DequantizeLinear", {x, reals({}, {0.5f}), scalar(2)}) == floats{-1, -0.5f, 0, 0.5f, 1, 1.5f});
  CHECK(reals_of(13, "DequantizeLinear", {x, reals({1, 10}), list({0, 3})}, [](node& n) { n.set("axis", 0); }) ==
        floats{0, 1, 2, 0, 10, 20});
  CHECK(reals_of(13, "DequantizeLinear", {x, reals({1, 10, 100})}) == floats{0, 10, 200, 3, 40, 500});
  contains(complaint_of(13, "DequantizeLinear", {x, reals({1, 10})}), "x_scale: it has the shape [2]");
}

TEST_CASE("results that would be too large are not folded") {
  network net;
  net.list("shape", {100, 100});
  net.node("ConstantOfShape", {"shape"}, {"y"});
  net.output("y");
  CHECK(output(net.load({.largest_constant = 10000})).known.has_value());
  CHECK_FALSE(output(net.load({.largest_constant = 9999})).known.has_value());
  CHECK_FALSE(output(net.load({.all_constants = 9999})).known.has_value());
  CHECK(output(net.load({.all_constants = 9999})).dims == ints{100, 100});
  contains(net.complaint({.operators = {"Relu"}, .largest_constant = 9999}),
           "10000 constant numbers would result from it, more than 9999");
  contains(net.complaint({.operators = {"Relu"}, .all_constants = 9999}), "the constants of the model would take");

  network integers;
  integers.list("shape", {100});
  fill(integers.node("ConstantOfShape", {"shape"}, {"y"}).tensor("value"), {1}, ints{7});
  integers.output("y");
  CHECK(output(integers.load({.largest_constant = 200})).known.has_value());
  CHECK_FALSE(output(integers.load({.largest_constant = 199})).known.has_value());
}

TEST_CASE("operators that would take too long are not folded") {
  network net;
  net.list("shape", {1 << 22});
  net.node("ConstantOfShape", {"shape"}, {"x"});
  net.constant("one", {1}, floats{1});
  names operands(20000, "one");  // each of them would be repeated
  operands[0] = "x";
  net.node("Sum", operands, {"y"});
  auto const m = net.output("y").load();
  CHECK_FALSE(output(m).known.has_value());
  CHECK(m.operations.size() == 1);
}
