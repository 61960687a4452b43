// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images at places that are values: regions, moved windows, and the places of maxima.
#include <utility>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

/// Samples along one axis of each region: the numbers of their two neighbours, and the shares of these.
struct samples {
  int neighbour[2], share[2];  ///< [regions, samples]
};

/// Equally spaced samples from `start` on, both of them [regions, 1]. As in ONNX, a sample counts if it is at most one
/// pixel outside of the image, and then its place is at most at the border.
samples samples_of(parts_of_operation& p, int start, int size, std::int64_t count, std::int64_t extent) {
  p.afford({count});
  constant parts{.dims = {1, count}};
  for (std::int64_t i = 0; i < count; ++i) {
    parts.reals.push_back(static_cast<float>((static_cast<double>(i) + 0.5) / static_cast<double>(count)));
  }
  auto const end = static_cast<float>(extent), last = end - 1;
  int const at = p.make("Add", {start, p.make("Mul", {size, p.constant_of(std::move(parts))})});
  int const inside = p.make(
      "Cast",
      {p.make("And", {p.make("GreaterOrEqual", {at, p.number(-1)}), p.make("LessOrEqual", {at, p.number(end)})})},
      {{"to", std::int64_t{1}}});
  int const y = p.make("Min", {p.make("Max", {at, p.number(0)}), p.number(last)});
  int const low = p.make("Floor", {y}), high = p.make("Min", {p.make("Add", {low, p.number(1)}), p.number(last)});
  int const part = p.make("Sub", {y, low}), rest = p.make("Sub", {p.number(1), part});
  return {{low, high}, {p.make("Mul", {rest, inside}), p.make("Mul", {part, inside})}};
}

/// The corners of regions on the axis of columns or of rows.
samples samples_of_regions(parts_of_operation& p, std::vector<int> const& corners, std::size_t axis, std::int64_t count,
                           std::int64_t extent) {
  auto const& s = p.what();
  bool const half_pixel = s.opset() >= 16 && s.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  auto const scaled = [&](int x) { return p.make("Mul", {x, p.number(s.real("spatial_scale", 1))}); };
  int const first = scaled(corners[axis]), second = scaled(corners[axis + 2]);
  int const size = p.make("Sub", {second, first});
  if (half_pixel) return samples_of(p, p.make("Sub", {first, p.number(0.5f)}), size, count, extent);
  return samples_of(p, first, p.make("Max", {size, p.number(1)}), count, extent);
}

/// The regions' images: their numbers as floats, [regions, 1].
int images_of_regions(parts_of_operation& p, std::int64_t images, std::int64_t regions) {
  constexpr std::size_t numbers = 2;
  if (p.what().dims(numbers) != extents{regions}) {
    throw fault{"batch_indices",
                "it has the shape " + text_of(p.what().dims(numbers)) + ", expected " + text_of({regions})};
  }
  if (auto const& known = p.what().input(numbers).known) {
    for (std::int64_t const i : known->integers) {
      if (i < 0 || i >= images) {
        throw fault{"batch_indices", "image " + std::to_string(i) + " of " + std::to_string(images)};
      }
    }
  }
  return p.reshape(p.make("Cast", {p.operand(numbers)}, {{"to", std::int64_t{1}}}), {regions, 1});
}

std::int64_t positive(site const& s, char const* attribute, std::int64_t otherwise, char const* why) {
  std::int64_t const x = s.integer(attribute, otherwise);
  if (x < 1 || x > largest_size) throw fault{attribute, "it is " + std::to_string(x) + why};
  return x;
}

}  // namespace

