// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample. Every axis is multiplied by an interpolation matrix, unless ago has a layer that does the
// same.
#include "arithmetic.hpp"
#include "images.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

namespace ago::importer {

namespace {

/// One axis: the mapping from result coordinates to operand coordinates.
struct axis_map {
  std::int64_t in, out;
  double scale;
  double roi_begin = 0, roi_end = 1;
};

struct interpolation {
  std::string mode, coordinates, rounding;
  double cubic = -0.75;
  bool antialias = false, exclude_outside = false;
  float outside = 0;  ///< tf_crop_and_resize: the value outside the image
};

double exact_source(interpolation const& how, axis_map const& a, std::int64_t y) {
  std::string const& c = how.coordinates;
  double const half_pixel = (double(y) + .5) / a.scale - .5;
  if (c == "half_pixel") return half_pixel;
  if (c == "pytorch_half_pixel") return a.out > 1 ? half_pixel : 0;
  if (c == "align_corners") {
    double const length = a.scale * double(a.in);  // not rounded, as in ONNX's own tests
    return length > 1 ? double(y) * double(a.in - 1) / (length - 1) : 0;
  }
  if (c == "asymmetric") return double(y) / a.scale;
  if (c == "tf_half_pixel_for_nn") return (double(y) + .5) / a.scale;
  if (c == "half_pixel_symmetric")
    return double(a.in) / 2 * (1 - double(a.out) / (a.scale * double(a.in))) + half_pixel;
  if (c == "tf_crop_and_resize") {
    double const last = double(a.in - 1);
    return a.out > 1 ? a.roi_begin * last + double(y) * (a.roi_end - a.roi_begin) * last / double(a.out - 1)
                     : (a.roi_begin + a.roi_end) * last / 2;
  }
  throw unsupported("coordinate_transformation_mode " + onnx::printable(c) + " is not supported");
}

/// Scales were rounded to float, so a coordinate that is nearly an integer is taken as that integer.
double source_of(interpolation const& how, axis_map const& a, std::int64_t y) {
  double const x = exact_source(how, a, y), whole = std::round(x);
  if (std::isnan(x)) throw unsupported("its region contains NaN");
  return std::fabs(x - whole) <= 1e-6 * std::max(1., std::fabs(x)) ? whole : x;
}

std::int64_t rounded(std::string const& rule, double x) {
  if (rule == "floor") return std::int64_t(std::floor(x));
  if (rule == "ceil") return std::int64_t(std::ceil(x));
  if (rule == "round_prefer_ceil") return std::int64_t(std::floor(x + .5));
  if (rule == "round_prefer_floor") return std::int64_t(std::ceil(x - .5));
  throw unsupported("nearest_mode " + onnx::printable(rule) + " is not supported");
}

double kernel_at(interpolation const& how, double t) {
  t = std::fabs(t);
  if (how.mode == "linear") return std::max(0., 1 - t);
  double const a = how.cubic;
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// The weights of the operand's elements in result `y`.
void fill_row(interpolation const& how, axis_map const& a, std::int64_t y, float* row) {
  // Bounds coordinates far outside: beyond the image the result no longer changes.
  double const x = std::clamp(source_of(how, a, y), -4 * double(a.in) - 4, 4 * double(a.in) + 4);
  auto const inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, a.in - 1); };
  if (how.mode == "nearest") {
    row[inside(rounded(how.rounding, x))] = 1;
    return;
  }
  double const base = std::ceil(x) - 1, narrow = how.antialias ? std::min(a.scale, 1.) : 1;
  double const reach = how.mode == "linear" ? 1 : 2;
  if (!(narrow * double(a.in) >= 0.5)) throw unsupported("a scale reduces an axis to nothing");
  auto const first = std::int64_t(std::floor(-reach / narrow)) + 1, last = 1 - first;
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = first; i <= last; ++i) {
    std::int64_t const at = std::int64_t(base) + i;
    bool const left_out = how.exclude_outside && at != inside(at);
    weights.push_back(left_out ? 0 : kernel_at(how, (double(at) - x) * narrow));
    sum += weights.back();
  }
  for (std::int64_t i = first; i <= last; ++i)
    row[inside(std::int64_t(base) + i)] += float(weights[std::size_t(i - first)] / sum);
}

