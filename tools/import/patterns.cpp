// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "patterns.hpp"

#include "neighbourhood.hpp"

namespace ago::importer {

namespace {

using onnx::operation;

/// x * f(x), where f is one of several operators.
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

/// The value {n, tokens, heads, depth} from which a Transpose makes `value`, {n, heads, tokens, depth}, or with depth
/// before tokens. -1: there is none.
int value_of_heads(neighbourhood const& n, int value, bool depth_first) {
  auto const* turned = n.maker(value, "Transpose");
  if (!turned || n.dims(value).size() != 4) return -1;
  auto const order = integers(*turned, "perm");
  if (depth_first && order == std::vector<std::int64_t>{0, 1, 3, 2}) return value_of_heads(n, turned->inputs[0], false);
  std::vector<std::int64_t> const wanted{0, 2, depth_first ? 3 : 1, depth_first ? 1 : 3};
  return order == wanted ? turned->inputs[0] : -1;
}

/// A value without its constant factor, which is multiplied into `factor`.
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

/// Whether a softmax runs over the last axis only.
bool is_over_last(neighbourhood const& n, operation const& softmax) {
  auto const at = softmax.attributes.find("axis");
  if (at == softmax.attributes.end()) return n.model.opset >= 13;  // previously, all axes from the second on
  auto const* axis = std::get_if<std::int64_t>(&at->second);
  return axis && (*axis == -1 || *axis == std::int64_t(n.dims(softmax.inputs[0]).size()) - 1);
}

/// softmax(q k^T * scale) v by heads, where q, k, v and the result are {n, tokens, channels}.
std::optional<operation> attention(neighbourhood const& n, operation const& op) {
  if (op.type != "Reshape") return {};
  auto const* back = n.maker(op.inputs[0], "Transpose");
  if (!back || integers(*back, "perm") != std::vector<std::int64_t>{0, 2, 1, 3}) return {};
  auto const* values = n.maker(back->inputs[0], "MatMul");
  auto const* softmax = values ? n.maker(values->inputs[0], "Softmax") : nullptr;
  if (!softmax || !is_over_last(n, *softmax)) return {};
  float scale = 1;
  auto const* scores = n.maker(without_factor(n, softmax->inputs[0], scale), "MatMul");
  if (!scores) return {};
  int const q = value_of_heads(n, without_factor(n, scores->inputs[0], scale), false);
  int const k = value_of_heads(n, without_factor(n, scores->inputs[1], scale), true);
  int const v = value_of_heads(n, values->inputs[1], false);
  if (q < 0 || k < 0 || v < 0) return {};
  auto const &out = n.dims(op.outputs[0]), &parts = n.dims(q), &others = n.dims(k);
  if (out.empty() || out.back() != parts[2] * parts[3] || n.dims(v) != others) return {};
  if (parts[0] != others[0] || parts[2] != others[2] || parts[3] != others[3]) return {};
  operation r = made(op, "MultiHeadAttention", {without_factor(n, q, scale), k, v});
  r.attributes["images"] = parts[0];
  r.attributes["heads"] = parts[2];
  r.attributes["channels"] = parts[2] * parts[3];
  r.attributes["scale"] = scale;
  return r;
}

/// Removes what no output needs.
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
  for (auto const rule : {gelu_pattern, own_statistics_pattern, instances_pattern, layer_norm_pattern, rms_norm_pattern,
                          group_norm_pattern, attention, gate}) {
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
