// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and pooling.
#include "arithmetic.hpp"
#include "volumes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ago::importer {

namespace {

/// A convolution as its most specialised layer.
int convolution(builder& net, int x, window_sides const& s, int out, int groups, bool bias,
                std::vector<float> weights) {
  int const channels = net.dims(x).c;
  bool const plain = s.h.kernel == 1 && s.w.kernel == 1 && s.h.stride == 1 && s.w.stride == 1;
  pads const p = s.pads();
  bool const padded = p.top || p.left || p.bottom || p.right;
  if (plain && !padded && groups == 1) return net.apply(pointwise{out, bias}, {x}, std::move(weights));
  if (groups == channels && out % channels == 0 && channels > 1)
    return net.apply(depthwise{.kernel = s.kernel(),
                               .stride = s.stride(),
                               .pad = p,
                               .dilation = s.dilation(),
                               .multiplier = out / channels,
                               .bias = bias},
                     {x}, std::move(weights));
  return net.apply(conv2d{.out = out,
                          .kernel = s.kernel(),
                          .stride = s.stride(),
                          .pad = p,
                          .dilation = s.dilation(),
                          .groups = groups,
                          .bias = bias},
                   {x}, std::move(weights));
}

std::vector<std::int64_t> pixels_of(extents const& dims) { return {dims.begin() + 2, dims.end()}; }

void conv(node_reader const& n) {
  auto weights = n.reals(1, "its weights");
  if (n.dims().size() > 4) return n.define(conv_of_volume(n, std::move(weights)));
  window_sides const s = window_of(n, n.dims(), n.out_dims(), pixels_of(n.dims(1)));
  bool const bias = n.has(2);
  if (bias) {
    auto const b = n.reals(2, "its bias");
    weights.insert(weights.end(), b.begin(), b.end());
  }
  view const x = as_image(n.c, n.x());
  int const y = convolution(n.c.net, x.value, s, int(n.dims(1)[0]), int(n.integer("group", 1)), bias, weights);
  n.define(image(y, n.out_dims()));
}

}  // namespace

int fit(node_reader const& n, window_side& s, int output_padding) {
  std::string const rule = n.text("auto_pad", "NOTSET");
  std::int64_t const exact = std::int64_t(s.stride) * (s.in - 1) + output_padding + s.span();
  if (exact > tracing::int_limit) throw unsupported("its window is too large");
  int const whole = int(exact);
  if (n.given("output_shape") || rule == "SAME_UPPER" || rule == "SAME_LOWER") {
    int const all = std::max(whole - s.out, 0);
    s.before = rule == "SAME_UPPER" ? all / 2 : all - all / 2;
  }
  s.after = whole - s.before - s.out;
  if (s.after >= 0) return output_padding;
  output_padding -= s.after;
  s.after = 0;
  return output_padding;
}

