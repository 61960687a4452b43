// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "decode.hpp"

#include "expand.hpp"
#include "inputs.hpp"
#include "rules.hpp"
#include "sizes.hpp"
#include "structure.hpp"
#include "tensor_proto.hpp"

namespace ago::onnx {
namespace {

using ::onnx::AttributeProto;

attribute decode_attribute(AttributeProto const& a, std::filesystem::path const& folder) {
  if (!a.ref_attr_name().empty()) throw fault{"", "a reference to an attribute of a function is not supported"};
  switch (a.type()) {
    case AttributeProto::INT: return a.i();
    case AttributeProto::FLOAT: return a.f();
    case AttributeProto::STRING: return a.s();
    case AttributeProto::INTS: return std::vector<std::int64_t>(a.ints().begin(), a.ints().end());
    case AttributeProto::FLOATS: return std::vector<float>(a.floats().begin(), a.floats().end());
    case AttributeProto::STRINGS: return std::vector<std::string>(a.strings().begin(), a.strings().end());
    case AttributeProto::TENSOR: return decode_tensor(a.t(), folder);
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS: throw fault{"", "a graph within a graph is not supported"};
    case AttributeProto::UNDEFINED: throw fault{"", "its type is missing"};
    default: throw fault{"", "its type is not supported"};
  }
}

/// Decodes the nodes and initializers of one graph.
class graph_decoder {
 public:
  graph_decoder(::onnx::GraphProto& graph, std::filesystem::path const& folder, std::vector<finding>& findings,
                subgraphs& within, std::string prefix = "")
      : graph_(graph), folder_(folder), findings_(findings), within_(within), prefix_(std::move(prefix)) {}

  /// Frees the memory of each part of the protobuf at once, so that a large model is never in memory twice.
  void initializer(::onnx::TensorProto& tensor, value& v) {
    try {
      v.known = decode_tensor(tensor, folder_);
      v.type = v.known->type;
      v.dims = v.known->dims;
    } catch (fault const& f) {
      findings_.push_back({.attribute = "initializer \"" + printable(tensor.name()) + "\"", .reason = f.reason});
    }
    ::onnx::TensorProto().Swap(&tensor);
  }

  /// Node `n`; its operands are values of the structure.
  operation node(structure const& s, int n) {
    auto& proto = *graph_.mutable_node(n);
    auto const index = static_cast<std::size_t>(n);
    operation op{.name = prefix_ + name_of(graph_, n),
                 .type = proto.op_type(),
                 .attributes = {},
                 .inputs = s.node_inputs[index],
                 .outputs = s.node_outputs[index]};
    auto const wrong = [&](std::string const& attribute, std::string const& reason) {
      findings_.push_back({.node = op.name, .op = op.type, .attribute = attribute, .reason = reason});
    };
    if (proto.domain() == "com.microsoft") {
      op.type.insert(0, microsoft);
    } else if (!proto.domain().empty() && proto.domain() != "ai.onnx") {
      wrong("", "operators of the domain \"" + printable(proto.domain()) + "\" are not supported");
    }
    if (!is_known(op.type)) return op;  // its attributes do not matter then
    if (expands(op.type)) {             // only into the outputs that are needed
      for (int& v : op.outputs) v = v >= 0 && s.needed[static_cast<std::size_t>(v)] ? v : -1;
    }
    if (op.type == "If" && proto.input_size() != 1) wrong("", "it has inputs other than a condition");
    for (AttributeProto& a : *proto.mutable_attribute()) {
      try {
        bool const is_branch = op.type == "If";
        if (is_branch && a.type() != AttributeProto::GRAPH) throw fault{"", "it is not a graph"};
        if (!op.attributes.emplace(a.name(), is_branch ? kept(a) : decode_attribute(a, folder_)).second) {
          wrong(a.name(), "it appears twice");
        }
      } catch (fault const& f) { wrong(a.name(), f.reason); }
    }
    return op;
  }

 private:
  /// The index of a graph within a node.
  attribute kept(AttributeProto& a) {
    within_.emplace_back().Swap(a.mutable_g());
    return static_cast<std::int64_t>(within_.size()) - 1;
  }

  ::onnx::GraphProto& graph_;
  std::filesystem::path const& folder_;
  std::vector<finding>& findings_;
  subgraphs& within_;
  std::string prefix_;
};

class decoder {
 public:
  decoder(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
          std::vector<finding>& findings, subgraphs& within)
      : proto_(proto), options_(options), findings_(findings),
        graph_(*proto.mutable_graph(), folder, findings, within) {}

