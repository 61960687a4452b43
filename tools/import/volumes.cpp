// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "volumes.hpp"

namespace ago::importer {

namespace {

bool rounds_up(node_reader const& n) {
  std::string const rule = n.text("auto_pad", "NOTSET");
  return n.integer("ceil_mode", 0) != 0 && rule == "NOTSET";
}

volume_window pooled_by(node_reader const& n) {
  return {sides_of(n, n.dims(), pooled_dims(n), n.list("kernel_shape")), rounds_up(n)};
}

/// Applies a layer of volumes to the first operand.
view applied(node_reader const& n, layer_value const& layer, std::vector<float> weights = {}) {
  int const x = as_volume(n.c, n.x()).value;
  return volume(n.c, n.c.net.apply(layer, {x}, std::move(weights)), pooled_dims(n));
}

view with_bias(node_reader const& n, view y) {
  if (n.has(2)) y.value = n.c.net.apply(bias{}, {y.value}, n.reals(2, "its bias"));
  return y;
}

std::vector<std::int64_t> kernel_of(node_reader const& n) { return {n.dims(1).begin() + 2, n.dims(1).end()}; }

}  // namespace

extents const& pooled_dims(node_reader const& n) { return n.out_dims(n.wants(0) ? 0 : 1); }

volume_window::volume_window(std::vector<window_side> const& sides, bool rounds_up) : ceil(rounds_up) {
  std::vector<window_side> s = sides;
  while (s.size() < 3) s.insert(s.begin(), window_side{});
  kernel = {s[0].kernel, s[1].kernel, s[2].kernel};
  stride = {s[0].stride, s[1].stride, s[2].stride};
  dilation = {s[0].dilation, s[1].dilation, s[2].dilation};
  pad = {s[0].before, s[1].before, s[2].before, s[0].after, s[1].after, s[2].after};
}

view conv_of_volume(node_reader const& n, std::vector<float> weights) {
  volume_window const w(sides_of(n, n.dims(), n.out_dims(), kernel_of(n)), false);
  conv3d const layer{.out = int(n.dims(1)[0]),
                     .kernel = w.kernel,
                     .stride = w.stride,
                     .pad = w.pad,
                     .dilation = w.dilation,
                     .groups = int(n.integer("group", 1))};
  return with_bias(n, applied(n, layer, std::move(weights)));
}

view conv_transpose_of_volume(node_reader const& n) {
  auto sides = sides_of(n, n.dims(), n.out_dims(), kernel_of(n));
  auto more = n.list("output_padding");
  more.resize(sides.size());
  std::vector<int> output_pad;
  for (std::size_t i = 0; i < sides.size(); ++i) output_pad.push_back(fit(n, sides[i], int(more[i])));
  volume_window const w(sides, false);
  output_pad.insert(output_pad.begin(), 3 - sides.size(), 0);
  int const groups = int(n.integer("group", 1));
  conv_transpose3d const layer{.out = int(n.dims(1)[1]) * groups,
                               .kernel = w.kernel,
                               .stride = w.stride,
                               .pad = w.pad,
                               .output_pad = {output_pad[0], output_pad[1], output_pad[2]},
                               .dilation = w.dilation,
                               .groups = groups};
  return with_bias(n, applied(n, layer, n.reals(1, "its weights")));
}

view places_of_maxima(node_reader const& n, volume_window const& w, view const& maxima) {
  constexpr std::int64_t most = 1 << 24;  // beyond this, floats skip integers
  if (product(n.dims()) > most) throw unsupported("places of maxima among more than 2^24 elements are not supported");
  max_pool3d_index const layer{.kernel = w.kernel,
                               .stride = w.stride,
                               .pad = w.pad,
                               .dilation = w.dilation,
                               .ceil = w.ceil,
                               .column_major = n.integer("storage_order", 0) != 0};
  int const x = as_volume(n.c, n.x()).value, y = as_volume(n.c, maxima).value;
  return volume(n.c, n.c.net.apply(layer, {x, y}), n.out_dims(1));
}

void max_pool_of_volume(node_reader const& n) {
  volume_window const w = pooled_by(n);
  view const y = applied(
      n, max_pool3d{.kernel = w.kernel, .stride = w.stride, .pad = w.pad, .dilation = w.dilation, .ceil = w.ceil});
  n.define(y);
  if (n.wants(1)) n.define(places_of_maxima(n, w, y), 1);
}

view avg_pool_of_volume(node_reader const& n) {
  volume_window const w = pooled_by(n);
  return applied(n, avg_pool3d{.kernel = w.kernel,
                               .stride = w.stride,
                               .pad = w.pad,
                               .dilation = w.dilation,
                               .ceil = w.ceil,
                               .count_pads = n.integer("count_include_pad", 0) != 0});
}

view lp_pool_of_volume(node_reader const& n) {
  volume_window const w = pooled_by(n);
  return applied(n, lp_pool3d{.kernel = w.kernel,
                              .stride = w.stride,
                              .pad = w.pad,
                              .dilation = w.dilation,
                              .ceil = w.ceil,
                              .p = float(n.integer("p", 2))});
}

}  // namespace ago::importer
