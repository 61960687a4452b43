// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that need too much or refer to what does not exist: a sentence that names the node, or the right network.
#include "import/lowering.hpp"
#include "import/names.hpp"
#include "import/write_header.hpp"
#include "onnx/single.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

using namespace ago::importer;
using namespace ago_test;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();

/// The error of lowering a model that loads.
std::string refusal(network const& net) {
  ago::onnx::model const model = net.load();
  try {
    lower(model);
  } catch (ago::onnx::import_error const& e) {
    for (auto const& f : e.findings()) CHECK(!f.node.empty());
    return e.what();
  }
  FAIL("no error");
  return "";
}

template <class Layer>
int count(lowered_model const& m) {
  auto const& calls = m.network.calls;
  return int(
      std::count_if(calls.begin(), calls.end(), [](call const& c) { return std::holds_alternative<Layer>(c.what); }));
}

std::string header(call_list const& network, std::string const& name = "net") {
  program_text text = structured(network, {"x"});
  factor(text);
  std::ostringstream out;
  write_header(out, text, {name, "net.onnx", {{"x", {1, 4}}}, {{"y", {1, 4}}}});
  return out.str();
}

constexpr char const* too_many = "the network would have more than 536870912 weights";

}  // namespace

TEST_CASE("tables that exceed any memory are refused before they are made") {
  auto const refused = [](network const& net) { CHECK(contains(refusal(net), too_many)); };
  refused(single(13, "CumSum", {in({1 << 20}), scalar(0)}));
  refused(single(13, "MeanVarianceNormalization", {in({1, 1, 1 << 15, 1 << 15})}));
  refused(single(13, "Dropout", {in({1 << 15, 1 << 15})}, {}, 2));
  refused(single(13, "Pad", {in({1, 2}), list({0, 0, 0, 1 << 30})}, [](node& n) { n.set("mode", "reflect"); }));
  refused(single(18, "LpPool", {in({1, 1, 65536, 32767})}, [](node& n) { n.set("kernel_shape", ints{65536, 32767}); }));
  refused(single(23, "Attention", {in({1, 1, 40000, 1}), in({1, 1, 40000, 1}), in({1, 1, 40000, 1})},
                 [](node& n) { n.set("is_causal", 1); }));
  refused(single(13, "Gather", {in({1 << 20}), list(ints(1 << 12, 5))}));
}

TEST_CASE("operators that need no table are accepted, however many elements they have") {
  CHECK_NOTHROW(lower(single(13, "LRN", {in({1, 100000, 1, 1})}, [](node& n) { n.set("size", 3); }).load()));
  CHECK_NOTHROW(lower(single(13, "Slice", {in({1 << 30}), list({-1}), list({least}), list({0}), list({-1})}).load()));
}

TEST_CASE("all layers together have no more weights than are allowed") {
  network net;
  net.input("x", {1, 8}).constant("w", {8, 8}, floats(64, 1));
  net.node("MatMul", {"x", "w"}, {"a"});
  net.node("MatMul", {"a", "w"}, {"y"}).named("second");
  net.output("y");
  ago::onnx::model const model = net.load();
  CHECK(lower(model, {.trace = false, .most_weights = 128}).network.calls.size() == 3);
  try {
    lower(model, {.trace = false, .most_weights = 127});
    FAIL("no error");
  } catch (ago::onnx::import_error const& e) { CHECK(e.findings().at(0).node == "second"); }
}

TEST_CASE("the number of constants read is limited") {
  network net;
  net.input("x", {4, 2}).list("rows", {0, 1, 2, 3});
  for (int i = 0; i < 5; ++i) net.node("Gather", {"x", "rows"}, {"y" + std::to_string(i)}).named(std::to_string(i));
  for (int i = 0; i < 5; ++i) net.output("y" + std::to_string(i));
  ago::onnx::model const model = net.load();
  CHECK(lower(model, {.trace = false, .most_weights = 5}).outputs.size() == 5);
  try {
    lower(model, {.trace = false, .most_weights = 4});
    FAIL("no error");
  } catch (ago::onnx::import_error const& e) {
    REQUIRE(e.findings().size() == 1);
    CHECK(e.findings()[0].node == "4");
    CHECK(contains(e.what(), "the nodes together read more than 16 constant numbers"));
  }
}

