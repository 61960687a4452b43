// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "prune.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "operands.hpp"
#include "site.hpp"

namespace ago::onnx {
namespace {

bool same_value(site const& s) {
  std::string const& type = s.type();
  bool const same = s.output_dims(0) == s.dims(0) && s.output_type(0) == s.element_type(0);
  if (!same) return false;
  for (char const* name : {"Identity", "Dropout", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile"}) {
    if (type == name) return true;
  }
  // All floats have one type here. So have integers, but narrower ones wrap around, and booleans have only two
  // values.
  if (type == "Cast" && s.element_type(0) == element::integer) {
    std::int64_t const to = s.integer("to", 0);
    return to == ::onnx::TensorProto::INT64 || to == ::onnx::TensorProto::INT32;
  }
  if (type == "Cast") return s.element_type(0) == element::real;
  for (char const* name : {"Concat", "Sum", "Mean", "Max", "Min"}) {
    if (type == name) return s.inputs() == 1;
  }
  if (type == "Split") return s.outputs() == 1;
  if (type == "Transpose") {
    auto const axes = permutation_of(s);
    return std::is_sorted(axes.begin(), axes.end());
  }
  if (type == "Slice") {
    auto const cuts = cuts_of(s);
    return std::all_of(cuts.begin(), cuts.end(), [](cut const& c) { return c.start == 0 && c.step > 0; });
  }
  if (type == "Pad") {
    padding const p = padding_of(s);
    return std::all_of(p.before.begin(), p.before.end(), [](std::int64_t x) { return x == 0; });
  }
  return false;
}

class pruner {
 public:
  explicit pruner(model& m) : m_(m) {}

  void run() {
    drop_dead();
    bypass();
    drop_dead();
    compact();
  }

 private:
  /// Redirects readers of a copy to the original.
  void bypass() {
    std::vector<int> instead(m_.values.size());
    for (std::size_t v = 0; v < instead.size(); ++v) instead[v] = static_cast<int>(v);
    std::vector<int> output_instead = instead;
    std::vector<bool> computed(m_.values.size(), false);
    is_output_.assign(m_.values.size(), false);
    for (int const v : m_.outputs) is_output_[static_cast<std::size_t>(v)] = true;
    std::vector<operation> kept;
    for (operation& op : m_.operations) {
      for (int& v : op.inputs) v = v < 0 ? v : instead[static_cast<std::size_t>(v)];
      int const from = op.inputs.empty() ? -1 : op.inputs[0], to = op.outputs[0];
      bool const copies = from >= 0 && op.outputs.size() == 1 && same_value(site(m_, op));
      if (copies && !is_output_[static_cast<std::size_t>(to)]) {
        instead[static_cast<std::size_t>(to)] = from;
      } else if (copies && may_become(from, to, computed)) {
        instead[static_cast<std::size_t>(to)] = output_instead[static_cast<std::size_t>(to)] = from;
      } else {
        for (int const v : op.outputs) {
          if (v >= 0) computed[static_cast<std::size_t>(v)] = true;
        }
        kept.push_back(std::move(op));
      }
    }
    for (int& v : m_.outputs) v = output_instead[static_cast<std::size_t>(v)];
    m_.operations = std::move(kept);
  }

  /// Whether the value `from` can be the output `to` and take its name: it must be computed and not be an output
  /// itself.
  bool may_become(int from, int to, std::vector<bool> const& computed) {
    auto const source = static_cast<std::size_t>(from), output = static_cast<std::size_t>(to);
    if (!computed[source] || is_output_[source]) return false;
    is_output_[source] = true;
    m_.values[source].name = m_.values[output].name;
    return true;
  }

  void drop_dead() {
    std::vector<bool> needed(m_.values.size(), false);
    for (int const v : m_.outputs) needed[static_cast<std::size_t>(v)] = true;
    std::vector<operation> kept;
    for (auto op = m_.operations.rbegin(); op != m_.operations.rend(); ++op) {
      for (int& v : op->outputs) v = v >= 0 && needed[static_cast<std::size_t>(v)] ? v : -1;
      if (std::all_of(op->outputs.begin(), op->outputs.end(), [](int v) { return v < 0; })) continue;
      while (op->outputs.back() < 0) op->outputs.pop_back();
      for (int const v : op->inputs) {
        if (v >= 0) needed[static_cast<std::size_t>(v)] = true;
      }
      kept.push_back(std::move(*op));
    }
    std::reverse(kept.begin(), kept.end());
    m_.operations = std::move(kept);
    for (int const v : m_.inputs) needed[static_cast<std::size_t>(v)] = true;
    needed_ = std::move(needed);
  }

  /// Renumbers the values without unneeded ones.
  void compact() {
    std::vector<int> number(m_.values.size(), -1);
    std::vector<value> kept;
    for (std::size_t v = 0; v < number.size(); ++v) {
      if (!needed_[v]) continue;
      number[v] = static_cast<int>(kept.size());
      kept.push_back(std::move(m_.values[v]));
    }
    m_.values = std::move(kept);
    auto const renumber = [&](std::vector<int>& list) {
      for (int& v : list) v = v < 0 ? v : number[static_cast<std::size_t>(v)];
    };
    for (operation& op : m_.operations) {
      renumber(op.inputs);
      renumber(op.outputs);
    }
    renumber(m_.inputs);
    renumber(m_.outputs);
  }

  model& m_;
  std::vector<bool> needed_, is_output_;
};

}  // namespace

void prune(model& m) { pruner(m).run(); }

}  // namespace ago::onnx
