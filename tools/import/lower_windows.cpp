// Convolutions and poolings.
#include "arithmetic.hpp"
#include "images.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ago::importer {

namespace {

/// Convolution as its most special layer.
int convolution(builder& net, int x, window_sides const& s, int out, int groups, bool bias, std::vector<float> weights) {
  int const channels = net.dims(x).c;
  bool const plain = s.h.kernel == 1 && s.w.kernel == 1 && s.h.stride == 1 && s.w.stride == 1;
  pads const p = s.pads();
  bool const padded = p.top || p.left || p.bottom || p.right;
  if (plain && !padded && groups == 1) return net.apply(pointwise{out, bias}, {x}, std::move(weights));
  if (groups == channels && out % channels == 0 && channels > 1)
    return net.apply(depthwise{.kernel = s.kernel(), .stride = s.stride(), .pad = p, .dilation = s.dilation(),
                               .multiplier = out / channels, .bias = bias}, {x}, std::move(weights));
  return net.apply(conv2d{.out = out, .kernel = s.kernel(), .stride = s.stride(), .pad = p, .dilation = s.dilation(),
                          .groups = groups, .bias = bias}, {x}, std::move(weights));
}

std::vector<std::int64_t> pixels_of(extents const& dims) { return {dims.begin() + 2, dims.end()}; }

void conv(node_reader const& n) {
  auto weights = n.reals(1, "its weights");
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

/// Weights [in][out / groups][kernel] of a transposed convolution as those of the convolution that it is of an image
/// with zeros between its pixels: [out][in / groups][kernel, turned around].
std::vector<float> turned(std::vector<float> const& from, std::int64_t in, std::int64_t out_per_group,
                          std::int64_t pixels, std::int64_t groups) {
  std::vector<float> r;
  std::int64_t const in_per_group = in / groups;
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t o = 0; o < out_per_group; ++o)
      for (std::int64_t i = 0; i < in_per_group; ++i)
        for (std::int64_t k = pixels; k-- > 0;)
          r.push_back(from[std::size_t(((g * in_per_group + i) * out_per_group + o) * pixels + k)]);
  return r;
}

/// Zeros behind every row and every column.
int spread(builder& net, int x, int rows, int columns) {
  shape s = net.dims(x);
  if (columns > 1) {
    x = with_extents(net, x, {s.n * s.h, s.w, 1, s.c});
    x = net.apply(pad{pads{0, 0, 0, columns - 1}}, {x});
    s.w *= columns;
    x = with_extents(net, x, s);
  }
  if (rows > 1) {
    x = with_extents(net, x, {s.n, s.h, 1, s.w * s.c});
    x = net.apply(pad{pads{0, 0, 0, rows - 1}}, {x});
    s.h *= rows;
    x = with_extents(net, x, s);
  }
  return x;
}

/// Where the spread image begins in the padded one, for one direction.
window_side of_spread(window_side s) {
  int const wanted = s.out;
  window_side r{.kernel = s.kernel, .dilation = s.dilation, .before = s.span() - 1 - s.before, .in = s.in * s.stride,
                .out = wanted};
  r.after = wanted + s.span() - 1 - r.in - r.before;
  return r;
}

int cropped(builder& net, int x, ago::axis along, int before, int after) {
  int const extent = detail::extent_along(net.dims(x), int(along));
  if (before >= 0 && after >= 0) return x;
  int const begin = std::max(-before, 0), end = extent - std::max(-after, 0);
  return net.apply(slice{begin, end - begin, along}, {x});
}

/// Pads of a transposed convolution whose output's shape is given.
void fit(node_reader const& n, window_side& s, int output_padding) {
  std::string const rule = n.text("auto_pad", "NOTSET");
  if (!n.given("output_shape") && rule != "SAME_UPPER" && rule != "SAME_LOWER") return;
  int const all = std::max(s.stride * (s.in - 1) + output_padding + s.span() - s.out, 0);
  s.before = rule == "SAME_UPPER" ? all / 2 : all - all / 2;
  s.after = all - s.before;
}

void conv_transpose(node_reader const& n) {
  int const groups = int(n.integer("group", 1));
  extents const& k = n.dims(1);
  window_sides s = window_of(n, n.dims(), n.out_dims(), pixels_of(k));
  auto const more = n.list("output_padding", {0, 0});
  fit(n, s.h, more.size() > 1 ? int(more[0]) : 0);
  fit(n, s.w, more.empty() ? 0 : int(more.back()));
  auto weights = turned(n.reals(1, "its weights"), k[0], k[1], product(pixels_of(k)), groups);
  if (n.has(2)) {
    auto const b = n.reals(2, "its bias");
    weights.insert(weights.end(), b.begin(), b.end());
  }
  builder& net = n.c.net;
  int x = spread(net, as_image(n.c, n.x()).value, s.h.stride, s.w.stride);
  window_sides wide{of_spread(s.h), of_spread(s.w)};
  x = cropped(net, x, ago::axis::rows, wide.h.before, wide.h.after);
  x = cropped(net, x, ago::axis::columns, wide.w.before, wide.w.after);
  for (window_side* side : {&wide.h, &wide.w}) side->before = std::max(side->before, 0), side->after = std::max(side->after, 0);
  n.define(image(convolution(net, x, wide, int(k[1]) * groups, groups, n.has(2), weights), n.out_dims()));
}

/// How many pixels a pooling gives in one direction.
int pooled(window_side const& s, bool ceil) {
  int const all = s.in + s.before + s.after - s.span();
  int out = (all + (ceil ? s.stride - 1 : 0)) / s.stride + 1;
  if (ceil && (out - 1) * s.stride >= s.in + s.before) --out;
  return out;
}

/// Does the layer round up? Where neither rounding gives what the model says, the pads behind the image are changed.
bool settle_rounding(window_sides& s, bool pads_count) {
  auto const gives = [&](bool ceil) { return pooled(s.h, ceil) == s.h.out && pooled(s.w, ceil) == s.w.out; };
  if (gives(false)) return false;
  if (gives(true)) return true;
  if (pads_count) throw unsupported("a last window in the padding, of which the pads count");
  for (window_side* side : {&s.h, &s.w})
    side->after = std::max(0, (side->out - 1) * side->stride + side->span() - side->in - side->before);
  return false;
}

bool pads_too_much(window_sides const& s) {
  auto const too_much = [](window_side const& a) { return std::max(a.before, a.after) > a.span() / 2; };
  return too_much(s.h) || too_much(s.w);
}

/// The pads as pixels of their own.
int padded(builder& net, int x, window_sides& s, float value) {
  x = net.apply(pad{s.pads(), value}, {x});
  for (window_side* side : {&s.h, &s.w}) side->before = side->after = 0;
  return x;
}

void no_second_output(node_reader const& n) {
  if (n.op.outputs.size() > 1 && n.op.outputs[1] >= 0) throw unsupported("its second output");
}

void max_pool_rule(node_reader const& n) {
  no_second_output(n);
  window_sides s = window_of(n, n.dims(), n.out_dims(), n.list("kernel_shape"));
  int x = as_image(n.c, n.x()).value;
  bool const ceil = settle_rounding(s, false);
  if (pads_too_much(s)) x = padded(n.c.net, x, s, std::numeric_limits<float>::lowest());
  x = n.c.net.apply(max_pool{.kernel = s.kernel(), .stride = {s.h.stride, s.w.stride}, .pad = s.pads(),
                             .dilation = s.dilation(), .ceil = ceil}, {x});
  n.define(image(x, n.out_dims()));
}

/// The sum of each window, as a depthwise convolution.
int window_sums(builder& net, int x, window_sides const& s) {
  int const channels = net.dims(x).c;
  std::vector<float> ones(std::size_t(channels) * std::size_t(s.h.kernel * s.w.kernel), 1.f);
  window_sides fitting = s;
  for (window_side* side : {&fitting.h, &fitting.w})
    side->after = std::max(0, (side->out - 1) * side->stride + side->span() - side->in - side->before);
  return convolution(net, x, fitting, channels, channels, false, ones);
}

/// How many pixels of each window count, in one direction.
std::vector<float> counted(window_side const& s, bool pads_count) {
  std::vector<float> r;
  for (int y = 0; y < s.out; ++y) {
    int count = 0;
    for (int k = 0; k < s.kernel; ++k) {
      int const at = y * s.stride - s.before + k * s.dilation;
      count += pads_count ? at < s.in + s.after : at >= 0 && at < s.in;
    }
    r.push_back(float(count));
  }
  return r;
}

view mean_of_dilated(context& c, view x, window_sides const& s, extents const& out, bool pads_count) {
  view const sums = image(window_sums(c.net, x.value, s), out);
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
  window_sides s = window_of(n, n.dims(), n.out_dims(), n.list("kernel_shape"));
  bool const pads_count = n.integer("count_include_pad", 0) != 0;
  view const x = as_image(n.c, n.x());
  bool const settled = (pooled(s.h, false) == s.h.out && pooled(s.w, false) == s.w.out) ||
                       (pooled(s.h, true) == s.h.out && pooled(s.w, true) == s.w.out);
  if (s.h.dilation > 1 || s.w.dilation > 1 || pads_too_much(s) || !settled)
    return n.define(mean_of_dilated(n.c, x, s, n.out_dims(), pads_count));
  bool const ceil = settle_rounding(s, pads_count);
  pads const p = s.pads();
  bool const counts = pads_count || (!p.top && !p.left && !p.bottom && !p.right && !ceil);
  int const y = n.c.net.apply(avg_pool{.kernel = s.kernel(), .stride = {s.h.stride, s.w.stride}, .pad = p, .ceil = ceil,
                                       .count_pads = counts}, {x.value});
  n.define(image(y, n.out_dims()));
}

void lp_pool(node_reader const& n) {
  window_sides const s = window_of(n, n.dims(), n.out_dims(), n.list("kernel_shape"));
  float const p = float(n.integer("p", 2));
  view x = as_image(n.c, n.x());
  if (p == 2) x = mapped(n.c, x, "x * x");
  else if (p == 1) x = unary(n.c, x, absolute{});
  else x = combined(n.c, arithmetic::power, unary(n.c, x, absolute{}), {}, {p});
  view y = image(window_sums(n.c.net, x.value, s), n.out_dims());
  if (p == 2) y = unary(n.c, y, square_root{});
  else if (p != 1) y = combined(n.c, arithmetic::power, y, {}, {1 / p});
  n.define(y);
}

}  // namespace

void add_window_rules(rule_table& t) {
  t["Conv"] = conv;
  t["ConvTranspose"] = conv_transpose;
  t["MaxPool"] = max_pool_rule;
  t["AveragePool"] = avg_pool_rule;
  t["LpPool"] = lp_pool;
}

}  // namespace ago::importer
