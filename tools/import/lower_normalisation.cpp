// Normalisations.
#include "arithmetic.hpp"
#include "images.hpp"
#include "movement.hpp"

#include <algorithm>
#include <cmath>
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
    if (n.op.outputs[i] >= 0) throw unsupported("outputs other than the first");
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

/// Mean, and one over the root of variance and epsilon: what training wants of a layer norm.
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

void layer_norm_rule(node_reader const& n) {
  int const rank = int(n.dims().size()), first = axis_of(n.integer("axis", -1), rank);
  extents const own{n.dims().begin() + first, n.dims().end()};
  float const epsilon = n.real("epsilon", 1e-5f);
  auto const axes = axes_from(first, rank);
  define_statistics(n, axes, epsilon);
  if (n.known(1) && (!n.has(2) || n.known(2))) {
    auto const gamma = broadcast_values(n.c, n.dims(1), n.reals(1, ""), own);
    auto const beta = n.has(2) ? broadcast_values(n.c, n.dims(2), n.reals(2, ""), own) : std::vector<float>{};
    return n.define(normalised(n.c, n.x(), axes, epsilon, gamma, beta));
  }
  view y = combined(n.c, arithmetic::multiply, normalised(n.c, n.x(), axes, epsilon), n.x(1));
  if (n.has(2)) y = combined(n.c, arithmetic::add, y, n.x(2));
  n.define(y);
}

/// Times and plus numbers for each channel, axis 1.
view affine_by_channel(node_reader const& n, view x, int channels) {
  extents dims(x.how.dims.size(), 1);
  dims[1] = channels;
  x = combined(n.c, arithmetic::multiply, x, dims, n.reals(1, "its scale"));
  return combined(n.c, arithmetic::add, x, dims, n.reals(2, "its bias"));
}

void instance_norm(node_reader const& n) {
  view const x = normalised(n.c, n.x(), axes_from(2, int(n.dims().size())), n.real("epsilon", 1e-5f));
  n.define(affine_by_channel(n, x, int(n.dims()[1])));
}

void group_norm(node_reader const& n) {
  std::int64_t const groups = n.integer("num_groups", 1), channels = n.dims()[1];
  extents grouped = n.dims();
  grouped[1] = groups;
  grouped.insert(grouped.begin() + 2, channels / groups);
  view x = normalised(n.c, with_dims(n.c, n.x(), grouped), axes_from(2, int(grouped.size())), n.real("epsilon", 1e-5f));
  bool const by_group = n.dims(1)[0] == groups && groups != channels;
  if (by_group) x = affine_by_channel(n, x, int(groups));
  x = with_dims(n.c, x, n.dims());
  n.define(by_group ? x : affine_by_channel(n, x, int(channels)));
}

void rms_norm(node_reader const& n) {
  int const rank = int(n.dims().size());
  view const x = n.x();
  view const mean = reduced(n.c, reduction::mean, mapped(n.c, x, "x * x"),
                            axes_from(axis_of(n.integer("axis", -1), rank), rank));
  view const root = unary(n.c, unary(n.c, mean, affine{1, n.real("epsilon", 1e-5f)}), reciprocal_root{});
  view const y = combined(n.c, arithmetic::multiply, x, root);
  n.define(n.known(1) ? combined(n.c, arithmetic::multiply, y, n.dims(1), n.reals(1, ""))
                      : combined(n.c, arithmetic::multiply, y, n.x(1)));
}

void lp_norm(node_reader const& n) {
  int const axis = axis_of(n.integer("axis", -1), int(n.dims().size()));
  bool const first = n.integer("p", 2) == 1;
  view const x = n.x();
  view size = reduced(n.c, reduction::sum, first ? unary(n.c, x, absolute{}) : mapped(n.c, x, "x * x"), {axis});
  if (!first) size = unary(n.c, size, square_root{});
  size = unary(n.c, size, clip{std::numeric_limits<float>::min(), std::numeric_limits<float>::max()});  // 0 / 0 is 0
  n.define(combined(n.c, arithmetic::divide, x, size));
}

void mean_variance_norm(node_reader const& n) {
  std::vector<int> axes;
  for (std::int64_t a : n.list("axes", {0, 2, 3})) axes.push_back(axis_of(a, int(n.dims().size())));
  n.define(normalised(n.c, n.x(), axes, 1e-9f));
}

/// x / (bias + alpha / size * the squares of the channels around)^beta
void local_response(node_reader const& n) {
  std::int64_t const size = n.integer("size", 1), channels = n.dims()[1];
  std::int64_t const before = (size - 1) / 2, after = size - 1 - before;
  float const alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75f), shift = n.real("bias", 1);
  view const x = n.dims().size() == 4 ? as_image(n.c, n.x()) : n.x();
  std::vector<float> band = n.c.table({channels, channels});
  for (std::int64_t i = 0; i < channels; ++i)
    for (std::int64_t k = std::max<std::int64_t>(i - before, 0); k < channels && k <= i + after; ++k)
      band[std::size_t(i * channels + k)] = alpha / float(size);
  view const sums = times_matrix(n.c, mapped(n.c, x, "x * x"), 1, band);
  view const factor =
      unary(n.c, unary(n.c, sums, affine{1, shift}), to_power{-beta});
  n.define(combined(n.c, arithmetic::multiply, x, factor));
}

}  // namespace

void add_normalisation_rules(rule_table& t) {
  t["BatchNormalization"] = batch_norm_rule;
  t["LayerNormalization"] = layer_norm_rule;
  t["InstanceNormalization"] = instance_norm;
  t["GroupNormalization"] = group_norm;
  t["RMSNormalization"] = rms_norm;
  t["LpNormalization"] = lp_norm;
  t["MeanVarianceNormalization"] = mean_variance_norm;
  t["LRN"] = local_response;
}

}  // namespace ago::importer
