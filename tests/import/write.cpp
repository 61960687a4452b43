// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a network: repeated blocks, residuals, order of weights.
#include "import/expression.hpp"
#include "import/write_header.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace ago::importer;

namespace {

/// A list of calls written by hand; all weights of a layer are its number.
struct sketch {
  call_list list;

  int add(layer_value what, std::vector<int> operands, int weights = 0) {
    int const number = int(list.calls.size());
    list.calls.push_back({std::move(what), std::move(operands), {}, {}, "node" + std::to_string(number)});
    if (weights) list.calls.back().weights.assign(std::size_t(weights), float(number));
    return number;
  }
  int block(int x, int wide, int out) {
    x = add(ago::pointwise{wide}, {x}, 1);
    x = add(ago::relu{}, {x});
    x = add(ago::depthwise{.kernel = 3, .pad = 1}, {x}, 1);
    return add(ago::pointwise{out}, {x}, 1);
  }
  program_text text(int output) {
    list.outputs = {output};
    program_text t = structured(list, {"x"});
    factor(t);
    return t;
  }
};

std::string header(program_text const& t) {
  std::ostringstream out;
  write_header(out, t, {"net", "net.onnx", {{"x", {1, 4}}}, {{"y", {1, 4}}}});
  return out.str();
}

bool contains(std::string const& text, char const* what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("blocks that are equal except for their numbers become a function") {
  sketch s;
  int x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  for (int wide : {8, 16, 24}) x = s.block(x, wide, wide / 2);
  std::string const text = header(s.text(x));
  CAPTURE(text);
  CHECK(contains(text, "/// 3 times."));
  CHECK(contains(text, "(int out, int out2)"));
  CHECK(contains(text, "(8, 4)"));
  CHECK(contains(text, "(24, 12)"));
}

TEST_CASE("a sum with the input is a residual, and consecutive equal blocks are a repetition") {
  sketch s;
  int x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  for (int i = 0; i < 3; ++i) {
    int const y = s.block(x, 8, 4);
    x = s.add(binary{ago::op::add}, {x, y});
  }
  std::string const text = header(s.text(x));
  CAPTURE(text);
  CHECK(contains(text, "repeat{3, residual{"));
  CHECK(!contains(text, "tensor const"));
}

TEST_CASE("a sum with a value of another shape is not a residual, which needs equal shapes") {
  sketch s;
  int const x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  int const gate = s.add(ago::sigmoid{}, {s.add(ago::global_avg_pool{}, {x})});
  int const y = s.add(binary{ago::op::add}, {gate, x});
  for (int v : {x, y}) s.list.calls[std::size_t(v)].out = {1, 8, 8, 4};
  CHECK(contains(header(s.text(y)), "((global_avg_pool{} | sigmoid{}) + identity{})"));
  int const z = s.add(binary{ago::op::mul}, {x, gate});
  CHECK(contains(header(s.text(z)), "(identity{} * (global_avg_pool{} | sigmoid{}))"));
}

TEST_CASE("a function's parameters do not hide its layers, and values without readers have no name") {
  sketch s;
  int x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  s.add(ago::input{.c = 4}, {});
  for (int sides : {1, 2, 3, 4}) {
    x = s.add(ago::depthwise{.kernel = 9, .pad = sides}, {x}, 1);
    x = s.add(ago::pad{.sides = 1}, {x});
    x = s.add(ago::relu{}, {x});
    x = s.add(ago::pointwise{4}, {x}, 1);
  }
  s.list.outputs = {x};
  program_text t = structured(s.list, {"in1", "in2"});
  factor(t);
  std::string const text = header(t);
  CAPTURE(text);
  CHECK(contains(text, "(int pad2) {"));
  CHECK(contains(text, ".pad = pad2} | pad{1}"));
  CHECK(contains(text, "trace([](tensor in1, tensor) {"));
}

TEST_CASE("statements that repeat except for variables and numbers become a function of values and numbers") {
  sketch s;
  int const x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {}), shared = s.add(ago::constant{.w = 4, .c = 4}, {x}, 16);
  int h = x, c = x;
  for (int k = 1; k <= 5; ++k) {
    int const wide = s.add(product_of{}, {h, shared});
    int const part = s.add(ago::slice{k, 1, ago::axis::rows}, {x});
    c = s.add(binary{ago::op::add}, {s.add(binary{ago::op::mul}, {wide, part}), c});
    h = s.add(binary{ago::op::mul}, {s.add(ago::sigmoid{}, {c}), s.add(binary{ago::op::sub}, {c, wide})});
  }
  s.list.outputs = {h};
  program_text t = structured(s.list, {"x"});
  std::vector<float> const weights = t.weights;
  factor_steps(t);
  std::string const text = header(t);
  CAPTURE(text);
  REQUIRE(t.steps.size() == 1);
  step_function const& f = t.steps[0];
  CHECK(f.results.size() == 2);
  CHECK(
      contains(text, "/// 5 times.\nconstexpr auto step(tensor in1, tensor in2, tensor in3, tensor in4, int begin) {"));
  CHECK(contains(text, "tensor_list<2>{{"));
  CHECK(t.weights == weights);
}

TEST_CASE("the order of the calls is that in which the text's layers are recorded") {
  sketch s;
  int const x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  int const late = s.add(ago::pointwise{4}, {x}, 1);             // 1
  int const unread = s.add(ago::relu{}, {x});                    // 2
  int const early = s.add(ago::relu{}, {x});                     // 3
  int const sum = s.add(binary{ago::op::add}, {early, late});    // 4: (relu) + (pointwise)
  int const left = s.add(ago::sigmoid{}, {sum});                 // 5
  int const right = s.add(ago::relu6{}, {sum});                  // 6
  int const both = s.add(join{ago::axis::rows}, {right, left});  // 7: a statement, which names its operands
  program_text const t = s.text(both);
  CAPTURE(header(t));
  CHECK(t.order == std::vector{x, early, late, sum, right, left, both});
  call_list const ordered = in_order_of(t, s.list);
  REQUIRE(ordered.calls.size() == 7);
  CHECK(ordered.outputs == std::vector{6});
  CHECK(ordered.calls[2].weights == std::vector<float>{1});
  CHECK((ordered.calls[3].operands == std::vector{1, 2} && ordered.calls[6].operands == std::vector{4, 5}));
  for (call const& c : ordered.calls) CHECK(c.origin != "node" + std::to_string(unread));
}

TEST_CASE("weights are in the order in which the text declares the layers, not in that of the calls") {
  sketch s;
  int const x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  int const a = s.add(ago::pointwise{4}, {x}, 1);                             // 1
  int const b = s.add(ago::pointwise{6}, {x}, 1);                             // 2
  int const c = s.add(ago::conv2d{.out = 2, .kernel = 3, .pad = 1}, {a}, 1);  // 3
  int const y = s.add(join{}, {b, c});
  auto const t = s.text(y);
  CHECK(t.weights == std::vector<float>{2, 1, 3});
  CHECK(contains(header(t), "concat(pointwise{6}, pointwise{4} | conv2d{.out = 2, .kernel = 3, .pad = 1})"));
}

TEST_CASE("a value read twice gets a name") {
  sketch s;
  int const x = s.add(ago::input{.c = 4}, {});
  int const a = s.add(ago::linear{4}, {x}, 1);
  int const b = s.add(ago::relu{}, {a});
  int const c = s.add(ago::sigmoid{}, {b});
  int const d = s.add(product_of{true}, {b, c});
  std::string const text = header(s.text(d));
  CAPTURE(text);
  CHECK(contains(text, "tensor const x1 = x | linear{4} | relu{};"));
  CHECK(contains(text, "matmul(x1, x2, true)"));
}

TEST_CASE("a function within a function gets all numbers that the outer one takes") {
  sketch s;
  int x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
  for (int wide : {8, 16, 24}) {
    for (int i = 0; i < 3; ++i) {
      x = s.block(x, wide, 2 * wide);
      x = i < 2 ? s.add(ago::max_pool{2}, {x}) : s.add(ago::sigmoid{}, {x});
    }
  }
  auto const t = s.text(x);
  std::string const text = header(t);
  CAPTURE(text);
  REQUIRE(t.blocks.size() == 2);
  CHECK(t.blocks[0].uses == 3);  // all within the other one, with the names of its parameters
  CHECK(contains(text, "return pointwise_relu_depthwise_pointwise(out, out2) | max_pool{2}"));
  CHECK(contains(text, "pointwise_relu_depthwise_pointwise(int out, int out2)"));
}

TEST_CASE("layers that no output needs are left out, with their weights") {
  sketch s;
  int const x = s.add(ago::input{.c = 4}, {});
  s.add(ago::linear{9}, {x}, 1);
  int const y = s.add(ago::linear{3}, {x}, 1);
  auto const t = s.text(y);
  CHECK(t.weights == std::vector<float>{2});
  CHECK(!contains(header(t), "linear{9}"));
}

TEST_CASE("names from files cannot break out of comments") {
  sketch s;
  int const x = s.add(ago::input{.c = 4}, {});
  int const y = s.add(ago::linear{3}, {x}, 1);
  s.list.calls.back().origin = "evil\n#error";
  CHECK(!contains(header(s.text(y)), "\n#error"));
}

TEST_CASE("a sum followed by layers has parentheses, as compilers recommend") {
  sketch s;
  int const x = s.add(ago::input{.c = 4}, {});
  int const a = s.add(ago::linear{4}, {x}, 1);
  int const b = s.add(ago::linear{4}, {a}, 1);
  int const c = s.add(binary{ago::op::add}, {a, b});
  int const d = s.add(ago::relu{}, {c});
  int const e = s.add(product_of{}, {b, d});
  std::string const text = header(s.text(e));
  CAPTURE(text);
  CHECK(contains(text, " = (x1 + x2) | relu{};"));
}

TEST_CASE("only arguments that differ from their defaults are written") {
  auto const text_of = [](layer_value what) {
    sketch s;
    int const x = s.add(ago::input{.h = 8, .w = 8, .c = 4}, {});
    std::string const all = header(s.text(s.add(std::move(what), {x})));
    auto const begin = all.find("| ") + 2;
    return all.substr(begin, all.find("};", begin) + 1 - begin);
  };
  CHECK(text_of(ago::pad{.sides = 1}) == "pad{1}");
  CHECK(text_of(ago::pad{.sides = {0, 2}, .mode = ago::pad_mode::edge}) ==
        "pad{.sides = {0, 2}, .mode = pad_mode::edge}");
  CHECK(text_of(ago::pad{.channels_after = 3}) == "pad{.channels_after = 3}");
  CHECK(text_of(ago::resize_nearest{4, 6}) == "resize_nearest{4, 6}");
  CHECK(text_of(ago::resize_nearest{4, 6, ago::sampling::half_pixel, ago::rounding::nearest_or_up}) ==
        "resize_nearest{.height = 4, .width = 6, .sampling = sampling::half_pixel, "
        ".rounding = rounding::nearest_or_up}");
  CHECK(text_of(ago::resize_bilinear{4, 6, ago::sampling::align_corners}) ==
        "resize_bilinear{.height = 4, .width = 6, .sampling = sampling::align_corners}");
  CHECK(text_of(ago::avg_pool{.kernel = 2, .dilation = 2}) == "avg_pool{.kernel = 2, .dilation = 2}");
  CHECK(text_of(ago::local_response_norm{}) == "local_response_norm{}");
  CHECK(text_of(ago::group_norm{.groups = 2}) == "group_norm{2}");
  CHECK(text_of(ago::rms_norm{}) == "rms_norm{}");
  CHECK(text_of(ago::instance_norm{}) == "instance_norm{}");
  CHECK(text_of(ago::l2_normalize{.along = ago::axis::rows}) == "l2_normalize{axis::rows}");
  CHECK(text_of(ago::tile{.w = 2}) == "tile{.w = 2}");
}
