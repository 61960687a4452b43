// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of convolutions and pooling.
#include <algorithm>

#include "rules.hpp"

namespace ago::onnx::shapes {
namespace {

/// The attributes of windows; checked, and small enough that products of two of them do not overflow.
struct windows {
  extents kernel, strides, dilations, begin, end;
  std::string auto_pad;

  std::int64_t span(std::size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

windows windows_of(site const& s, extents const& kernel) {
  std::size_t const n = kernel.size();
  windows w{.kernel = s.small_integers("kernel_shape", kernel, n, 1),
            .strides = s.small_integers("strides", extents(n, 1), n, 1),
            .dilations = s.small_integers("dilations", extents(n, 1), n, 1),
            .begin = {},
            .end = {},
            .auto_pad = s.text("auto_pad", "NOTSET")};
  extents const pads = s.small_integers("pads", extents(2 * n, 0), 2 * n, 0);
  w.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(n));
  w.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(n), pads.end());
  for (char const* known : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) {
    if (w.auto_pad == known) return w;
  }
  throw fault{"auto_pad", "it is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID"};
}

std::int64_t extent(windows const& w, std::size_t i, std::int64_t in, bool ceil) {
  if (w.auto_pad.starts_with("SAME")) return (in + w.strides[i] - 1) / w.strides[i];
  bool const valid = w.auto_pad == "VALID";
  std::int64_t const begin = valid ? 0 : w.begin[i], end = valid ? 0 : w.end[i];
  std::int64_t const room = in + begin + end - w.span(i);
  bool const up = ceil && !valid;
  if (room + (up ? w.strides[i] - 1 : 0) < 0) {
    throw fault{"kernel_shape", "a window that spans " + std::to_string(w.span(i)) + " on " +
                                    std::to_string(in + begin + end) + " pixels, padding included"};
  }
  std::int64_t const floored = room < 0 ? 0 : room / w.strides[i] + 1;
  // The window that ceil mode adds must begin on the image or its left padding.
  bool const another = up && room % w.strides[i] != 0 && floored * w.strides[i] < in + begin;
  return floored + (another ? 1 : 0);
}

void expect_images(site const& s) {
  if (s.rank(0) < 3) throw fault{"", "its input has the shape " + text_of(s.dims(0)) + ", expected N, C and pixels"};
}

/// Kernel sizes from the weights; they must agree with the attribute, if there is one.
extents kernel_of_weights(site const& s) {
  expect_images(s);
  extents const& w = s.dims(1);
  if (w.size() != s.rank(0)) {
    throw fault{"W", "weights of the shape " + text_of(w) + " for an input of " + text_of(s.dims(0))};
  }
  extents const kernel(w.begin() + 2, w.end());
  if (s.integers("kernel_shape", kernel) != kernel) {
    throw fault{"kernel_shape", "it differs from the weights' shape " + text_of(w)};
  }
  if (std::any_of(w.begin(), w.end(), [](std::int64_t d) { return d < 1; })) {
    throw fault{"W", "weights of the shape " + text_of(w)};
  }
  return kernel;
}

std::int64_t groups_of(site const& s) {
  std::int64_t const groups = s.integer("group", 1);
  if (groups < 1 || groups > largest_size) throw fault{"group", "it is " + std::to_string(groups)};
  return groups;
}

void expect_channels(site const& s, std::int64_t channels) {
  if (s.dims(0)[1] == channels) return;
  throw fault{
      "W", "weights for " + std::to_string(channels) + " channels, but the input has " + std::to_string(s.dims(0)[1])};
}

void expect_bias(site const& s, std::int64_t channels) {
  if (s.has_input(2) && s.dims(2) != extents{channels}) {
    throw fault{"B", "it has the shape " + text_of(s.dims(2)) + ", expected " + text_of({channels})};
  }
}

}  // namespace

void convolution(site& s) {
  extents const kernel = kernel_of_weights(s);
  std::int64_t const groups = groups_of(s), channels = s.dims(1)[0];
  expect_channels(s, s.dims(1)[1] * groups);
  if (channels % groups != 0) {
    throw fault{"group", std::to_string(channels) + " output channels in " + std::to_string(groups) + " groups"};
  }
  expect_bias(s, channels);
  windows const w = windows_of(s, kernel);
  extents dims{s.dims(0)[0], channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) dims.push_back(extent(w, i, s.dims(0)[i + 2], false));
  s.set(0, dims);
}

void transposed_convolution(site& s) {
  extents const kernel = kernel_of_weights(s);
  std::size_t const n = kernel.size();
  std::int64_t const groups = groups_of(s), channels = s.dims(1)[1] * groups;
  expect_channels(s, s.dims(1)[0]);
  if (s.dims(1)[0] % groups != 0) {
    throw fault{"group", std::to_string(s.dims(1)[0]) + " channels in " + std::to_string(groups) + " groups"};
  }
  expect_bias(s, channels);
  windows const w = windows_of(s, kernel);
  extents const more = s.small_integers("output_padding", extents(n, 0), n, 0);
  extents const given = s.small_integers("output_shape", {}, s.has("output_shape") ? n : 0, 1);
  extents dims{s.dims(0)[0], channels};
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t const in = s.dims(0)[i + 2];
    bool const same = w.auto_pad.starts_with("SAME"), valid = w.auto_pad == "VALID";
    std::int64_t const pads = valid ? 0 : w.begin[i] + w.end[i];
    if (in < 1) throw fault{"", "its input has the shape " + text_of(s.dims(0))};
    std::int64_t const full = w.strides[i] * (in - 1) + more[i] + w.span(i);
    std::int64_t const size = !given.empty() ? given[i] : same ? in * w.strides[i] : full - pads;
    if (size < 1) throw fault{"pads", "nothing is left of " + std::to_string(full) + " pixels"};
    dims.push_back(size);
  }
  s.set(0, dims);
}

void pooling(site& s) {
  expect_images(s);
  if (!s.has("kernel_shape")) throw fault{"kernel_shape", "it is missing"};
  std::size_t const n = s.rank(0) - 2;
  windows const w = windows_of(s, s.small_integers("kernel_shape", {}, n, 1));
  for (std::size_t i = 0; i < n; ++i) {
    if (std::max(w.begin[i], w.end[i]) >= w.span(i)) {
      throw fault{"pads", "padding of " + std::to_string(std::max(w.begin[i], w.end[i])) + " for windows that span " +
                              std::to_string(w.span(i))};
    }
  }
  extents dims{s.dims(0)[0], s.dims(0)[1]};
  for (std::size_t i = 0; i < n; ++i) dims.push_back(extent(w, i, s.dims(0)[i + 2], s.flag("ceil_mode", false)));
  s.set(0, dims);
  s.set(1, dims, element::integer);
}

void global_pooling(site& s) {
  expect_images(s);
  extents dims(s.rank(0), 1);
  dims[0] = s.dims(0)[0];
  dims[1] = s.dims(0)[1];
  s.set(0, dims);
}

}  // namespace ago::onnx::shapes
