// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "load.hpp"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <new>
#include <unordered_set>
#include <utility>

#include "decode.hpp"
#include "expand.hpp"
#include "fold.hpp"
#include "other_formats.hpp"
#include "prune.hpp"
#include "refused.hpp"
#include "rules.hpp"
#include "words.hpp"

namespace ago::onnx {
namespace {

using names = std::unordered_set<std::string>;

bool is_empty(value const& v) { return std::find(v.dims.begin(), v.dims.end(), 0) != v.dims.end(); }

void make_known_empty(value& v) { v.known = constant{.type = v.type, .dims = v.dims}; }

/// Empty inputs are known: the caller need not pass them.
void leave_out_empty_inputs(model& m) {
  std::erase_if(m.inputs, [&](int i) {
    value& v = m.values[static_cast<std::size_t>(i)];
    if (!is_empty(v)) return false;
    make_known_empty(v);
    return true;
  });
}

/// Infers shapes and folds constants of all operations, operands first. A fault of one does not stop the others.
class propagation {
 public:
  propagation(model& m, load_options const& options, std::vector<finding>& findings, subgraphs& within,
              std::filesystem::path const& folder)
      : m_(m), findings_(findings), within_(within), folder_(folder),
        budget_{.largest = options.largest_constant, .made = options.all_constants, .read = 4 * options.all_constants} {
    // Faults of inputs and initializers leave shapes unknown: then only the operators are checked.
    for (finding const& f : findings) {
      sound_ = sound_ && !f.node.empty();
      faulty_.insert(f.node);
    }
    unknown_.assign(m.values.size(), false);
  }

  /// Returns the names of the operations whose result shapes are unknown.
  names run() {
    std::vector<operation> left;
    for (operation& op : m_.operations) visit(op, left, true);
    m_.operations = std::move(left);
    return std::move(undetermined_);
  }

 private:
  bool reads_unknown(operation const& op) const {
    for (int const v : op.inputs) {
      if (v >= 0 && unknown_[static_cast<std::size_t>(v)]) return true;
    }
    return false;
  }

  /// Appends the operation, or its decomposition, to `left` unless its results are known.
  void visit(operation& op, std::vector<operation>& left, bool of_file) {
    try {
      if (faulty_.count(op.name) == 0) {
        // A decomposition may use operators newer than the model's operator set.
        rule const& r = of_file ? checked_rule(op, m_.opset) : rule_for(op.type, newest_opset);
        if (sound_ && !reads_unknown(op)) {
          if (op.type == "If") return visit_branch(op, left);
          if (expands(op.type)) return visit_parts(op, left);
          site s(m_, op);
          r.shape(s);
          if (!fold(m_, op, budget_) && !leave_out_empty(op)) left.push_back(std::move(op));
          return;
        }
      }
    } catch (fault const& f) {
      findings_.push_back({.node = op.name, .op = op.type, .attribute = f.attribute, .reason = f.reason});
    }
    undetermined_.insert(op.name);
    for (int const v : op.outputs) {
      if (v >= 0) unknown_[static_cast<std::size_t>(v)] = true;
    }
    left.push_back(std::move(op));
  }

  /// Empty results are known, and the operation does not compute them; a concatenation does not read them either.
  /// Outputs of the network stay, to be refused by name. Returns whether nothing is left to compute.
  bool leave_out_empty(operation& op) {
    for (int& v : op.outputs) {
      bool const is_output = std::find(m_.outputs.begin(), m_.outputs.end(), v) != m_.outputs.end();
      if (v >= 0 && !is_output && is_empty(m_.values[static_cast<std::size_t>(v)])) {
        make_known_empty(m_.values[static_cast<std::size_t>(v)]);
        v = -1;
      }
    }
    if (op.type == "Concat") {
      std::erase_if(op.inputs, [&](int v) { return v >= 0 && is_empty(m_.values[static_cast<std::size_t>(v)]); });
    }
    return std::all_of(op.outputs.begin(), op.outputs.end(), [](int v) { return v < 0; });
  }

  void visit_parts(operation const& op, std::vector<operation>& left) {
    std::vector<operation> parts = expanded(m_, op, budget_);
    unknown_.resize(m_.values.size(), false);
    for (operation& part : parts) visit(part, left, false);
  }

