// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of Resize and its predecessor Upsample.
#include <algorithm>
#include <cmath>

#include "rules.hpp"

namespace ago::onnx::shapes {
namespace {

/// The requested size, per axis of `axes`; exactly one of scales and sizes is not empty.
struct request {
  std::vector<std::size_t> axes;
  std::vector<float> scales;
  extents sizes;
};

/// In single precision, as in other engines, so that a scale such as 0.7 of 10 pixels gives 7.
std::int64_t scaled(std::int64_t in, float scale) {
  if (!(scale > 0)) throw fault{"scales", "a scale of " + std::to_string(scale)};
  float const size = std::floor(static_cast<float>(in) * scale);
  if (!(size <= static_cast<float>(largest_size))) throw fault{"scales", "a scale of " + std::to_string(scale)};
  return static_cast<std::int64_t>(size);
}

bool empty(site const& s, std::size_t i, char const* what) {
  return !s.has_input(i) || (s.input(i).known && volume(s.known(i, what).dims) == 0);
}

request request_of(site const& s) {
  request r;
  extents axes = s.integers("axes", {});
  for (std::size_t i = 0; axes.empty() && i < s.rank(0); ++i) r.axes.push_back(i);
  if (!axes.empty()) r.axes = axes_of(axes, s.rank(0));
  std::size_t const scales = s.opset() == 10 ? 1 : 2;
  if (!empty(s, scales, "scales")) r.scales = s.reals(scales, "scales");
  if (s.opset() > 10 && !empty(s, 3, "sizes")) r.sizes = s.integers(3, "sizes");
  if (r.scales.empty() == r.sizes.empty()) throw fault{"scales", "exactly one of scales and sizes must be given"};
  if (std::max(r.scales.size(), r.sizes.size()) != r.axes.size()) {
    throw fault{r.sizes.empty() ? "scales" : "sizes", std::to_string(std::max(r.scales.size(), r.sizes.size())) +
                                                          " numbers, expected " + std::to_string(r.axes.size())};
  }
  return r;
}

/// The single scale for all axes that keep_aspect_ratio_policy derives from `sizes`.
extents with_aspect(site const& s, request const& r) {
  std::string const policy = s.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return r.sizes;
  bool const larger = policy == "not_smaller";
  if (!larger && policy != "not_larger") {
    throw fault{"keep_aspect_ratio_policy", "it is not one of stretch, not_larger, not_smaller"};
  }
  double scale = 0;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    std::int64_t const in = s.dims(0)[r.axes[i]];
    if (in == 0) throw fault{"sizes", "an axis of size 0"};
    double const one = static_cast<double>(r.sizes[i]) / static_cast<double>(in);
    scale = i == 0 ? one : larger ? std::max(scale, one) : std::min(scale, one);
  }
  extents sizes;
  for (std::size_t const axis : r.axes) {
    double const size = std::floor(scale * static_cast<double>(s.dims(0)[axis]) + 0.5);
    if (!(size <= static_cast<double>(largest_size))) throw fault{"sizes", "they are too large"};
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

/// The share of axis i of the request that is cropped before it is resized.
float region(site const& s, request const& r, std::size_t i) {
  if (s.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize") return 1;
  auto const& roi = s.reals(1, "roi");
  if (roi.size() != 2 * r.axes.size()) throw fault{"roi", std::to_string(roi.size()) + " numbers"};
  return roi[i + r.axes.size()] - roi[i];
}

}  // namespace

void resize(site& s) {
  request const r = request_of(s);
  extents dims = s.dims(0);
  for (std::int64_t const d : r.sizes) {
    if (d < 0 || d > largest_size) throw fault{"sizes", "a size of " + std::to_string(d)};
  }
  extents const sizes = r.sizes.empty() ? extents{} : with_aspect(s, r);
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    std::int64_t& d = dims[r.axes[i]];
    d = sizes.empty() ? scaled(d, region(s, r, i) * r.scales[i]) : sizes[i];
  }
  s.set(0, dims);
}

void upsample(site& s) {
  std::vector<float> scales;
  if (s.opset() >= 9) {
    scales = s.reals(1, "scales");
  } else if (attribute const* a = s.find("scales")) {
    if (auto const* list = std::get_if<std::vector<float>>(a)) scales = *list;
  }
  if (scales.size() != s.rank(0)) {
    throw fault{"scales", std::to_string(scales.size()) + " numbers, expected " + std::to_string(s.rank(0))};
  }
  extents dims = s.dims(0);
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = scaled(dims[i], scales[i]);
  s.set(0, dims);
}

}  // namespace ago::onnx::shapes
