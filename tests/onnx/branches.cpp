// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An If whose condition is known before the network runs is replaced by the branch that it chooses.
#include "network.hpp"

using namespace ago_test;

namespace {

/// The graph of a branch, with nodes as in a network.
class graph_within {
 public:
  graph_within(node& of, std::string const& name) : graph_(attribute(of, name)) { graph_.set_name(name); }

  node operation(std::string const& type, names const& inputs, names const& outputs) {
    auto& n = *graph_.add_node();
    n.set_op_type(type);
    for (auto const& i : inputs) n.add_input(i);
    for (auto const& o : outputs) n.add_output(o);
    return node(n);
  }
  graph_within& constant(std::string const& name, ints const& dims, floats const& numbers) {
    auto& t = *graph_.add_initializer();
    t.set_name(name);
    fill(t, dims, numbers);
    return *this;
  }
  graph_within& output(std::string const& name) { return graph_.add_output()->set_name(name), *this; }
  ::onnx::GraphProto& proto() { return graph_; }

 private:
  static ::onnx::GraphProto& attribute(node& of, std::string const& name) {
    auto& a = *of.proto().add_attribute();
    a.set_name(name);
    a.set_type(::onnx::AttributeProto::GRAPH);
    return *a.mutable_g();
  }

  ::onnx::GraphProto& graph_;
};

/// The double of x if its first extent is `extent`, else its square plus one. Both branches use the same names.
network chosen_by_extent(std::int64_t extent) {
  network net;
  net.input("x", {2, 3}).list("place", {0}).list("wanted", {extent});
  net.node("Relu", {"x"}, {"r"});
  net.node("Shape", {"x"}, {"shape"});
  net.node("Gather", {"shape", "place"}, {"first"});
  net.node("Equal", {"first", "wanted"}, {"is"});
  node choice = net.node("If", {"is"}, {"y"}).named("choice");
  graph_within yes(choice, "then_branch"), no(choice, "else_branch");
  yes.operation("Add", {"r", "r"}, {"t"});
  yes.output("t");
  no.constant("one", {}, floats{1});
  no.operation("Mul", {"x", "x"}, {"t"});
  no.operation("Add", {"t", "one"}, {"u"});
  no.output("u");
  net.output("y");
  return net;
}

names types_of(ago::onnx::model const& m) {
  names r;
  for (auto const& op : m.operations) r.push_back(op.type);
  return r;
}

}  // namespace

TEST_CASE("an If with a known condition is replaced by its branch, which may read values outside") {
  auto const yes = chosen_by_extent(2).load(), no = chosen_by_extent(5).load();
  CHECK(types_of(yes) == names{"Relu", "Add"});
  CHECK(types_of(no) == names{"Mul", "Add"});
  CHECK((output(yes).name == "y" && output(yes).dims == ints{2, 3}));
  CHECK((output(no).name == "y" && output(no).dims == ints{2, 3}));
  CHECK(no.operations[0].name == "choice/#0");
}

TEST_CASE("a branch may contain another If, and return outside values or constants") {
  network net;
  net.input("x", {2}).constant("large", {}, floats{4});
  auto& condition = *net.graph().add_initializer();
  condition.set_name("yes");
  condition.set_data_type(::onnx::TensorProto::BOOL);
  condition.add_int32_data(1);
  node outer = net.node("If", {"yes"}, {"y", "z"});
  graph_within first(outer, "then_branch"), second(outer, "else_branch");
  first.constant("k", {2}, {5, 6});
  node inner = first.operation("If", {"yes"}, {"i"});
  graph_within nested(inner, "then_branch"), unused(inner, "else_branch");
  nested.operation("Mul", {"x", "large"}, {"m"});
  nested.operation("Add", {"m", "k"}, {"a"});
  nested.output("a");
  unused.output("x");
  first.output("i").output("k");
  second.output("x").output("x");
  net.node("Add", {"y", "z"}, {"sum"});
  net.output("sum");
  auto const m = net.load();
  CHECK(types_of(m) == names{"Mul", "Add", "Add"});
  CHECK(m.values[std::size_t(m.operations[2].inputs[1])].known->reals == floats{5, 6});
}

TEST_CASE("an If with a condition computed at run time is refused, and so is an invalid If") {
  network net;
  net.input("x", {2}).input("c", {1}, ::onnx::TensorProto::BOOL);
  node choice = net.node("If", {"c"}, {"y"}).named("choice");
  graph_within(choice, "then_branch").output("x");
  graph_within(choice, "else_branch").output("x");
  net.output("y");
  contains(net.complaint(), "node \"choice\" (If), cond: it is computed at run time; only a constant is supported");

  auto const broken = [](auto change) {
    network n = chosen_by_extent(2);
    change(*n.graph().mutable_node(4));
    return n.complaint();
  };
  contains(broken([](auto& n) { n.mutable_attribute(0)->set_type(::onnx::AttributeProto::INT); }), "it is not a graph");
  contains(broken([](auto& n) { n.mutable_attribute(0)->set_name("else_branch"); }), "it appears twice");
  contains(broken([](auto& n) { n.mutable_attribute()->RemoveLast(), n.mutable_attribute()->RemoveLast(); }),
           "then_branch: it is missing");
  contains(broken([](auto& n) { n.add_input("x"); }), "inputs other than a condition");
  contains(broken([](auto& n) { n.add_output("more"); }), "then_branch: 1 outputs, expected 2");
  contains(broken([](auto& n) { n.mutable_attribute(0)->mutable_g()->add_input()->set_name("r"); }),
           "its branch has inputs of its own");
  contains(broken([](auto& n) { n.mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "nowhere"); }),
           "node \"choice\" (If): its input \"nowhere\" is not defined");
  contains(broken([](auto& n) { n.mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Unheard"); }),
           "node \"choice/#0\" (Unheard): the operator is not supported");
}
