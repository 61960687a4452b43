// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "structure.hpp"

#include <unordered_map>
#include <unordered_set>

namespace ago::onnx {
namespace {

class builder {
 public:
  builder(::onnx::GraphProto& graph, std::vector<finding>& findings) : graph_(graph), findings_(findings) {}

  structure build(std::vector<std::string> const& around) {
    for (std::string const& name : around) define(name);
    initializers();
    inputs();
    nodes();
    for (auto const& output : graph_.output()) {
      if (int const v = known(output.name()); v >= 0) {
        result_.outputs.push_back(v);
      } else {
        report("", "", "the output \"" + printable(output.name()) + "\" is not defined");
      }
    }
    if (graph_.output().empty()) report("", "", "the graph has no outputs");
    sort(needed());
    return std::move(result_);
  }

 private:
  void report(std::string node, std::string op, std::string reason) {
    findings_.push_back({.node = std::move(node), .op = std::move(op), .reason = std::move(reason)});
  }

  int known(std::string const& name) const {
    auto const found = values_.find(name);
    return found == values_.end() ? -1 : found->second;
  }

  int define(std::string const& name) {
    auto const [at, added] = values_.emplace(name, static_cast<int>(result_.names.size()));
    if (!added) return -1;
    result_.names.push_back(name);
    result_.initializers.push_back(nullptr);
    producer_.push_back(-1);
    return at->second;
  }

  void initializers() {
    for (auto& tensor : *graph_.mutable_initializer()) {
      int const v = define(tensor.name());
      if (tensor.name().empty()) {
        report("", "", "an initializer has no name");
      } else if (v < 0) {
        report("", "", "the initializer \"" + printable(tensor.name()) + "\" appears twice");
      } else {
        result_.initializers[static_cast<std::size_t>(v)] = &tensor;
      }
    }
    for (auto const& tensor : graph_.sparse_initializer()) {
      report("", "", "the sparse initializer \"" + printable(tensor.values().name()) + "\" is not supported");
    }
  }

  void inputs() {
    std::unordered_map<std::string, bool> seen;
    for (auto const& input : graph_.input()) {
      if (!seen.emplace(input.name(), true).second) {
        report("", "", "the input \"" + printable(input.name()) + "\" appears twice");
      } else if (input.name().empty()) {
        report("", "", "an input has no name");
      } else if (int const v = define(input.name()); v >= 0) {  // otherwise it has an initializer, which is its value
        result_.inputs.push_back(v);
        result_.declared.push_back(&input);
      }
    }
  }

  void nodes() {
    for (int n = 0; n < graph_.node_size(); ++n) {
      auto& outputs = result_.node_outputs.emplace_back();
      for (std::string const& name : graph_.node(n).output()) {
        int const v = name.empty() ? -1 : define(name);
        if (v < 0 && !name.empty()) {
          report(name_of(graph_, n), graph_.node(n).op_type(),
                 "its output \"" + printable(name) + "\" is already defined");
        }
        if (v >= 0) producer_[static_cast<std::size_t>(v)] = n;
        outputs.push_back(v);
      }
    }
    for (int n = 0; n < graph_.node_size(); ++n) {
      auto& inputs = result_.node_inputs.emplace_back();
      auto const read = [&](std::string const& name) {
        int const v = name.empty() ? -1 : known(name);
        if (v < 0 && !name.empty()) {
          report(name_of(graph_, n), graph_.node(n).op_type(), "its input \"" + printable(name) + "\" is not defined");
        }
        inputs.push_back(v);
      };
      for (std::string const& name : graph_.node(n).input()) read(name);
      if (graph_.node(n).op_type() != "If") continue;
      std::unordered_set<std::string> seen;  // both branches may read the same
      for (auto const& a : graph_.node(n).attribute()) {
        for (std::string const& name : captures_of(a.g())) {
          if (seen.insert(name).second) read(name);
        }
      }
    }
  }

  int producer(int value) const { return value < 0 ? -1 : producer_[static_cast<std::size_t>(value)]; }

  /// Which nodes the outputs need; also marks the values.
  std::vector<bool> needed() {
    std::vector<bool> nodes(static_cast<std::size_t>(graph_.node_size()));
    result_.needed.assign(result_.names.size(), false);
    std::vector<int> open = result_.outputs;
    while (!open.empty()) {
      auto const v = static_cast<std::size_t>(open.back());
      open.pop_back();
      if (result_.needed[v]) continue;
      result_.needed[v] = true;
      int const n = producer_[v];
      if (n < 0 || nodes[static_cast<std::size_t>(n)]) continue;
      nodes[static_cast<std::size_t>(n)] = true;
      for (int const input : result_.node_inputs[static_cast<std::size_t>(n)]) {
        if (input >= 0) open.push_back(input);
      }
    }
    return nodes;
  }

  /// Kahn's algorithm; among ready nodes, the one that became ready first comes first.
  void sort(std::vector<bool> const& wanted) {
    std::vector<int> waits(wanted.size());
    std::vector<std::vector<int>> readers(wanted.size());
    std::vector<int>& order = result_.order;
    std::size_t count = 0;
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (!wanted[n]) continue;
      ++count;
      for (int const input : result_.node_inputs[n]) {
        if (int const p = producer(input); p >= 0) {
          readers[static_cast<std::size_t>(p)].push_back(static_cast<int>(n));
          ++waits[n];
        }
      }
      if (waits[n] == 0) order.push_back(static_cast<int>(n));
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (int const reader : readers[static_cast<std::size_t>(order[i])]) {
        if (--waits[static_cast<std::size_t>(reader)] == 0) order.push_back(reader);
      }
    }
    if (order.size() == count) return;
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      if (wanted[n] && waits[n] > 0) {
        auto const node = static_cast<int>(n);
        return report(name_of(graph_, node), graph_.node(node).op_type(), "it is on a cycle, or depends on one");
      }
    }
  }

  ::onnx::GraphProto& graph_;
  std::vector<finding>& findings_;
  structure result_;
  std::unordered_map<std::string, int> values_;
  std::vector<int> producer_;
};

}  // namespace

std::string name_of(::onnx::GraphProto const& graph, int node) {
  std::string const& name = graph.node(node).name();
  return name.empty() ? "#" + std::to_string(node) : name;
}

std::vector<std::string> captures_of(::onnx::GraphProto const& graph) {
  std::unordered_set<std::string> known{""};  // defined here, or already listed
  for (auto const& tensor : graph.initializer()) known.insert(tensor.name());
  for (auto const& input : graph.input()) known.insert(input.name());
  for (auto const& node : graph.node()) known.insert(node.output().begin(), node.output().end());
  std::vector<std::string> captures;
  auto const read = [&](std::string const& name) {
    if (known.insert(name).second) captures.push_back(name);
  };
  for (auto const& node : graph.node()) {
    for (std::string const& name : node.input()) read(name);
    for (auto const& a : node.attribute()) {
      for (std::string const& name : captures_of(a.g())) read(name);
    }
  }
  for (auto const& output : graph.output()) read(output.name());
  return captures;
}

structure structure_of(::onnx::GraphProto& graph, std::vector<finding>& findings,
                       std::vector<std::string> const& around) {
  return builder(graph, findings).build(around);
}

}  // namespace ago::onnx