TEST_CASE("indices beyond their axis are refused") {
  CHECK(contains(refusal(single(13, "Gather", {in({3, 2}), list({0, 3})})), "element 3 is outside an axis of 3"));
  CHECK(contains(refusal(single(13, "Gather", {in({3, 2}), list({-4})})), "element -1 is outside an axis of 3"));
  network const elements = single(13, "GatherElements", {in({3, 2}), tensor({1, 2}, {0, 7})});
  CHECK(contains(refusal(elements), "index 7 is outside an axis of 3"));
  network const scatter = single(13, "ScatterND", {in({3, 2}), tensor({1, 1}, {9}), in({1, 2})});
  CHECK(contains(refusal(scatter), "index 9 is outside an axis of 3"));
  CHECK(contains(refusal(single(13, "ScatterND", {in({3, 2}), tensor({2, 0}, {}), in({2, 3, 2})})),
                 "indices without elements"));
  CHECK(contains(refusal(single(13, "Gather", {reals({0, 4}, {}), integers_in({3})})), "its table has no entries"));
}

TEST_CASE("values without elements are refused wherever they occur") {
  network net;
  net.input("x", {2, 3}).list("none", {0}).list("dims", {0, 2, 3});
  net.node("Slice", {"x", "none", "none"}, {"a"}).named("empty");
  net.node("Expand", {"x", "dims"}, {"b"}).named("nothing");
  net.output("a").output("b");
  std::string const text = refusal(net);
  CHECK(contains(text, "node \"empty\" (Slice): a value has no elements"));
  CHECK(contains(text, "node \"nothing\" (Expand): a value has no elements"));
}

TEST_CASE("windows beyond the range of an int are refused") {
  auto const pads = [](ints p) { return [=](node& n) { n.set("pads", p); }; };
  CHECK(contains(
      refusal(single(13, "Conv", {in({1, 1, 4}), reals({1, 1, 1}, {1})},
                     [](node& n) { n.set("pads", ints{2147483640, 2147483640}).set("strides", ints{2147483640}); })),
      "its window is too large"));
  CHECK(contains(
      refusal(single(13, "Conv", {in({1, 1, 4}), reals({1, 1, 3}, {1, 1, 1})},
                     [](node& n) { n.set("dilations", ints{2000000000}).set("pads", ints{2147483647, 2147483647}); })),
      "its window is too large"));
  CHECK(contains(refusal(single(13, "ConvTranspose", {in({1, 1, 2147483647}), reals({1, 1, 1}, {1})},
                                [](node& n) { n.set("strides", ints{2147483647}).set("output_shape", ints{5}); })),
                 "its window is too large"));
  CHECK(!single(13, "Conv", {in({1, 1, 4}), reals({1, 1, 1}, {1})}, pads({0, 0})).load().operations.empty());
}

TEST_CASE("NaN is refused with the node that has it") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(contains(refusal(single(13, "LeakyRelu", {in({1, 2})}, [&](node& n) { n.set("alpha", nan); })),
                 "node \"op\" (LeakyRelu): a number is NaN"));
  CHECK(contains(
      refusal(single(18, "Resize", {in({1, 1, 2, 2}), reals({0, 0, nan, 0, 1, 1, nan, 1}), none(), list({1, 1, 4, 4})},
                     [](node& n) { n.set("coordinate_transformation_mode", "tf_crop_and_resize"); })),
      "its region contains NaN"));
}

TEST_CASE("operands of attention with wrong extents are refused") {
  auto const attention = [](std::vector<operand> more) {
    std::vector<operand> operands{in({2, 1, 3, 4}), in({2, 1, 5, 4}), in({2, 1, 5, 4})};
    operands.insert(operands.end(), more.begin(), more.end());
    return single(24, "Attention", operands);
  };
  CHECK(contains(refusal(attention({reals({}, {1})})), "its mask does not fit its scores"));
  CHECK(contains(refusal(attention({reals({3, 0}, {})})), "its mask does not fit its scores"));
  CHECK(contains(refusal(attention({reals({7, 5}, floats(35, 0))})), "cannot be broadcast"));
  CHECK(contains(refusal(attention({none(), none(), none(), list({4})})), "a number for each sequence"));
  CHECK(contains(refusal(attention({none(), none(), none(), list({4, 6})})), "a number beyond the keys"));
  CHECK(contains(refusal(attention({none(), in({2, 2, 1, 2}), in({2, 1, 1, 4})})), "differ in other axes"));
}

TEST_CASE("operands of a rotary embedding with wrong extents are refused") {
  auto const rotary = [](operand cosines, std::vector<operand> more, std::int64_t dim = 0) {
    std::vector<operand> operands{in({1, 2, 3, 4}), cosines, reals({3, 2}, floats(6, 0))};
    operands.insert(operands.end(), more.begin(), more.end());
    return single(23, "RotaryEmbedding", operands, [=](node& n) { n.set("rotary_embedding_dim", dim); });
  };
  operand const table = reals({3, 2}, floats(6, 1));
  CHECK(contains(refusal(rotary(table, {}, 1)), "rotary_embedding_dim"));
  CHECK(contains(refusal(rotary(table, {}, 6)), "rotary_embedding_dim"));
  CHECK(contains(refusal(rotary(table, {tensor({1, 3}, {0, 1, 3})})), "a number beyond its tables"));
  CHECK(contains(refusal(rotary(table, {tensor({1, 3}, {0, 1, most})})), "a number beyond its tables"));
  CHECK(contains(refusal(rotary(reals({1, 2}, {1, 1}), {})), "tables of angles"));
}

