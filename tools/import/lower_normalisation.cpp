// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "arithmetic.hpp"
#include "images.hpp"
#include "movement.hpp"

#include <algorithm>
#include <limits>

namespace ago::importer {

namespace {

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> r;
  for (int a = first; a < rank; ++a) r.push_back(a);
  return r;
}

void only_first_output(node_reader const& n) {
  for (std::size_t i = 1; i < n.op.outputs.size(); ++i)
    if (n.op.outputs[i] >= 0) throw unsupported("outputs other than the first are not supported");
}

void batch_norm_rule(node_reader const& n) {
  only_first_output(n);
  if (n.integer("training_mode", 0) != 0) throw unsupported("training_mode");
  view x = n.x();
  x = x.how.rank() == 4 ? as_image(n.c, x) : innermost(n.c.net, x, {1});
  std::vector<float> weights;
  for (int i = 1; i <= 4; ++i) {
    auto const k = n.reals(i, "its parameters");
    weights.insert(weights.end(), k.begin(), k.end());
  }
  x.value = n.c.net.apply(batch_norm{.epsilon = n.real("epsilon", 1e-5f)}, {x.value}, std::move(weights));
  n.define(x);
}

/// The mean, and the reciprocal root of variance plus epsilon: the outputs of a layer norm that training uses.
void define_statistics(node_reader const& n, std::vector<int> const& axes, float epsilon) {
  auto const wanted = [&](std::size_t i) { return n.op.outputs.size() > i && n.op.outputs[i] >= 0; };
  if (!wanted(1) && !wanted(2)) return;
  view const mean = reduced(n.c, reduction::mean, n.x(), axes);
  if (wanted(1)) n.define(mean, 1);
  if (!wanted(2)) return;
  view const from_mean = combined(n.c, arithmetic::subtract, n.x(), mean);
  view const variance = reduced(n.c, reduction::mean, mapped(n.c, from_mean, "x * x"), axes);
  n.define(unary(n.c, unary(n.c, variance, affine{1, epsilon}), reciprocal_root{}), 2);
}

/// Whether an operand is a constant with a number for each element of the last axes, whose extents are `own`.
bool is_parameter(node_reader const& n, int i, extents const& own) {
  if (!n.known(i)) return false;
  extents const& dims = n.dims(i);
  auto const first = std::find_if(dims.begin(), dims.end(), [](std::int64_t d) { return d != 1; });
  return broadcast({first, dims.end()}, own) == own;
}
std::vector<float> parameter(node_reader const& n, int i, extents const& own) {
  return broadcast_values(n.c, n.dims(i), n.reals(i, ""), own);
}

void layer_norm_rule(node_reader const& n) {
  int const rank = int(n.dims().size()), first = axis_of(n.integer("axis", -1), rank);
  extents const own{n.dims().begin() + first, n.dims().end()};
  float const epsilon = n.real("epsilon", 1e-5f);
  auto const axes = axes_from(first, rank);
  define_statistics(n, axes, epsilon);
  // Recombined norms may lack gamma; ONNX's operator always has it.
  if ((!n.has(1) || is_parameter(n, 1, own)) && (!n.has(2) || is_parameter(n, 2, own))) {
    auto const given = [&](int i) { return n.has(i) ? parameter(n, i, own) : std::vector<float>{}; };
    return n.define(normalised(n.c, n.x(), axes, epsilon, given(1), given(2)));
  }
  view y = combined(n.c, arithmetic::multiply, normalised(n.c, n.x(), axes, epsilon), n.x(1));
  if (n.has(2)) y = combined(n.c, arithmetic::add, y, n.x(2));
  n.define(y);
}

void instance_norm_rule(node_reader const& n) {
  view x = as_pixels(n.c, n.x());
  std::vector<float> weights = n.reals(1, "its scale");
  auto const beta = n.reals(2, "its bias");
  weights.insert(weights.end(), beta.begin(), beta.end());
  x.value = n.c.net.apply(instance_norm{.epsilon = n.real("epsilon", 1e-5f)}, {x.value}, std::move(weights));
  n.define(x);
}

void group_norm_rule(node_reader const& n) {
  std::int64_t const groups = n.integer("num_groups", 1), channels = n.dims()[1];
  view x = as_pixels(n.c, n.x());
  std::vector<float> weights;
  for (int i : {1, 2}) {  // per channel; before operator set 21 per group
    auto const k = n.reals(i, i == 1 ? "its scale" : "its bias");
    std::int64_t const each = channels / std::int64_t(k.size());
    for (std::int64_t at = 0; at < channels; ++at) weights.push_back(k[std::size_t(at / each)]);
  }
  group_norm const layer{.groups = int(groups), .epsilon = n.real("epsilon", 1e-5f)};
  x.value = n.c.net.apply(layer, {x.value}, std::move(weights));
  n.define(x);
}

void rms_norm_rule(node_reader const& n) {
  int const rank = int(n.dims().size()), first = axis_of(n.integer("axis", -1), rank);
  extents const own{n.dims().begin() + first, n.dims().end()};
  auto const axes = axes_from(first, rank);
  n.c.net.afford(own);
  view x = innermost(n.c.net, n.x(), axes);
  bool const is_gamma = is_parameter(n, 1, own);
  auto const gamma = in_memory_order(x, axes, is_gamma ? parameter(n, 1, own) : std::vector<float>{}, 1);
  x.value = n.c.net.apply(rms_norm{.epsilon = n.real("epsilon", 1e-5f)}, {x.value}, gamma);
  if (is_gamma) return n.define(x);
  n.define(n.known(1) ? combined(n.c, arithmetic::multiply, x, n.dims(1), n.reals(1, ""))
                      : combined(n.c, arithmetic::multiply, x, n.x(1)));
}

void lp_norm(node_reader const& n) {
  int const axis = axis_of(n.integer("axis", -1), int(n.dims().size()));
  constexpr float least = std::numeric_limits<float>::min();  // 0 / 0 is 0
  if (n.integer("p", 2) == 2) {
    auto [x, along] = around_axis(n.c.net, n.x(), axis);
    return n.define(unary(n.c, x, l2_normalize{.along = along, .least = least}));
  }
  view const x = n.x();
  view const size = reduced(n.c, reduction::sum, unary(n.c, x, absolute{}), {axis});
  n.define(combined(n.c, arithmetic::divide, x, unary(n.c, size, clip{least, std::numeric_limits<float>::max()})));
}

void mean_variance_norm(node_reader const& n) {
  std::vector<int> axes;
  for (std::int64_t a : n.list("axes", {0, 2, 3})) axes.push_back(axis_of(a, int(n.dims().size())));
  n.define(normalised(n.c, n.x(), axes, 1e-9f));
}

void local_response(node_reader const& n) {
  std::int64_t const size = n.integer("size", 1);
  if (size > tracing::int_limit) throw unsupported("its window is too large");
  local_response_norm const layer{
      .size = int(size), .alpha = n.real("alpha", 1e-4f), .beta = n.real("beta", .75f), .bias = n.real("bias", 1)};
  n.define(unary(n.c, as_pixels(n.c, n.x()), layer));
}

}  // namespace

void add_normalisation_rules(rule_table& t) {
  t["BatchNormalization"] = batch_norm_rule;
  t["LayerNormalization"] = layer_norm_rule;
  t["InstanceNormalization"] = instance_norm_rule;
  t["GroupNormalization"] = group_norm_rule;
  t["RMSNormalization"] = rms_norm_rule;
  t["LpNormalization"] = lp_norm;
  t["MeanVarianceNormalization"] = mean_variance_norm;
  t["LRN"] = local_response;
}

}  // namespace ago::importer
