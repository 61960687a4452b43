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

/// The x of x * x, however that is written.
std::optional<int> squared(neighbourhood const& n, int value) {
  if (auto const* power = n.maker(value, "Pow"); power && n.is_number(power->inputs[1], 2)) return power->inputs[0];
  if (auto const* product = n.maker(value, "Mul"); product && product->inputs[0] == product->inputs[1])
    return product->inputs[0];
  return {};
}

/// sqrt(mean of the squares of x along the last axis + epsilon)
struct root_of_mean_square {
  int x;
  float epsilon;
};

std::optional<root_of_mean_square> length_of(neighbourhood const& n, int value) {
  auto const* root = n.maker(value, "Sqrt");
  auto const* sum = root ? n.maker(root->inputs[0], "Add") : nullptr;
  auto const both = sum ? n.operands(*sum, [&](int v) { return n.number(v).has_value(); }) : std::nullopt;
  auto const* mean = both ? n.maker(both->second, "ReduceMean") : nullptr;
  if (!mean || !is_mean_of_last(n, *mean)) return {};
  auto const x = squared(n, mean->inputs[0]);
  float const epsilon = *n.number(both->first);
  return x && epsilon >= 0 ? std::optional(root_of_mean_square{*x, epsilon}) : std::nullopt;
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
    if (auto const found = length_of(n, q->inputs[1]); found && found->x == q->inputs[0]) return found;
  if (auto const* m = n.maker(value, "Mul"))
    for (std::size_t i : {0, 1})
      if (auto const found = reciprocal_length_of(n, m->inputs[i]); found && found->x == m->inputs[1 - i]) return found;
  return {};
}

}  // namespace

/// (x - mean) / sqrt(mean of the square + epsilon) * gamma + beta over the last axis.
std::optional<operation> layer_norm_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Add") return {};
  auto const is_vector = [&](int v) { return is_vector_of_last(n, v, op); };
  auto const shifted = n.operands(op, is_vector);
  auto const* scaled = shifted ? n.maker(shifted->second, "Mul") : nullptr;
  auto const parts = scaled ? n.operands(*scaled, is_vector) : std::nullopt;
  auto const* quotient = parts ? n.maker(parts->second, "Div") : nullptr;
  auto const* root = quotient ? n.maker(quotient->inputs[1], "Sqrt") : nullptr;
  auto const* sum = root ? n.maker(root->inputs[0], "Add") : nullptr;
  if (!sum) return {};
  auto const both = n.operands(*sum, [&](int v) { return n.number(v).has_value(); });
  auto const* variance = both ? n.maker(both->second, "ReduceMean") : nullptr;
  if (!variance || !is_mean_of_last(n, *variance)) return {};
  int const d = quotient->inputs[0];
  if (squared(n, variance->inputs[0]) != d) return {};
  auto const* difference = n.maker(d, "Sub", n.maker(variance->inputs[0], "Pow") ? 2 : 3);
  auto const* mean = difference ? n.maker(difference->inputs[1], "ReduceMean") : nullptr;
  if (!mean || mean->inputs[0] != difference->inputs[0] || !is_mean_of_last(n, *mean)) return {};
  if (n.dims(difference->inputs[0]) != n.dims(op.outputs[0])) return {};
  operation r = made(op, "LayerNormalization", {difference->inputs[0], parts->first, shifted->first});
  r.attributes["epsilon"] = *n.number(both->first);
  return r;
}

/// x / sqrt(mean of the squares of x + epsilon) * gamma over the last axis.
std::optional<operation> rms_norm_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "Mul") return {};
  auto const parts = n.operands(op, [&](int v) { return is_vector_of_last(n, v, op); });
  auto const found = parts ? of_length_one(n, parts->second) : std::nullopt;
  if (!found || n.dims(found->x) != n.dims(op.outputs[0])) return {};
  operation r = made(op, "RMSNormalization", {found->x, parts->first});
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
  auto const shifted = n.operands(op, is_by_channel);
  auto const* scaled = shifted ? n.maker(shifted->second, "Mul") : nullptr;
  auto const parts = scaled ? n.operands(*scaled, is_by_channel) : std::nullopt;
  auto const* back = parts ? n.maker(parts->second, "Reshape") : nullptr;
  auto const* norm = back ? n.maker(back->inputs[0], "InstanceNormalization") : nullptr;
  auto const* split = norm ? n.maker(norm->inputs[0], "Reshape") : nullptr;
  if (!split || n.dims(split->inputs[0]) != whole) return {};
  auto const& grouped = n.dims(norm->inputs[0]);
  bool const of_groups = grouped.size() > 2 && grouped[0] == whole[0] && whole[1] % grouped[1] == 0;
  if (!of_groups || !n.all_are(norm->inputs[1], 1) || !n.all_are(norm->inputs[2], 0)) return {};
  operation r = made(op, "GroupNormalization", {split->inputs[0], parts->first, shifted->first});
  r.attributes = norm->attributes;
  r.attributes["num_groups"] = grouped[1];
  return r;
}

}  // namespace ago::importer
