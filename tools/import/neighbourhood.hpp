// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators around a value, for the recognition of patterns.
#pragma once

#include "../onnx/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace ago::importer {

/// The makers and readers of a model's values.
class neighbourhood {
 public:
  explicit neighbourhood(onnx::model const& m) : model(m), maker_(m.values.size(), -1), uses_(m.values.size(), 0) {
    for (std::size_t i = 0; i < m.operations.size(); ++i) {
      for (int v : m.operations[i].outputs)
        if (v >= 0) maker_[std::size_t(v)] = int(i);
      for (int v : m.operations[i].inputs)
        if (v >= 0) ++uses_[std::size_t(v)];
    }
    for (int v : m.outputs) ++uses_[std::size_t(v)];
  }

  onnx::model const& model;

  /// The maker of a value that is read `uses` times, if it has this type; otherwise null.
  onnx::operation const* maker(int value, char const* type, int uses = 1) const {
    if (value < 0 || maker_[std::size_t(value)] < 0 || uses_[std::size_t(value)] != uses) return nullptr;
    onnx::operation const& op = model.operations[std::size_t(maker_[std::size_t(value)])];
    return op.type == type ? &op : nullptr;
  }
  /// The maker of a value, however often it is read; null for inputs and constants.
  onnx::operation const* maker(int value) const {
    int const i = value < 0 ? -1 : maker_[std::size_t(value)];
    return i < 0 ? nullptr : &model.operations[std::size_t(i)];
  }
  /// The same if it has this type. Others may read parts of such a pattern, which then remain beside it.
  onnx::operation const* any_maker(int value, char const* type) const {
    onnx::operation const* op = maker(value);
    return op && op->type == type ? op : nullptr;
  }
  bool is_known(int value) const { return value >= 0 && model.values[std::size_t(value)].known.has_value(); }
  /// A single constant number.
  std::optional<float> number(int value) const {
    if (!is_known(value)) return {};
    auto const& k = *model.values[std::size_t(value)].known;
    if (k.reals.size() == 1) return k.reals[0];
    if (k.integers.size() == 1) return float(k.integers[0]);
    return {};
  }
  /// Whether a value is a constant whose elements all have this value.
  bool all_are(int value, float wanted) const {
    if (!is_known(value)) return false;
    auto const& k = model.values[std::size_t(value)].known->reals;
    return !k.empty() && std::all_of(k.begin(), k.end(), [&](float x) { return x == wanted; });
  }
  bool is_number(int value, float wanted) const {
    auto const k = number(value);
    return k && std::fabs(*k - wanted) <= 1e-5f * std::fabs(wanted);
  }
  std::vector<std::int64_t> const& dims(int value) const { return model.values[std::size_t(value)].dims; }

  /// The operands of a commutative operator, ordered so that the first one satisfies `is_first`.
  template <class F>
  std::optional<std::pair<int, int>> operands(onnx::operation const& op, F const& is_first) const {
    if (is_first(op.inputs[0])) return std::pair{op.inputs[0], op.inputs[1]};
    if (is_first(op.inputs[1])) return std::pair{op.inputs[1], op.inputs[0]};
    return {};
  }
  /// The other operand of a commutative operator, if one is this number.
  std::optional<int> beside_number(onnx::operation const& op, float wanted) const {
    auto const both = operands(op, [&](int v) { return is_number(v, wanted); });
    return both ? std::optional(both->second) : std::nullopt;
  }

 private:
  std::vector<int> maker_, uses_;
};

/// A list of integers among the attributes; empty if there is none of that name.
inline std::vector<std::int64_t> integers(onnx::operation const& op, char const* name) {
  auto const at = op.attributes.find(name);
  auto const* list = at == op.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&at->second);
  return list ? *list : std::vector<std::int64_t>{};
}

/// Replaces `last`, the last operator of a pattern.
inline onnx::operation made(onnx::operation const& last, char const* type, std::vector<int> inputs) {
  return {.name = last.name, .type = type, .attributes = {}, .inputs = std::move(inputs), .outputs = {last.outputs[0]}};
}

/// GELU with the error function, or with tanh.
std::optional<onnx::operation> gelu_pattern(neighbourhood const& n, onnx::operation const& op);

// Normalisations that exporters write as several operators; `op` is the last of them.

/// A batch norm with the mean and variance of its own input is an instance norm.
std::optional<onnx::operation> own_statistics_pattern(neighbourhood const& n, onnx::operation const& op);
/// A layer norm written as an instance norm whose channels are rows.
std::optional<onnx::operation> instances_pattern(neighbourhood const& n, onnx::operation const& op);
std::optional<onnx::operation> layer_norm_pattern(neighbourhood const& n, onnx::operation const& op);
std::optional<onnx::operation> rms_norm_pattern(neighbourhood const& n, onnx::operation const& op);
std::optional<onnx::operation> group_norm_pattern(neighbourhood const& n, onnx::operation const& op);

}  // namespace ago::importer