/// Bilinear samples of regions, gathered pixel by pixel, and pooled. The maximum is, as in ONNX's definition and in
/// ONNX Runtime, over the weighted neighbours of the samples and not over their sums.
void roi_align(parts_of_operation& p) {
  auto const& s = p.what();
  extents const x = p.dims(0), rois = p.dims(1);
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4) {
    throw fault{"rois", "the shape " + text_of(rois) + " does not fit " + text_of(x)};
  }
  std::string const mode = s.text("mode", "avg");
  if (mode != "avg" && mode != "max") throw fault{"mode", "\"" + mode + "\" is not supported"};
  std::string const place = s.text("coordinate_transformation_mode", "half_pixel");
  if (place != "half_pixel" && place != "output_half_pixel") {
    throw fault{"coordinate_transformation_mode", "\"" + place + "\" is not supported"};
  }
  std::int64_t const ratio =
      positive(s, "sampling_ratio", 0, ", expected a positive number: the number of samples must be known");
  std::int64_t const rows = positive(s, "output_height", 1, "") * ratio, n = rois[0];
  std::int64_t const columns = positive(s, "output_width", 1, "") * ratio;
  check_dims({n, x[1], rows, columns});
  int const image = images_of_regions(p, x[0], n);
  auto const corners = p.split(p.operand(1), {1, 1, 1, 1});
  samples const across = samples_of_regions(p, corners, 0, columns, x[3]);
  samples const down = samples_of_regions(p, corners, 1, rows, x[2]);
  int const pixels = p.reshape(p.transpose(p.operand(0), {0, 2, 3, 1}), {x[0] * x[2] * x[3], x[1]});
  std::vector<int> values;
  for (int const i : {0, 1}) {
    int const row = p.make("Add", {p.make("Mul", {image, p.number(static_cast<float>(x[2]))}), down.neighbour[i]});
    int const first = p.reshape(p.make("Mul", {row, p.number(static_cast<float>(x[3]))}), {n, rows, 1, 1});
    for (int const k : {0, 1}) {
      int const at = p.make("Add", {first, p.reshape(across.neighbour[k], {n, 1, columns, 1})});
      int const share =
          p.make("Mul", {p.reshape(down.share[i], {n, rows, 1, 1}), p.reshape(across.share[k], {n, 1, columns, 1})});
      int const whole = p.make("Cast", {at}, {{"to", std::int64_t{7}}});
      values.push_back(p.make("Mul", {p.make("GatherND", {pixels, whole}), share}));
    }
  }
  int const all = p.transpose(p.make(mode == "avg" ? "Sum" : "Max", values), {0, 3, 1, 2});
  extents const window{ratio, ratio};
  p.finish(mode == "avg" ? "AveragePool" : "MaxPool", {all}, {{"kernel_shape", window}, {"strides", window}});
}

namespace {

/// The geometry of a convolution whose windows are moved.
struct moved_windows {
  extents x, w, kernel, strides, dilations, pads, out;
  std::int64_t groups, taps;

  explicit moved_windows(parts_of_operation const& p) : x(p.what().dims(0)), w(p.what().dims(1)) {
    auto const& s = p.what();
    extents const offset = s.dims(2);
    if (x.size() != 4 || w.size() != 4 || offset.size() != 4) {
      throw fault{"", "its input has the shape " + text_of(x) + "; only images of two dimensions are supported"};
    }
    kernel = s.small_integers("kernel_shape", {w[2], w[3]}, 2, 1);
    if (kernel != extents{w[2], w[3]}) throw fault{"kernel_shape", "the weights have the shape " + text_of(w)};
    strides = s.small_integers("strides", {1, 1}, 2, 1);
    dilations = s.small_integers("dilations", {1, 1}, 2, 1);
    pads = s.small_integers("pads", {0, 0, 0, 0}, 4, 0);
    groups = s.integer("offset_group", 1);
    taps = volume(kernel);
    if (groups < 1 || x[1] % groups != 0) {
      throw fault{"offset_group", std::to_string(groups) + " groups of " + std::to_string(x[1]) + " channels"};
    }
    for (std::size_t i : {0u, 1u}) {
      std::int64_t const room = x[2 + i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1;
      if (room < 0) throw fault{"kernel_shape", "a window is larger than the image"};
      out.push_back(room / strides[i] + 1);
    }
    check_dims({2, groups, taps});
    expect(s, 2, "offset", 2 * groups * taps);
    if (s.has_input(4)) expect(s, 4, "mask", groups * taps);
  }

  /// Where window elements are without an offset, [taps, 2, windows]: columns first, as GridSample has it.
  constant places() const {
    constant r{.dims = {taps, 2, volume(out)}};
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      std::int64_t const element[] = {tap / kernel[1], tap % kernel[1]};
      for (std::size_t const i : {1u, 0u}) {
        for (std::int64_t k = 0; k < volume(out); ++k) {
          std::int64_t const window = i == 0 ? k / out[1] : k % out[1];
          r.reals.push_back(static_cast<float>(window * strides[i] + element[i] * dilations[i] - pads[i]));
        }
      }
    }
    return r;
  }

 private:
  void expect(site const& s, std::size_t input, char const* what, std::int64_t channels) const {
    extents const expected{x[0], channels, out[0], out[1]};
    if (s.dims(input) != expected) {
      throw fault{what, "it has the shape " + text_of(s.dims(input)) + ", expected " + text_of(expected)};
    }
  }
};

}  // namespace

