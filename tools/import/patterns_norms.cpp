// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations that exporters write as several operators.
#include "neighbourhood.hpp"

namespace ago::importer {

namespace {

using onnx::operation;

/// Does the operator take the mean over the last axis, which stays?
bool is_mean_of_last(neighbourhood const& n, operation const& op) {
  std::vector<std::int64_t> axes = integers(op, "axes");
  if (axes.empty() && op.inputs.size() > 1 && n.is_known(op.inputs[1]))
    axes = n.model.values[std::size_t(op.inputs[1])].known->integers;
  std::int64_t const rank = std::int64_t(n.dims(op.inputs[0]).size());
  bool const last = axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
  return last && n.dims(op.outputs[0]).size() == std::size_t(rank);
}

/// Is a value known, and a number for each element of the last axis of what `op` makes?
bool is_vector_of_last(neighbourhood const& n, int value, operation const& op) {
  auto const& whole = n.dims(op.outputs[0]);
  return n.is_known(value) && !whole.empty() && n.dims(value) == std::vector<std::int64_t>{whole.back()};
}

/// x * x, however that is written.
struct square {
  int x, reads;  ///< how often it reads x
};

std::optional<square> square_of(neighbourhood const& n, int value) {
  if (auto const* power = n.maker(value, "Pow"); power && n.is_number(power->inputs[1], 2))
    return square{power->inputs[0], 1};
  if (auto const* product = n.maker(value, "Mul"); product && product->inputs[0] == product->inputs[1])
    return square{product->inputs[0], 2};
  return {};
}

/// sqrt(mean of a square along the last axis + epsilon)
struct root_of_mean_square {
  square of;
  float epsilon;
};

std::optional<root_of_mean_square> length_of(neighbourhood const& n, int value) {
  auto const* root = n.maker(value, "Sqrt");
  auto const* sum = root ? n.maker(root->inputs[0], "Add") : nullptr;
  auto const both = sum ? n.operands(*sum, [&](int v) { return n.number(v).has_value(); }) : std::nullopt;
  auto const* mean = both ? n.maker(both->second, "ReduceMean") : nullptr;
  if (!mean || !is_mean_of_last(n, *mean)) return {};
  auto const of = square_of(n, mean->inputs[0]);
  return of ? std::optional(root_of_mean_square{*of, *n.number(both->first)}) : std::nullopt;
}

/// The same of 1 / sqrt(...).
std::optional<root_of_mean_square> reciprocal_length_of(neighbourhood const& n, int value) {
  if (auto const* r = n.maker(value, "Reciprocal")) return length_of(n, r->inputs[0]);
  auto const* quotient = n.maker(value, "Div");
  return quotient && n.is_number(quotient->inputs[0], 1) ? length_of(n, quotient->inputs[1]) : std::nullopt;
}

/// x / sqrt(...), or x * (1 / sqrt(...))
std::optional<root_of_mean_square> of_length_one(neighbourhood const& n, int value) {
  if (auto const* q = n.maker(value, "Div"))
    if (auto const found = length_of(n, q->inputs[1]); found && found->of.x == q->inputs[0]) return found;
  if (auto const* m = n.maker(value, "Mul"))
    for (std::size_t i : {0, 1})
      if (auto const found = reciprocal_length_of(n, m->inputs[i]); found && found->of.x == m->inputs[1 - i])
        return found;
  return {};
}

/// x * gamma + beta
struct scaled_and_shifted {
  int x, gamma, beta;
};

/// What `op`, an Add, makes of x by two operands that satisfy `is_parameter`.
template <class F>
std::optional<scaled_and_shifted> scaled_and_shifted_by(neighbourhood const& n, operation const& op,
                                                        F const& is_parameter) {
  auto const shifted = n.operands(op, is_parameter);
  auto const* scaled = shifted ? n.maker(shifted->second, "Mul") : nullptr;
  auto const parts = scaled ? n.operands(*scaled, is_parameter) : std::nullopt;
  return parts ? std::optional(scaled_and_shifted{parts->second, parts->first, shifted->first}) : std::nullopt;
}

}  // namespace

/// (x - mean) / sqrt(mean of the square + epsilon) * gamma + beta over the last axis.
std::optional<operation> layer_norm_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Add") return {};
  auto const whole = scaled_and_shifted_by(n, op, [&](int v) { return is_vector_of_last(n, v, op); });
  auto const* quotient = whole ? n.maker(whole->x, "Div") : nullptr;
  auto const deviation = quotient ? length_of(n, quotient->inputs[1]) : std::nullopt;
  if (!deviation || deviation->of.x != quotient->inputs[0]) return {};
  auto const* difference = n.maker(deviation->of.x, "Sub", 1 + deviation->of.reads);
  auto const* mean = difference ? n.maker(difference->inputs[1], "ReduceMean") : nullptr;
  if (!mean || mean->inputs[0] != difference->inputs[0] || !is_mean_of_last(n, *mean)) return {};
  if (n.dims(difference->inputs[0]) != n.dims(op.outputs[0])) return {};
  operation r = made(op, "LayerNormalization", {difference->inputs[0], whole->gamma, whole->beta});
  r.attributes["epsilon"] = deviation->epsilon;
  return r;
}

/// x / sqrt(mean of the squares of x + epsilon) * gamma over the last axis.
std::optional<operation> rms_norm_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Mul") return {};
  auto const parts = n.operands(op, [&](int v) { return is_vector_of_last(n, v, op); });
  auto const found = parts ? of_length_one(n, parts->second) : std::nullopt;
  if (!found || found->epsilon < 0 || n.dims(found->of.x) != n.dims(op.outputs[0])) return {};
  operation r = made(op, "RMSNormalization", {found->of.x, parts->first});
  r.attributes["epsilon"] = found->epsilon;
  return r;
}

/// Each group of channels reshaped into one channel, an instance norm, and what scales and shifts the channels.
std::optional<operation> group_norm_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Add") return {};
  auto const& whole = n.dims(op.outputs[0]);
  auto const is_by_channel = [&](int v) {
    if (!n.is_known(v) || whole.size() < 3) return false;
    std::vector<std::int64_t> wanted(whole.size() - 1, 1), given = n.dims(v);
    wanted[0] = whole[1];
    if (given.size() == whole.size() && given[0] == 1) given.erase(given.begin());
    return given == wanted;
  };
  auto const parts = scaled_and_shifted_by(n, op, is_by_channel);
  auto const* back = parts ? n.maker(parts->x, "Reshape") : nullptr;
  auto const* norm = back ? n.maker(back->inputs[0], "InstanceNormalization") : nullptr;
  auto const* split = norm ? n.maker(norm->inputs[0], "Reshape") : nullptr;
  if (!split || n.dims(split->inputs[0]) != whole) return {};
  auto const& grouped = n.dims(norm->inputs[0]);
  bool const of_groups = grouped.size() > 2 && grouped[0] == whole[0] && whole[1] % grouped[1] == 0;
  if (!of_groups || !n.all_are(norm->inputs[1], 1) || !n.all_are(norm->inputs[2], 0)) return {};
  operation r = made(op, "GroupNormalization", {split->inputs[0], parts->gamma, parts->beta});
  r.attributes = norm->attributes;
  r.attributes["num_groups"] = grouped[1];
  return r;
}

}  // namespace ago::importer