struct axis_matrix {
  std::vector<float> weights;  ///< [out][in]
  std::vector<float> shift;    ///< [out], or empty
};

axis_matrix matrix_of(interpolation const& how, axis_map const& a) {
  axis_matrix m{std::vector<float>(std::size_t(a.in * a.out), 0.f), {}};
  bool const crops = how.coordinates == "tf_crop_and_resize";
  if (crops) m.shift.resize(std::size_t(a.out), 0.f);
  for (std::int64_t y = 0; y < a.out; ++y) {
    double const x = crops ? source_of(how, a, y) : 0;
    if (crops && (x < 0 || x > double(a.in - 1))) m.shift[std::size_t(y)] = how.outside;
    else fill_row(how, a, y, &m.weights[std::size_t(y * a.in)]);
  }
  return m;
}

bool close(std::vector<float> const& a, std::vector<float> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) { return std::fabs(x - y) <= 1e-6f; });
}

std::vector<float> identity_matrix(std::int64_t extent) {
  std::vector<float> r(std::size_t(extent * extent), 0.f);
  for (std::int64_t i = 0; i < extent; ++i) r[std::size_t(i * extent + i)] = 1;
  return r;
}

template <class E>
using named_values = std::initializer_list<std::pair<char const*, E>>;

template <class E>
std::optional<E> value_of(std::string const& name, named_values<E> all) {
  for (auto const& [known, value] : all)
    if (name == known) return value;
  return {};
}

std::optional<sampling> sampling_of(interpolation const& how) {
  return value_of<sampling>(how.coordinates, {{"half_pixel", sampling::half_pixel},
                                              {"half_pixel_symmetric", sampling::half_pixel},
                                              {"pytorch_half_pixel", sampling::half_pixel_or_first},
                                              {"asymmetric", sampling::asymmetric},
                                              {"align_corners", sampling::align_corners}});
}

std::optional<rounding> rounding_of(interpolation const& how) {
  return value_of<rounding>(how.rounding, {{"floor", rounding::down},
                                           {"ceil", rounding::up},
                                           {"round_prefer_floor", rounding::nearest_or_down},
                                           {"round_prefer_ceil", rounding::nearest_or_up}});
}

/// The layer that is equivalent to multiplying the pixels of an image by these matrices, if there is one: with standard
/// sampling, or otherwise with the model's. ago's scales are always the ratios of the extents.
std::optional<layer_value> own_layer(interpolation const& how, std::vector<axis_map> const& maps,
                                     std::vector<axis_matrix> const& matrices) {
  auto const is = [&](interpolation const& way) {
    for (std::size_t d = 2; d < maps.size(); ++d) {
      axis_map const exact{maps[d].in, maps[d].out, double(maps[d].out) / double(maps[d].in)};
      if (!close(matrices[d].weights, matrix_of(way, exact).weights)) return false;
    }
    return true;
  };
  int const h = maps.size() == 4 ? int(maps[2].out) : 1, w = int(maps.back().out);
  if (is({.mode = "nearest", .coordinates = "asymmetric", .rounding = "floor"})) return resize_nearest{h, w};
  if (is({.mode = "linear", .coordinates = "half_pixel", .rounding = ""})) return resize_bilinear{h, w};
  auto const from = sampling_of(how);
  if (!from || !is({.mode = how.mode, .coordinates = how.coordinates, .rounding = how.rounding})) return {};
  if (how.mode == "linear") return resize_bilinear{h, w, *from};
  if (auto const to = rounding_of(how); to && how.mode == "nearest") return resize_nearest{h, w, *from, *to};
  return {};
}

