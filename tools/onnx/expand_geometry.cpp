// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grids of places, centred parts of images, and running products.
#include <algorithm>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

/// A place on an axis from -1 to 1: corners are the centres of the outermost pixels, or their outer edges.
float place_of(std::int64_t i, std::int64_t size, bool corners) {
  double const at = static_cast<double>(i), all = static_cast<double>(size);
  if (corners) return static_cast<float>(size == 1 ? 0 : 2 * at / (all - 1) - 1);
  return static_cast<float>((2 * at + 1) / all - 1);
}

}  // namespace

/// Each pixel's place (x, y, 1) or (x, y, z, 1), times the matrix of its image.
void affine_grid(parts_of_operation& p) {
  auto const& s = p.what();
  extents const theta = p.dims(0), size = s.integers(1, "size");
  std::size_t const rank = size.size() - 2;
  if (size.size() != 4 && size.size() != 5) {
    throw fault{"size", std::to_string(size.size()) + " numbers, expected 4 for images or 5 for volumes"};
  }
  auto const axes = static_cast<std::int64_t>(rank);
  if (theta != extents{size[0], axes, axes + 1}) {
    throw fault{"theta", "it has the shape " + text_of(theta) + ", expected " + text_of({size[0], axes, axes + 1})};
  }
  extents const pixels{size.begin() + 2, size.end()};
  check_dims(pixels);
  p.afford({volume(pixels), axes + 1});
  bool const corners = s.flag("align_corners", false);
  extents const strides = strides_of(pixels);
  constant places{.dims = {volume(pixels), axes + 1}};
  for (std::int64_t pixel = 0; pixel < volume(pixels); ++pixel) {
    for (std::size_t axis = rank; axis-- > 0;) {
      places.reals.push_back(place_of(pixel / strides[axis] % pixels[axis], pixels[axis], corners));
    }
    places.reals.push_back(1);
  }
  int const y = p.make("MatMul", {p.constant_of(std::move(places)), p.transpose(p.operand(0), {0, 2, 1})});
  extents dims{size[0]};
  dims.insert(dims.end(), pixels.begin(), pixels.end());
  dims.push_back(axes);
  p.finish("Reshape", {y, p.list(dims)});
}

/// What is cut off or added is the same on both sides, or one more at the end.
void center_crop_pad(parts_of_operation& p) {
  auto const& s = p.what();
  extents const dims = p.dims(0), shape = s.integers(1, "shape");
  extents all(dims.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  auto const axes = axes_of(s.integers("axes", all), dims.size());
  if (shape.size() != axes.size()) {
    throw fault{"shape", std::to_string(shape.size()) + " numbers for " + std::to_string(axes.size()) + " axes"};
  }
  check_dims(shape);
  extents starts(dims.size(), 0), ends = dims, pads(2 * dims.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::size_t const axis = axes[i];
    std::int64_t const missing = std::max(shape[i] - dims[axis], std::int64_t{0});
    std::int64_t const kept = std::min(shape[i], dims[axis]);
    starts[axis] = (dims[axis] - kept) / 2;
    ends[axis] = starts[axis] + kept;
    pads[axis] = missing / 2;
    pads[dims.size() + axis] = missing - missing / 2;
  }
  int const part = p.make("Slice", {p.operand(0), p.list(starts), p.list(ends), p.list(all)});
  p.finish("Pad", {part, p.list(pads)});
}

/// In rounds: after round k, an element is the product of the last 2^k elements up to it. Like CumSum's matrix, this
/// has no loop over the elements, and numbers of either sign and zeros need no care.
void cumulative_product(parts_of_operation& p) {
  auto const& s = p.what();
  extents const dims = p.dims(0);
  std::size_t const axis = axis_of(s.integer(1, "axis"), dims.size());
  bool const reverse = s.flag("reverse", false);
  element const type = s.element_type(0);
  int const one = p.constant_of(type == element::real ? constant{.type = type, .dims = {}, .reals = {1}}
                                                      : constant{.type = type, .dims = {}, .integers = {1}});
  auto const shifted = [&](int x, std::int64_t by) {
    extents pads(2 * dims.size(), 0);
    pads[axis + (reverse ? dims.size() : 0)] = by;
    std::int64_t const first = reverse ? by : 0, a = static_cast<std::int64_t>(axis);
    return p.make("Slice",
                  {p.make("Pad", {x, p.list(pads), one}), p.list({first}), p.list({first + dims[axis]}), p.list({a})});
  };
  int x = s.flag("exclusive", false) ? shifted(p.operand(0), 1) : p.operand(0);
  for (std::int64_t by = 1; by < dims[axis]; by *= 2) x = p.make("Mul", {x, shifted(x, by)});
  p.finish("Identity", {x});
}

}  // namespace ago::onnx::expansion
