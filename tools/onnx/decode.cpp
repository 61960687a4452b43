// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "decode.hpp"

#include "expand.hpp"
#include "inputs.hpp"
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
    case AttributeProto::TENSOR: return decode_tensor(a.t(), folder);
    case AttributeProto::GRAPH:
    case AttributeProto::GRAPHS: throw fault{"", "a graph within a graph is not supported"};
    case AttributeProto::UNDEFINED: throw fault{"", "its type is missing"};
    default: throw fault{"", "its type is not supported"};
  }
}

class decoder {
 public:
  decoder(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
          std::vector<finding>& findings)
      : proto_(proto), folder_(folder), options_(options), findings_(findings) {}

  model decode_all() {
    header();
    fail_if_any();
    structure const s = structure_of(*proto_.mutable_graph(), findings_);
    fail_if_any();
    values(s);
    for (int const n : s.order) result_.operations.push_back(node(s, n));
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
    if (!proto_.has_graph()) return report("", "the file has no graph; it is not an ONNX model");
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
      if (s.needed[v] && s.initializers[v]) initializer(*s.initializers[v], result_.values[v]);
    }
    inputs(s);
  }

  void inputs(structure const& s) {
    input_shapes shapes(options_);
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
    if (fixed != options_.fixed.size()) report("", "a value is given for an input that the model has not");
  }

  /// Gives the memory of the file's form back at once: a large model is never there twice.
  void initializer(::onnx::TensorProto& tensor, value& v) {
    try {
      v.known = decode_tensor(tensor, folder_);
      v.type = v.known->type;
      v.dims = v.known->dims;
    } catch (fault const& f) {
      report("initializer \"" + printable(tensor.name()) + "\"", f.reason);
    }
    ::onnx::TensorProto().Swap(&tensor);
  }

  operation node(structure const& s, int n) {
    auto const& proto = proto_.graph().node(n);
    auto const index = static_cast<std::size_t>(n);
    operation op{.name = name_of(proto_.graph(), n),
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
    for (AttributeProto const& a : proto.attribute()) {
      try {
        if (!op.attributes.emplace(a.name(), decode_attribute(a, folder_)).second) wrong(a.name(), "it is there twice");
      } catch (fault const& f) {
        wrong(a.name(), f.reason);
      }
    }
    return op;
  }

  ::onnx::ModelProto& proto_;
  std::filesystem::path const& folder_;
  load_options const& options_;
  std::vector<finding>& findings_;
  model result_;
};

}  // namespace

model decode_model(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options,
                   std::vector<finding>& findings) {
  return decoder(proto, folder, options, findings).decode_all();
}

}  // namespace ago::onnx