TEST_CASE("an attribute of another type does not end the program") {
  network net;
  net.input("x", {1, 2});
  net.node("HardSigmoid", {"x"}, {"h"}).named("odd").set("alpha", 1 / 6.f).set("beta", 1);
  net.node("Mul", {"x", "h"}, {"y"});
  net.output("y");
  CHECK(contains(refusal(net), "node \"odd\" (HardSigmoid): attribute beta has the wrong type"));
}

TEST_CASE("outputs without readers are left out, even the first") {
  network net(17);
  net.input("x", {2, 6}).list("k", {2}).constant("g", {6}, floats(6, 1));
  net.node("TopK", {"x", "k"}, {"t", "i"});
  net.node("LayerNormalization", {"x", "g"}, {"l", "m"});
  net.node("Dropout", {"x"}, {"d", "o"});
  net.node("Split", {"x"}, {"p", "q", "r"}).set("axis", 1);
  net.output("i").output("m").output("o").output("q");
  lowered_model const m = lower(net.load());
  REQUIRE(m.outputs.size() == 4);
  CHECK(m.outputs[3].dims == ints{2, 2});
  CHECK(count<ago::slice>(m) == 1);
}

TEST_CASE("slopes of a vector") {
  lowered_model const m = lower(single(13, "PRelu", {in({3}), reals({1, 2, 3})}).load());
  CHECK(m.outputs.at(0).dims == ints{3});
}

TEST_CASE("long and deep networks are written in reasonable time, with little stack") {
  call_list chain, nest;
  chain.calls.push_back({ago::input{.c = 4}, {}, {}, {}, "x"});
  nest = chain;
  for (int i = 0; i < 20000; ++i) {
    chain.calls.push_back({ago::relu{}, {i}, {}, {}, "c"});
    if (i % 3 == 0) chain.calls.back().what = ago::sigmoid{};
    else chain.calls.back().what = ago::leaky_relu{float(i % 77)};
    int const last = int(nest.calls.size()) - 1;
    nest.calls.push_back({ago::relu{}, {last}, {}, {}, "r"});
    nest.calls.push_back({binary{ago::op::add}, {0, last + 1}, {}, {}, "a"});
  }
  chain.outputs = {int(chain.calls.size()) - 1};
  nest.outputs = {int(nest.calls.size()) - 1};
  CHECK(header(chain).find("sigmoid{}") != std::string::npos);
  CHECK(header(nest).find("residual{") != std::string::npos);
}

TEST_CASE("names from files cannot end their comments") {
  call_list list;
  list.calls.push_back({ago::input{.c = 4}, {}, {}, {}, ""});
  for (char const* name : {"back\\", "trigraph\?\?/", "*/ int x;", "new\nline", "turned \xe2\x80\xae around"})
    list.calls.push_back({ago::relu{}, {int(list.calls.size()) - 1}, {}, {}, name});
  list.outputs = {5};
  std::string const text = header(list);
  CAPTURE(text);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  CHECK(text.find('\\') == std::string::npos);
  CHECK(text.find("\?\?/") == std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (auto const at = line.find("int x;"); at != std::string::npos) CHECK(line.find("//") < at);
}

TEST_CASE("a name consists of letters, digits and underscores, and is not reserved") {
  CHECK(identifier("mobilenet_v2") == "mobilenet_v2");
  CHECK(identifier("../mobilenet-v2.1;") == "mobilenet_v2_1");
  CHECK(identifier("a - b") == "a_b");
  CHECK(identifier("2x") == "x2x");
  CHECK(identifier("") == "network");
  CHECK(identifier("\xe7\xbd\x91") == "network");
  for (char const* name : {"net", "network", "model", "c", "x", "in1", "BERT", "swin_t", "yolo_v5"})
    CHECK_MESSAGE(owner_of(name) == nullptr, name);
  for (char const* name :
       {"class", "std", "main",  "ago",   "relu", "input",     "tensor",  "padding",      "time", "index", "signal",
        "log",   "y0",  "errno", "linux", "NULL", "lgammaf_r", "SIG_IGN", "pthread_self", "a__b", "_a"}) {
    CHECK_MESSAGE(owner_of(name) != nullptr, name);
    CHECK_MESSAGE(owner_of(free_name(name)) == nullptr, name);
  }
  CHECK(free_name("time") == "time_net");
  CHECK(free_name("my__net") == "my_net");
  CHECK(free_name("_net") == "net");
}