/// The elements of all windows, sampled as a grid, times the weights: a convolution of 1 x 1.
void deformable_convolution(parts_of_operation& p) {
  moved_windows const g(p);
  std::int64_t const batch = g.x[0], windows = volume(g.out), images = batch * g.groups;
  p.afford({g.taps, 2, windows});
  int const offset = p.make("Gather", {p.reshape(p.operand(2), {images, g.taps, 2, windows}), p.list({1, 0})},
                            {{"axis", std::int64_t{2}}});
  int const pixel = p.make("Add", {offset, p.constant_of(g.places())});
  // From pixels to -1 ... 1 between the image's edges.
  auto const height = static_cast<float>(g.x[2]), width = static_cast<float>(g.x[3]);
  int const factor = p.constant_of({.dims = {2, 1}, .reals = {2 / width, 2 / height}});
  int const shift = p.constant_of({.dims = {2, 1}, .reals = {1 / width - 1, 1 / height - 1}});
  int const grid = p.transpose(p.make("Add", {p.make("Mul", {pixel, factor}), shift}), {0, 1, 3, 2});
  int const image = p.reshape(p.operand(0), {images, g.x[1] / g.groups, g.x[2], g.x[3]});
  int elements = p.make("GridSample", {image, grid});
  if (p.has(4)) elements = p.make("Mul", {elements, p.reshape(p.operand(4), {images, 1, g.taps, windows})});
  std::vector<int> inputs{p.reshape(elements, {batch, g.x[1] * g.taps, g.out[0], g.out[1]}),
                          p.reshape(p.operand(1), {g.w[0], g.w[1] * g.taps, 1, 1})};
  if (p.has(3)) inputs.push_back(p.operand(3));
  p.finish("Conv", inputs, {{"group", p.what().integer("group", 1)}});
}

/// Each maximum is repeated over its window, and stays at its own place only.
void max_unpool(parts_of_operation& p) {
  auto const& s = p.what();
  extents const x = p.dims(0);
  if (x.size() < 3 || p.dims(1) != x) {
    throw fault{"I", "the shape " + text_of(p.dims(1)) + " does not fit " + text_of(x)};
  }
  std::size_t const axes = x.size() - 2;
  extents const window = s.small_integers("kernel_shape", {}, axes, 1);
  if (s.small_integers("strides", extents(axes, 1), axes, 1) != window ||
      s.small_integers("pads", extents(2 * axes, 0), 2 * axes, 0) != extents(2 * axes, 0)) {
    throw fault{"strides", "windows that overlap, leave gaps or have pads are not supported"};
  }
  std::int64_t const planes = x[0] * x[1];
  extents narrow{planes}, wide{planes}, one{1}, out{x[0], x[1]};
  for (std::size_t i = 0; i < axes; ++i) {
    narrow.insert(narrow.end(), {x[2 + i], 1});
    wide.insert(wide.end(), {x[2 + i], window[i]});
    one.insert(one.end(), {x[2 + i], window[i]});
    out.push_back(x[2 + i] * window[i]);
  }
  check_dims(out);
  if (volume(out) > 1 << 24) throw fault{"", "places of more than 2^24 elements are not supported"};
  std::int64_t const plane = volume(out, 2, out.size());
  p.afford({planes + plane});
  extents each(narrow.size(), 1);
  each[0] = planes;
  int const first = p.make("Mul", {p.numbers(each), p.integer(plane)});  // of each plane
  int const own = p.make("Sub", {p.reshape(p.operand(1), narrow), first});
  auto const repeated = [&](int v) { return p.make("Expand", {v, p.list(wide)}); };
  int const here = p.make("Equal", {repeated(own), p.numbers(one)});
  int const y = p.make("Where", {here, repeated(p.reshape(p.operand(0), narrow)), p.number(0)});
  if (!p.has(2)) return p.finish("Reshape", {y, p.list(out)});
  extents const asked = s.integers(2, "output_shape");
  bool fits = asked.size() == out.size() && asked[0] == out[0] && asked[1] == out[1];
  extents pads(2 * out.size(), 0);
  for (std::size_t i = 0; fits && i < out.size(); ++i) {
    pads[out.size() + i] = asked[i] - out[i];
    fits = asked[i] >= out[i];
  }
  if (!fits) throw fault{"output_shape", "it is " + text_of(asked) + ", expected at least " + text_of(out)};
  if (s.opset() < 11) return p.finish("Pad", {p.reshape(y, out)}, {{"pads", pads}});
  p.finish("Pad", {p.reshape(y, out), p.list(pads)});
}

}  // namespace ago::onnx::expansion
