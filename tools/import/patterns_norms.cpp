// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations that exporters write as several operators.
#include "neighbourhood.hpp"

namespace ago::importer {

namespace {

using onnx::operation;

/// The axes of a reduction, as non-negative numbers in ascending order; empty if they are unknown.
std::vector<std::int64_t> reduced_axes(neighbourhood const& n, operation const& op) {
  std::vector<std::int64_t> axes = integers(op, "axes");
  if (axes.empty() && op.inputs.size() > 1 && n.is_known(op.inputs[1]))
    axes = n.model.values[std::size_t(op.inputs[1])].known->integers;
  for (auto& a : axes) a += a < 0 ? std::int64_t(n.dims(op.inputs[0]).size()) : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// Whether the operator computes the mean over the last axis and keeps it.
bool is_mean_of_last(neighbourhood const& n, operation const& op) {
  std::size_t const rank = n.dims(op.inputs[0]).size();
  return reduced_axes(n, op) == std::vector{std::int64_t(rank) - 1} && n.dims(op.outputs[0]).size() == rank;
}

/// Whether a value is a constant with a number for each element of the last axis of the result of `op`.
bool is_vector_of_last(neighbourhood const& n, int value, operation const& op) {
  auto const& whole = n.dims(op.outputs[0]);
  if (!n.is_known(value) || whole.empty() || n.dims(value).size() > whole.size()) return false;
  std::vector<std::int64_t> vector(n.dims(value).size(), 1);
  if (!vector.empty()) vector.back() = whole.back();
  return !vector.empty() && n.dims(value) == vector;
}

/// x * x, in any of its forms.
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

/// The same without the root.
std::optional<root_of_mean_square> squared_length_of(neighbourhood const& n, int value) {
  auto const* sum = n.maker(value, "Add");
  auto const both = sum ? n.operands(*sum, [&](int v) { return n.number(v).has_value(); }) : std::nullopt;
  auto const* mean = both ? n.maker(both->second, "ReduceMean") : nullptr;
  if (!mean || !is_mean_of_last(n, *mean)) return {};
  auto const of = square_of(n, mean->inputs[0]);
  return of ? std::optional(root_of_mean_square{*of, *n.number(both->first)}) : std::nullopt;
}

std::optional<root_of_mean_square> length_of(neighbourhood const& n, int value) {
  if (auto const* root = n.maker(value, "Sqrt")) return squared_length_of(n, root->inputs[0]);
  auto const* power = n.maker(value, "Pow");
  return power && n.is_number(power->inputs[1], 0.5f) ? squared_length_of(n, power->inputs[0]) : std::nullopt;
}

/// The same for 1 / sqrt(...), which is read `uses` times.
std::optional<root_of_mean_square> reciprocal_length_of(neighbourhood const& n, int value, int uses = 1) {
  if (auto const* r = n.maker(value, "Reciprocal", uses)) return length_of(n, r->inputs[0]);
  if (auto const* power = n.maker(value, "Pow", uses); power && n.is_number(power->inputs[1], -0.5f))
    return squared_length_of(n, power->inputs[0]);
  auto const* quotient = n.maker(value, "Div", uses);
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

/// Scale and shift of x, if `op` is an Add of a Mul with two operands that satisfy `is_parameter`.
template <class F>
std::optional<scaled_and_shifted> scaled_and_shifted_by(neighbourhood const& n, operation const& op,
                                                        F const& is_parameter) {
  auto const shifted = n.operands(op, is_parameter);
  auto const* scaled = shifted ? n.maker(shifted->second, "Mul") : nullptr;
  auto const parts = scaled ? n.operands(*scaled, is_parameter) : std::nullopt;
  return parts ? std::optional(scaled_and_shifted{parts->second, parts->first, shifted->first}) : std::nullopt;
}

/// The x of x - mean of x over the last axis; nothing if `value` has another form.
std::optional<int> centred(neighbourhood const& n, int value) {
  auto const* difference = n.any_maker(value, "Sub");
  auto const* mean = difference ? n.any_maker(difference->inputs[1], "ReduceMean") : nullptr;
  if (!mean || mean->inputs[0] != difference->inputs[0] || !is_mean_of_last(n, *mean)) return {};
  return difference->inputs[0];
}

/// The factors of a normalised value: the centred value, the length it is divided by, and gamma.
struct norm_factors {
  std::optional<int> x;  ///< before centring
  std::optional<root_of_mean_square> length;
  int gamma = -1;
};

bool collect(neighbourhood const& n, int value, operation const& whole, norm_factors& to, int uses = 1, int depth = 3);

/// Collects the factors of the result of `op`; false if it has others.
bool collect_parts(neighbourhood const& n, operation const& op, operation const& whole, norm_factors& to, int depth) {
  if (op.type == "Mul")
    return collect(n, op.inputs[0], whole, to, 1, depth) && collect(n, op.inputs[1], whole, to, 1, depth);
  if (op.type != "Div" || to.length || !(to.length = length_of(n, op.inputs[1]))) return false;
  return collect(n, op.inputs[0], whole, to, 1, depth);
}

/// The same for a value that is read `uses` times.
bool collect(neighbourhood const& n, int value, operation const& whole, norm_factors& to, int uses, int depth) {
  if (!to.length && (to.length = reciprocal_length_of(n, value, uses))) return true;
  if (is_vector_of_last(n, value, whole) && to.gamma < 0) return to.gamma = value, true;
  if (!to.x && (to.x = centred(n, value))) return true;
  for (char const* type : {"Mul", "Div"})
    if (auto const* op = depth > 0 ? n.maker(value, type, uses) : nullptr)
      return collect_parts(n, *op, whole, to, depth - 1);
  return false;
}

/// The layer norm with all factors in `f`, with beta, or without (-1).
std::optional<operation> layer_norm_of(neighbourhood const& n, norm_factors const& f, int beta, operation const& op) {
  if (!f.x || !f.length || n.dims(*f.x) != n.dims(op.outputs[0])) return {};
  auto const deviating = centred(n, f.length->of.x);
  if (!deviating || *deviating != *f.x) return {};
  operation r = made(op, "LayerNormalization", {*f.x, f.gamma, beta});
  r.attributes["epsilon"] = f.length->epsilon;
  return r;
}

/// (x - mean) / length * gamma [+ beta]
std::optional<operation> product_norm(neighbourhood const& n, operation const& op) {
  norm_factors f;
  if (op.type == "Mul" || op.type == "Div")
    return collect_parts(n, op, op, f, 3) ? layer_norm_of(n, f, -1, op) : std::nullopt;
  if (op.type != "Add") return {};
  auto const shifted = n.operands(op, [&](int v) { return is_vector_of_last(n, v, op); });
  return shifted && collect(n, shifted->second, op, f) ? layer_norm_of(n, f, shifted->first, op) : std::nullopt;
}

/// x * scale plus (beta - mean * scale), as TensorFlow writes it: scale is gamma / length.
std::optional<operation> norm_of_scaled(neighbourhood const& n, int scaled, int beta, int mean_scaled,
                                        operation const& op) {
  auto const* product = n.any_maker(scaled, "Mul");
  auto const* other = product ? n.any_maker(mean_scaled, "Mul") : nullptr;
  if (!other) return {};
  for (std::size_t i : {0, 1}) {
    int const x = product->inputs[i], scale = product->inputs[1 - i];
    auto const with_mean = n.operands(*other, [&](int v) { return v == scale; });
    auto const* mean = with_mean ? n.any_maker(with_mean->second, "ReduceMean") : nullptr;
    if (!mean || mean->inputs[0] != x || !is_mean_of_last(n, *mean)) continue;
    norm_factors f;
    if (!collect(n, scale, op, f, 2) || f.x) continue;
    f.x = x;
    return layer_norm_of(n, f, beta, op);
  }
  return {};
}

std::optional<operation> scaled_norm(neighbourhood const& n, operation const& op) {
  if (op.type == "Sub") return norm_of_scaled(n, op.inputs[0], -1, op.inputs[1], op);
  if (op.type != "Add") return {};
  for (std::size_t i : {0, 1}) {
    int const scaled = op.inputs[i], rest = op.inputs[1 - i];
    std::optional<operation> found;
    if (auto const* negative = n.any_maker(rest, "Neg")) found = norm_of_scaled(n, scaled, -1, negative->inputs[0], op);
    if (auto const* sub = n.any_maker(rest, "Sub"); sub && is_vector_of_last(n, sub->inputs[0], op))
      found = norm_of_scaled(n, scaled, sub->inputs[0], sub->inputs[1], op);
    if (found) return found;
  }
  return {};
}

/// Skips operators that only change the dims of a value.
int without_dims(neighbourhood const& n, int value) {
  for (auto const* op = n.maker(value);
       op && (op->type == "Reshape" || op->type == "Squeeze" || op->type == "Unsqueeze" || op->type == "Flatten");
       op = n.maker(value))
    value = op->inputs[0];
  return value;
}

}  // namespace

std::optional<operation> layer_norm_pattern(neighbourhood const& n, operation const& op) {
  auto const found = product_norm(n, op);
  return found ? found : scaled_norm(n, op);
}

std::optional<operation> own_statistics_pattern(neighbourhood const& n, operation const& op) {
  if (op.type != "BatchNormalization" || op.outputs.size() != 1 || op.inputs.size() != 5) return {};
  int const x = op.inputs[0];
  auto const& dims = n.dims(x);
  if (dims.size() < 3 || dims[0] != 1 || !n.is_known(op.inputs[1]) || !n.is_known(op.inputs[2])) return {};
  std::vector<std::int64_t> others{0};
  double count = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) others.push_back(std::int64_t(d)), count *= double(dims[d]);
  auto const is_mean = [&](int value) {
    auto const* mean = n.any_maker(without_dims(n, value), "ReduceMean");
    return mean && mean->inputs[0] == x && reduced_axes(n, *mean) == others;
  };
  // The variance: a sum of squares divided by the number of elements.
  auto const* quotient = n.any_maker(without_dims(n, op.inputs[4]), "Div");
  auto const* squares = quotient ? n.any_maker(without_dims(n, quotient->inputs[0]), "ReduceSumSquare") : nullptr;
  auto const* difference = squares ? n.any_maker(squares->inputs[0], "Sub") : nullptr;
  if (!difference || difference->inputs[0] != x || !n.is_number(quotient->inputs[1], float(count))) return {};
  if (!is_mean(op.inputs[3]) || !is_mean(difference->inputs[1]) || reduced_axes(n, *squares) != others) return {};
  operation r = made(op, "InstanceNormalization", {x, op.inputs[1], op.inputs[2]});
  if (auto const at = op.attributes.find("epsilon"); at != op.attributes.end()) r.attributes["epsilon"] = at->second;
  return r;
}

std::optional<operation> instances_pattern(neighbourhood const& n, operation const& op) {
  bool const is_sum = op.type == "Add";
  if (!is_sum && op.type != "Mul") return {};
  auto const is_parameter = [&](int v) { return is_vector_of_last(n, v, op); };
  auto const first = n.operands(op, is_parameter);
  if (!first) return {};
  int value = first->second, gamma = is_sum ? -1 : first->first;
  if (auto const* scaled = is_sum ? n.any_maker(value, "Mul") : nullptr)
    if (auto const both = n.operands(*scaled, is_parameter)) gamma = both->first, value = both->second;
  auto const* norm = n.any_maker(without_dims(n, value), "InstanceNormalization");
  if (!norm || !n.all_are(norm->inputs[1], 1) || !n.all_are(norm->inputs[2], 0)) return {};
  // The normalised elements must be as many as the last axis has.
  auto const &whole = n.dims(op.outputs[0]), &rows = n.dims(norm->inputs[0]);
  std::int64_t together = 1;
  for (std::size_t d = 2; d < rows.size(); ++d) together *= rows[d];
  int const x = n.dims(norm->inputs[0]) == whole ? norm->inputs[0] : without_dims(n, norm->inputs[0]);
  if (together != whole.back() || n.dims(x) != whole || n.dims(value) != whole) return {};
  operation r = made(op, "LayerNormalization", {x, gamma, is_sum ? first->first : -1});
  r.attributes = norm->attributes;
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

/// Each group of channels reshaped into one channel, an instance norm, and a scale and shift of the channels.
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