  model decode_all() {
    header();
    fail_if_any();
    structure const s = structure_of(*proto_.mutable_graph(), findings_);
    fail_if_any();
    values(s);
    for (int const n : s.order) result_.operations.push_back(graph_.node(s, n));
    result_.outputs = s.outputs;
    return std::move(result_);
  }

 private:
  void report(std::string subject, std::string reason) {
    findings_.push_back({.attribute = std::move(subject), .reason = std::move(reason)});
  }
  void fail_if_any() const {
    if (!findings_.empty()) throw import_error(findings_);
  }

  void header() {
    result_.name = proto_.graph().name();
    for (auto const& set : proto_.opset_import()) {
      if (set.domain().empty() || set.domain() == "ai.onnx") result_.opset = set.version();
    }
    if (result_.opset < oldest_opset || result_.opset > newest_opset) {
      report("", "operator set " + std::to_string(result_.opset) + " is not supported, only " +
                     std::to_string(oldest_opset) + " to " + std::to_string(newest_opset));
    }
  }

  void values(structure const& s) {
    result_.values.resize(s.names.size());
    for (std::size_t v = 0; v < s.names.size(); ++v) {
      result_.values[v].name = s.names[v];
      if (s.needed[v] && s.initializers[v]) graph_.initializer(*s.initializers[v], result_.values[v]);
    }
    inputs(s);
  }

  void inputs(structure const& s) {
    input_shapes shapes(options_, s.declared);
    std::size_t fixed = 0;
    for (std::size_t i = 0; i < s.inputs.size(); ++i) {
      value& v = result_.values[static_cast<std::size_t>(s.inputs[i])];
      if (auto const given = options_.fixed.find(v.name); given != options_.fixed.end()) {
        v.known = given->second;
        v.type = v.known->type;
        v.dims = v.known->dims;
        ++fixed;
      } else {
        v = shapes.read(*s.declared[i], findings_);
        result_.inputs.push_back(s.inputs[i]);
      }
    }
    shapes.check_all_used(findings_);
    result_.notes = shapes.notes();
    if (fixed != options_.fixed.size()) report("", "a value is given for an input that the model does not have");
  }

  ::onnx::ModelProto& proto_;
  load_options const& options_;
  std::vector<finding>& findings_;
  graph_decoder graph_;
  model result_;
};

}  // namespace

model decode_model(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
                   std::vector<finding>& findings, subgraphs& within) {
  if (!proto.has_graph()) throw import_error("the file has no graph; it is not an ONNX model");
  return decoder(proto, folder, options, findings, within).decode_all();
}

branch decode_branch(::onnx::GraphProto graph, operation const& op, model& m, std::filesystem::path const& folder,
                     std::vector<finding>& findings, subgraphs& within) {
  if (!graph.input().empty()) throw fault{"", "its branch has inputs of its own"};
  std::vector<std::string> const around = captures_of(graph);
  std::size_t const before = findings.size();
  structure const s = structure_of(graph, findings, around);
  if (findings.size() > before) throw fault{"", "its branch is inconsistent"};
  graph_decoder decoder(graph, folder, findings, within, op.name + "/");
  std::vector<int> place(s.names.size(), -1);  // in the model
  for (std::size_t v = 0; v < around.size(); ++v) {
    for (int const i : op.inputs) {
      if (i >= 0 && m.values[static_cast<std::size_t>(i)].name == around[v]) place[v] = i;
    }
    if (place[v] < 0) throw fault{"", "its branch reads \"" + printable(around[v]) + "\", which is not defined"};
  }
  for (std::size_t v = around.size(); v < s.names.size(); ++v) {
    if (!s.needed[v]) continue;
    place[v] = static_cast<int>(m.values.size());
    m.values.push_back({.name = s.names[v], .type = element::real, .dims = {}, .known = {}});
    if (s.initializers[v]) decoder.initializer(*s.initializers[v], m.values.back());
  }
  auto const placed = [&](std::vector<int> list) {
    for (int& v : list) v = v < 0 ? v : place[static_cast<std::size_t>(v)];
    return list;
  };
  branch r{.operations = {}, .outputs = placed(s.outputs)};
  for (int const n : s.order) {
    operation& made = r.operations.emplace_back(decoder.node(s, n));
    made.inputs = placed(std::move(made.inputs));
    made.outputs = placed(std::move(made.outputs));
  }
  return r;
}

}  // namespace ago::onnx