namespace {

void conv_transpose_rule(node_reader const& n) {
  if (n.dims().size() > 4) return n.define(conv_transpose_of_volume(n));
  extents const& k = n.dims(1);
  int const groups = int(n.integer("group", 1));
  window_sides s = window_of(n, n.dims(), n.out_dims(), pixels_of(k));
  auto const more = n.list("output_padding");
  int const rows = fit(n, s.h, more.size() > 1 ? int(more[0]) : 0);
  int const columns = fit(n, s.w, more.empty() ? 0 : int(more.back()));
  auto weights = n.reals(1, "its weights");
  if (n.has(2)) {
    auto const b = n.reals(2, "its bias");
    weights.insert(weights.end(), b.begin(), b.end());
  }
  int const y = n.c.net.apply(conv_transpose{.out = int(k[1]) * groups,
                                             .kernel = s.kernel(),
                                             .stride = s.stride(),
                                             .pad = s.pads(),
                                             .output_pad = {rows, columns},
                                             .dilation = s.dilation(),
                                             .groups = groups,
                                             .bias = n.has(2)},
                              {as_image(n.c, n.x()).value}, std::move(weights));
  n.define(image(y, n.out_dims()));
}

/// The number of pixels that pooling computes in one direction.
int pooled(window_side const& s, bool ceil) {
  std::int64_t const room = s.in + s.before + s.after - s.span() + (ceil ? s.stride - 1 : 0);
  if (room < 0) return 0;
  std::int64_t out = room / s.stride + 1;
  if (ceil && (out - 1) * s.stride >= s.in + s.before) --out;
  return int(out);
}

/// Whether the layer rounds up. If neither rounding gives the model's extents, the trailing pads are changed.
bool settle_rounding(window_sides& s, bool pads_count) {
  auto const gives = [&](bool ceil) { return pooled(s.h, ceil) == s.h.out && pooled(s.w, ceil) == s.w.out; };
  if (gives(false)) return false;
  if (gives(true)) return true;
  if (pads_count) throw unsupported("a last window in padding that counts is not supported");
  for (window_side* side : {&s.h, &s.w})
    side->after = std::max(0, (side->out - 1) * side->stride + side->span() - side->in - side->before);
  return false;
}

bool pads_too_much(window_sides const& s) {
  auto const too_much = [](window_side const& a) { return std::max(a.before, a.after) > a.span() / 2; };
  return too_much(s.h) || too_much(s.w);
}

/// Applies the pads as a separate layer.
int padded(builder& net, int x, window_sides& s, float value) {
  x = net.apply(pad{s.pads(), value}, {x});
  for (window_side* side : {&s.h, &s.w}) side->before = side->after = 0;
  return x;
}

void max_pool_rule(node_reader const& n) {
  if (n.dims().size() > 4) return max_pool_of_volume(n);
  extents const& out = pooled_dims(n);
  window_sides s = window_of(n, n.dims(), out, n.list("kernel_shape"));
  int x = as_image(n.c, n.x()).value;
  bool const ceil = settle_rounding(s, false);
  window_sides const whole = s;
  if (pads_too_much(s)) x = padded(n.c.net, x, s, std::numeric_limits<float>::lowest());
  x = n.c.net.apply(max_pool{.kernel = s.kernel(),
                             .stride = {s.h.stride, s.w.stride},
                             .pad = s.pads(),
                             .dilation = s.dilation(),
                             .ceil = ceil},
                    {x});
  n.define(image(x, out));
  if (n.wants(1)) n.define(places_of_maxima(n, volume_window({whole.h, whole.w}, ceil), image(x, out)), 1);
}

/// The sum of each window, as a depthwise convolution.
int window_sums(context& c, int x, window_sides const& s) {
  builder& net = c.net;
  int const channels = net.dims(x).c;
  std::vector<float> ones = c.table({channels, s.h.kernel, s.w.kernel});
  std::fill(ones.begin(), ones.end(), 1.f);
  window_sides fitting = s;
  for (window_side* side : {&fitting.h, &fitting.w})
    side->after = std::max(0, (side->out - 1) * side->stride + side->span() - side->in - side->before);
  return convolution(net, x, fitting, channels, channels, false, ones);
}

/// The number of pixels that count in each window, in one direction.
std::vector<float> counted(window_side const& s, bool pads_count) {
  std::vector<float> r;
  for (int y = 0; y < s.out; ++y) {
    // Taps k * dilation that lie in [first, end) of the image; if padding counts, none lie before it.
    int const start = y * s.stride - s.before, end = pads_count ? s.in + s.after : s.in;
    auto const taps_before = [&](int at) {
      std::int64_t const distance = std::int64_t(at) - start;
      return std::clamp<std::int64_t>((distance + s.dilation - 1) / s.dilation, 0, s.kernel);
    };
    r.push_back(float(taps_before(end) - (pads_count ? 0 : taps_before(0))));
  }
  return r;
}

view mean_of_sums(context& c, view x, window_sides const& s, extents const& out, bool pads_count) {
  c.net.afford({s.h.out, s.w.out});
  view const sums = image(window_sums(c, x.value, s), out);
  auto const rows = counted(s.h, pads_count), columns = counted(s.w, pads_count);
  std::vector<float> factors;
  for (float a : rows)
    for (float b : columns) factors.push_back(1 / (a * b));
  extents dims(out.size(), 1);
  if (out.size() == 4) dims[2] = s.h.out;
  dims.back() = s.w.out;
  return combined(c, arithmetic::multiply, sums, dims, factors);
}

void avg_pool_rule(node_reader const& n) {
  if (n.dims().size() > 4) return n.define(avg_pool_of_volume(n));
  window_sides s = window_of(n, n.dims(), n.out_dims(), n.list("kernel_shape"));
  bool const pads_count = n.integer("count_include_pad", 0) != 0;
  view const x = as_image(n.c, n.x());
  bool const settled = (pooled(s.h, false) == s.h.out && pooled(s.w, false) == s.w.out) ||
                       (pooled(s.h, true) == s.h.out && pooled(s.w, true) == s.w.out);
  if (pads_too_much(s) || !settled) return n.define(mean_of_sums(n.c, x, s, n.out_dims(), pads_count));
  bool const ceil = settle_rounding(s, pads_count);
  pads const p = s.pads();
  bool const counts = pads_count || (!p.top && !p.left && !p.bottom && !p.right && !ceil);
  int const y = n.c.net.apply(avg_pool{.kernel = s.kernel(),
                                       .stride = {s.h.stride, s.w.stride},
                                       .pad = p,
                                       .dilation = s.dilation(),
                                       .ceil = ceil,
                                       .count_pads = counts},
                              {x.value});
  n.define(image(y, n.out_dims()));
}

void lp_pool(node_reader const& n) {
  if (n.dims().size() > 4) return n.define(lp_pool_of_volume(n));
  window_sides const s = window_of(n, n.dims(), n.out_dims(), n.list("kernel_shape"));
  float const p = float(n.integer("p", 2));
  view x = as_image(n.c, n.x());
  if (p == 2) x = mapped(n.c, x, "x * x");
  else if (p == 1) x = unary(n.c, x, absolute{});
  else x = combined(n.c, arithmetic::power, unary(n.c, x, absolute{}), {}, {p});
  view y = image(window_sums(n.c, x.value, s), n.out_dims());
  if (p == 2) y = unary(n.c, y, square_root{});
  else if (p != 1) y = combined(n.c, arithmetic::power, y, {}, {1 / p});
  n.define(y);
}

}  // namespace

void add_window_rules(rule_table& t) {
  t["Conv"] = conv;
  t["ConvTranspose"] = conv_transpose_rule;
  t["MaxPool"] = max_pool_rule;
  t["AveragePool"] = avg_pool_rule;
  t["LpPool"] = lp_pool;
}

}  // namespace ago::importer
