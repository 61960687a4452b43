#include "patterns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ago::importer {

namespace {

using onnx::operation;

/// The operators around a value.
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

  /// What makes a value that is read `uses` times, if it is of that type; else null.
  operation const* maker(int value, char const* type, int uses = 1) const {
    if (value < 0 || maker_[std::size_t(value)] < 0 || uses_[std::size_t(value)] != uses) return nullptr;
    operation const& op = model.operations[std::size_t(maker_[std::size_t(value)])];
    return op.type == type ? &op : nullptr;
  }
  bool is_known(int value) const { return value >= 0 && model.values[std::size_t(value)].known.has_value(); }
  /// A single number that is known.
  std::optional<float> number(int value) const {
    if (!is_known(value)) return {};
    auto const& k = *model.values[std::size_t(value)].known;
    if (k.reals.size() == 1) return k.reals[0];
    if (k.integers.size() == 1) return float(k.integers[0]);
    return {};
  }
  bool is_number(int value, float wanted) const {
    auto const k = number(value);
    return k && std::fabs(*k - wanted) <= 1e-5f * std::fabs(wanted);
  }
  std::vector<std::int64_t> const& dims(int value) const { return model.values[std::size_t(value)].dims; }

  /// Of an operator that commutes: its operands so that the first one satisfies `is_first`.
  template <class F>
  std::optional<std::pair<int, int>> operands(operation const& op, F const& is_first) const {
    if (is_first(op.inputs[0])) return std::pair{op.inputs[0], op.inputs[1]};
    if (is_first(op.inputs[1])) return std::pair{op.inputs[1], op.inputs[0]};
    return {};
  }
  /// The other operand of an operator that commutes and has this number as one.
  std::optional<int> beside_number(operation const& op, float wanted) const {
    auto const both = operands(op, [&](int v) { return is_number(v, wanted); });
    return both ? std::optional(both->second) : std::nullopt;
  }

 private:
  std::vector<int> maker_, uses_;
};

std::vector<std::int64_t> integers(operation const& op, char const* name) {
  auto const at = op.attributes.find(name);
  auto const* list = at == op.attributes.end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&at->second);
  return list ? *list : std::vector<std::int64_t>{};
}

operation made(operation const& last, char const* type, std::vector<int> inputs) {
  return {.name = last.name, .type = type, .attributes = {}, .inputs = std::move(inputs), .outputs = {last.outputs[0]}};
}

/// x * f(x), f one of some operators.
std::optional<operation> gate(neighbourhood const& n, operation const& op) {
  if (op.type != "Mul") return {};
  for (int i : {0, 1}) {
    int const x = op.inputs[std::size_t(1 - i)], y = op.inputs[std::size_t(i)];
    if (auto const* s = n.maker(y, "Sigmoid"); s && s->inputs[0] == x) return made(op, "Silu", {x});
    if (auto const* h = n.maker(y, "HardSigmoid"); h && h->inputs[0] == x && h->attributes.count("alpha")) {
      auto const* alpha = std::get_if<float>(&h->attributes.at("alpha"));
      auto const at = h->attributes.find("beta");
      auto const* beta = at == h->attributes.end() ? nullptr : std::get_if<float>(&at->second);
      bool const half = at == h->attributes.end() || (beta && *beta == 0.5f);
      if (alpha && std::fabs(*alpha - 1 / 6.f) < 1e-6f && half) return made(op, "HardSwish", {x});
    }
    if (auto const* t = n.maker(y, "Tanh"))
      if (auto const* p = n.maker(t->inputs[0], "Softplus"); p && p->inputs[0] == x) return made(op, "Mish", {x});
  }
  return {};
}

/// The x of erf(x / sqrt(2)) + 1.
std::optional<int> error_term(neighbourhood const& n, int value) {
  auto const* sum = n.maker(value, "Add");
  auto const e = sum ? n.beside_number(*sum, 1) : std::nullopt;
  auto const* erf = e ? n.maker(*e, "Erf") : nullptr;
  if (!erf) return {};
  if (auto const* d = n.maker(erf->inputs[0], "Div"); d && n.is_number(d->inputs[1], 1.41421356f)) return d->inputs[0];
  if (auto const* m = n.maker(erf->inputs[0], "Mul")) return n.beside_number(*m, 0.70710678f);
  return {};
}