interpolation interpolation_of(node_reader const& n) {
  bool const old = n.op.type == "Upsample" || n.c.model.opset < 11;
  interpolation how{.mode = n.text("mode", "nearest"),
                    .coordinates = n.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
                    .rounding = n.text("nearest_mode", old ? "floor" : "round_prefer_floor"),
                    .cubic = n.real("cubic_coeff_a", -0.75f),
                    .antialias = n.integer("antialias", 0) != 0,
                    .exclude_outside = n.integer("exclude_outside", 0) != 0,
                    .outside = n.real("extrapolation_value", 0)};
  if (how.mode == "bilinear") how.mode = "linear";
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic")
    throw unsupported("mode " + onnx::printable(how.mode) + " is not supported");
  return how;
}

std::vector<float> optional_reals(node_reader const& n, int input, char const* what) {
  return n.has(input) ? n.reals(input, what) : std::vector<float>{};
}

/// The mapping of each axis of the operand.
std::vector<axis_map> maps_of(node_reader const& n) {
  extents const &in = n.dims(), &out = n.out_dims();
  bool const old = n.op.type == "Upsample" || n.c.model.opset < 11;
  auto const scales = n.given("scales") ? std::vector<float>{} : optional_reals(n, old ? 1 : 2, "scales");
  auto const roi = old ? std::vector<float>{} : optional_reals(n, 1, "roi");
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < in.size(); ++d) axes.push_back(std::int64_t(d));
  axes = n.list("axes", axes);
  std::vector<axis_map> r;
  for (std::size_t d = 0; d < in.size(); ++d) r.push_back({in[d], out[d], double(out[d]) / double(in[d])});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axis_map& a = r[std::size_t(axis_of(axes[i], int(in.size())))];
    if (scales.size() == axes.size()) a.scale = double(scales[i]);
    if (roi.size() == 2 * axes.size()) a.roi_begin = double(roi[i]), a.roi_end = double(roi[axes.size() + i]);
  }
  if (n.has(3) && n.text("keep_aspect_ratio_policy", "stretch") != "stretch") {
    // A single scale for all axes, determined by the policy.
    auto const sizes = n.integers(3, "sizes");
    bool const smaller = n.text("keep_aspect_ratio_policy", "") == "not_larger";
    double chosen = smaller ? HUGE_VAL : 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      double const s = double(sizes[i]) / double(in[std::size_t(axis_of(axes[i], int(in.size())))]);
      chosen = smaller ? std::min(chosen, s) : std::max(chosen, s);
    }
    for (std::int64_t a : axes) r[std::size_t(axis_of(a, int(in.size())))].scale = chosen;
  }
  return r;
}

void resize_rule(node_reader const& n) {
  interpolation const how = interpolation_of(n);
  auto const maps = maps_of(n);
  std::vector<axis_matrix> matrices;
  std::vector<bool> changes;
  for (axis_map const& a : maps) {
    if (double(a.in) * double(a.out) > double(1 << 26)) throw unsupported("an axis is too long");
    if (!(a.scale > 0)) throw unsupported("a scale is not positive");
    n.c.net.afford({a.in, a.out});
    matrices.push_back(matrix_of(how, a));
    changes.push_back(a.in != a.out || !close(matrices.back().weights, identity_matrix(a.in)));
  }
  view x = n.x();
  bool const of_pixels = (maps.size() == 3 || maps.size() == 4) && !changes[0] && !changes[1];
  if (auto const layer = of_pixels ? own_layer(how, maps, matrices) : std::nullopt)
    return n.define(image(unary(n.c, as_image(n.c, x), *layer).value, n.out_dims()));
  for (std::size_t d = 0; d < maps.size(); ++d)
    if (changes[d]) x = linear_along(n.c, x, int(d), maps[d].out, matrices[d].weights, matrices[d].shift);
  n.define(x);
}

}  // namespace

void add_resize_rules(rule_table& t) { t["Resize"] = t["Upsample"] = resize_rule; }

}  // namespace ago::importer