  /// Replaces an If by the branch that its known condition chooses.
  void visit_branch(operation const& op, std::vector<operation>& left) {
    site const s(m_, op);
    constant const& condition = s.known(0, "cond");
    if (volume(condition.dims) != 1 || condition.type != element::integer) {
      throw fault{"cond", "it is not a single boolean"};
    }
    char const* const name = condition.integers[0] != 0 ? "then_branch" : "else_branch";
    std::int64_t const number = s.integer(name, -1);
    if (number < 0) throw fault{name, "it is missing"};
    std::size_t const before = findings_.size();
    ::onnx::GraphProto graph = std::move(within_[static_cast<std::size_t>(number)]);
    branch chosen = decode_branch(std::move(graph), op, m_, folder_, findings_, within_);
    for (std::size_t i = before; i < findings_.size(); ++i) faulty_.insert(findings_[i].node);
    unknown_.resize(m_.values.size(), false);
    if (chosen.outputs.size() != op.outputs.size()) {
      std::string const expected = std::to_string(op.outputs.size());
      throw fault{name, std::to_string(chosen.outputs.size()) + " outputs, expected " + expected};
    }
    for (operation& part : chosen.operations) visit(part, left, true);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.outputs[i] < 0) continue;
      operation copy{.name = op.name,
                     .type = "Identity",
                     .attributes = {},
                     .inputs = {chosen.outputs[i]},
                     .outputs = {op.outputs[i]}};
      visit(copy, left, true);
    }
  }

  model& m_;
  std::vector<finding>& findings_;
  subgraphs& within_;
  std::filesystem::path const& folder_;
  fold_budget budget_;
  bool sound_ = true;
  names faulty_, undetermined_;
  std::vector<bool> unknown_;
};

/// Reports operators that remain but are not allowed. If the operands are unknown because of another fault, the
/// operator is only reported if it could not have been folded anyway.
void check_operators(model const& m, load_options const& options, names const& undetermined,
                     std::vector<finding>& findings) {
  names faulty;
  for (finding const& f : findings) faulty.insert(f.node);
  for (operation const& op : m.operations) {
    bool const copy = !faulty.empty() && lists("Cast Dropout Identity", op.type);  // prune was not called
    bool const perhaps = undetermined.count(op.name) != 0 && (foldable(op.type) || expands(op.type) || op.type == "If");
    if (options.operators.empty() || options.operators.count(op.type)) continue;
    if (copy || perhaps || faulty.count(op.name)) continue;
    std::string const reason = op.unfolded.empty() ? refusal_of(op.type) : op.unfolded;
    findings.push_back({.node = op.name, .op = op.type, .reason = reason});
  }
}

model load_proto(::onnx::ModelProto& proto, std::filesystem::path const& folder, load_options const& options) try {
  std::vector<finding> findings;
  subgraphs within;
  model m = decode_model(proto, folder, options, findings, within);
  proto.Clear();
  if (findings.empty()) leave_out_empty_inputs(m);
  names const undetermined = propagation(m, options, findings, within, folder).run();
  if (findings.empty()) prune(m);
  check_operators(m, options, undetermined, findings);
  if (!findings.empty()) throw import_error(findings);
  return m;
} catch (std::bad_alloc const&) { throw import_error("there is not enough memory for the model"); }

}  // namespace

model load(std::filesystem::path const& file, load_options const& options) {
  std::string const quoted = "\"" + printable(file.string()) + "\"";
  auto const refuse = [&](std::string const& otherwise) {
    std::string const format = other_format(file);
    throw import_error(quoted + (format.empty() ? otherwise : " is " + format));
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    refuse(error ? ": " + error.message() : " is not a regular file");
  }
  int const descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw import_error(quoted + " cannot be opened");
  ::onnx::ModelProto proto;
  {
    google::protobuf::io::FileInputStream stream(descriptor);
    stream.SetCloseOnDelete(true);
    if (!proto.ParseFromZeroCopyStream(&stream)) refuse(" is damaged, or not an ONNX model");
  }
  if (!proto.has_graph()) refuse(" has no graph; it is not an ONNX model");
  std::filesystem::path const folder = file.parent_path();
  return load_proto(proto, folder.empty() ? "." : folder, options);
}

model load_bytes(std::string_view bytes, std::filesystem::path const& folder, load_options const& options) {
  ::onnx::ModelProto proto;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (bytes.size() > 0x7fffffff || !proto.ParseFromZeroCopyStream(&stream)) {
    throw import_error("the model is damaged, or not an ONNX model");
  }
  return load_proto(proto, folder, options);
}

}  // namespace ago::onnx