/// x * (erf(x / sqrt(2)) + 1) / 2, the half wherever exporters put it.
std::optional<operation> gelu(neighbourhood const& n, operation const& op) {
  if (op.type != "Mul") return {};
  auto const product_of_both = [&](int value) -> std::optional<int> {
    auto const* m = n.maker(value, "Mul");
    if (!m) return {};
    for (int i : {0, 1})
      if (auto const x = error_term(n, m->inputs[std::size_t(i)]); x && *x == m->inputs[std::size_t(1 - i)]) return x;
    return {};
  };
  if (auto const whole = n.beside_number(op, 0.5f))
    if (auto const x = product_of_both(*whole)) return made(op, "Gelu", {*x});
  for (int i : {0, 1}) {
    int const a = op.inputs[std::size_t(i)], b = op.inputs[std::size_t(1 - i)];
    auto const* half = n.maker(a, "Mul");
    auto const halved = half ? n.beside_number(*half, 0.5f) : std::nullopt;
    if (!halved) continue;
    if (auto const x = error_term(n, *halved); x && *x == b) return made(op, "Gelu", {b});
    if (auto const x = error_term(n, b); x && *x == *halved) return made(op, "Gelu", {*x});
  }
  return {};
}

/// Does the operator take the mean over the last axis, which stays?
bool is_mean_of_last(neighbourhood const& n, operation const& op) {
  std::vector<std::int64_t> axes = integers(op, "axes");
  if (axes.empty() && op.inputs.size() > 1 && n.is_known(op.inputs[1]))
    axes = n.model.values[std::size_t(op.inputs[1])].known->integers;
  std::int64_t const rank = std::int64_t(n.dims(op.inputs[0]).size());
  bool const last = axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
  return last && n.dims(op.outputs[0]).size() == std::size_t(rank);
}

/// (x - mean) / sqrt(mean of the square + epsilon) * gamma + beta over the last axis.
std::optional<operation> layer_norm(neighbourhood const& n, operation const& op) {
  if (op.type != "Add") return {};
  auto const is_vector = [&](int v) {
    return n.is_known(v) &&
           n.dims(v) == std::vector<std::int64_t>{n.dims(op.outputs[0]).empty() ? 0 : n.dims(op.outputs[0]).back()};
  };
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
  auto const* power = n.maker(variance->inputs[0], "Pow");
  auto const* square = n.maker(variance->inputs[0], "Mul");
  bool const squared = (power && power->inputs[0] == d && n.is_number(power->inputs[1], 2)) ||
                       (square && square->inputs[0] == d && square->inputs[1] == d);
  auto const* difference = squared ? n.maker(d, "Sub", power ? 2 : 3) : nullptr;
  auto const* mean = difference ? n.maker(difference->inputs[1], "ReduceMean") : nullptr;
  if (!mean || mean->inputs[0] != difference->inputs[0] || !is_mean_of_last(n, *mean)) return {};
  operation r = made(op, "LayerNormalization", {difference->inputs[0], parts->first, shifted->first});
  r.attributes["epsilon"] = *n.number(both->first);
  return r;
}

/// Through Transpose and Reshape to a value {n, tokens, channels} whose heads lie as {n, heads, tokens, depth}, or with
/// depth before tokens.
std::optional<int> value_of_heads(neighbourhood const& n, int value, bool depth_first) {
  auto const* turned = n.maker(value, "Transpose");
  if (!turned) return {};
  auto const order = integers(*turned, "perm");
  bool const straight = order == std::vector<std::int64_t>{0, 2, 1, 3};
  if (depth_first) {
    if (order == std::vector<std::int64_t>{0, 1, 3, 2}) return value_of_heads(n, turned->inputs[0], false);
    if (order != std::vector<std::int64_t>{0, 2, 3, 1}) return {};
  } else if (!straight) {
    return {};
  }
  auto const* split = n.maker(turned->inputs[0], "Reshape");
  if (!split || n.dims(split->inputs[0]).size() != 3) return {};
  auto const &whole = n.dims(split->inputs[0]), &parts = n.dims(split->outputs[0]);
  bool const of_heads =
      parts.size() == 4 && parts[0] == whole[0] && parts[1] == whole[1] && parts[2] * parts[3] == whole[2];
  return of_heads ? std::optional(split->inputs[0]) : std::nullopt;
}

/// A value without the number that it is multiplied by, which goes into `factor`.
int without_factor(neighbourhood const& n, int value, float& factor) {
  if (auto const* d = n.maker(value, "Div"))
    if (auto const k = n.number(d->inputs[1])) {
      factor /= *k;
      return d->inputs[0];
    }
  if (auto const* m = n.maker(value, "Mul"))
    if (auto const both = n.operands(*m, [&](int v) { return n.number(v).has_value(); })) {
      factor *= *n.number(both->first);
      return both->second;
    }
  return value;
}

/// softmax(q k^T * scale) v by heads, from and to {n, tokens, channels}.
std::optional<operation> attention(neighbourhood const& n, operation const& op) {
  if (op.type != "Reshape") return {};
  auto const* back = n.maker(op.inputs[0], "Transpose");
  if (!back || integers(*back, "perm") != std::vector<std::int64_t>{0, 2, 1, 3}) return {};
  auto const* values = n.maker(back->inputs[0], "MatMul");
  auto const* softmax = values ? n.maker(values->inputs[0], "Softmax") : nullptr;
  if (!softmax || n.model.opset < 13) return {};
  if (auto const a = softmax->attributes.find("axis"); a != softmax->attributes.end())
    if (auto const* axis = std::get_if<std::int64_t>(&a->second); !axis || (*axis != -1 && *axis != 3)) return {};
  float scale = 1;
  auto const* scores = n.maker(without_factor(n, softmax->inputs[0], scale), "MatMul");
  if (!scores) return {};
  auto const q = value_of_heads(n, without_factor(n, scores->inputs[0], scale), false);
  auto const k = value_of_heads(n, without_factor(n, scores->inputs[1], scale), true);
  auto const v = value_of_heads(n, values->inputs[1], false);
  auto const& out = n.dims(op.outputs[0]);
  if (!q || !k || !v || out.size() != 3 || n.dims(*q) != out || n.dims(*v)[2] != out[2]) return {};
  operation r = made(op, "MultiHeadAttention", {without_factor(n, *q, scale), *k, *v});
  r.attributes["heads"] = n.dims(scores->outputs[0])[1];
  r.attributes["scale"] = scale;
  return r;
}

/// Only what outputs need.
void drop_unused(onnx::model& m) {
  std::vector<bool> needed(m.values.size());
  for (int v : m.outputs) needed[std::size_t(v)] = true;
  std::vector<operation> kept;
  for (std::size_t i = m.operations.size(); i-- > 0;) {
    operation& op = m.operations[i];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [&](int v) { return v >= 0 && needed[std::size_t(v)]; }))
      continue;
    for (int v : op.inputs)
      if (v >= 0) needed[std::size_t(v)] = true;
    kept.push_back(std::move(op));
  }
  std::reverse(kept.begin(), kept.end());
  m.operations = std::move(kept);
}

}  // namespace

onnx::model with_patterns(onnx::model model) {
  for (auto const rule : {gelu, layer_norm, attention, gate}) {
    neighbourhood const n(model);
    std::vector<operation> changed = model.operations;
    for (std::size_t i = 0; i < changed.size(); ++i)
      if (auto r = rule(n, model.operations[i])) changed[i] = std::move(*r);
    model.operations = std::move(changed);
    drop_unused(model);
  }
  return model;
}

}  // namespace ago::importer
