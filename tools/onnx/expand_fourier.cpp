// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms as products with tables of cosines and sines, and the constants that go with them.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "expand.hpp"

namespace ago::onnx::expansion {
namespace {

constexpr std::int64_t complex = 2;  ///< the extent of an axis of real and imaginary parts

/// Numbers as the element type that the operator's attribute names.
void finish_as_asked(parts_of_operation& p, constant numbers) {
  p.finish("Cast", {p.constant_of(std::move(numbers))}, {{"to", p.what().integer("output_datatype", 1)}});
}

std::int64_t at_least(std::int64_t x, std::int64_t least, char const* what) {
  if (x < least) throw fault{what, "it is " + std::to_string(x)};
  return x;
}

/// weights[0] - weights[1] cos(t) + weights[2] cos(2 t), where t turns once in `size` elements, or in one less if the
/// window is symmetric. A symmetric window of one element is 1, as in NumPy and PyTorch: the formula divides by 0.
void window(parts_of_operation& p, std::array<double, 3> const& weights) {
  std::int64_t const size = at_least(p.what().integer(0, "size"), 0, "size");
  std::int64_t const period = p.what().flag("periodic", true) ? size : size - 1;
  p.afford({size});
  constant c{.dims = {size}};
  for (std::int64_t i = 0; i < size; ++i) {
    double const t = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    double const x = period == 0 ? 1 : weights[0] - weights[1] * std::cos(t) + weights[2] * std::cos(2 * t);
    c.reals.push_back(static_cast<float>(x));
  }
  finish_as_asked(p, std::move(c));
}

double number_of(parts_of_operation const& p, std::size_t input, char const* what) {
  constant const& c = p.what().known(input, what);
  if (volume(c.dims) != 1) throw fault{what, "it has the shape " + text_of(c.dims) + ", expected a scalar"};
  return c.type == element::real ? static_cast<double>(c.reals[0]) : static_cast<double>(c.integers[0]);
}

/// The places in a spectrum where the filters of mel bands begin, peak and end: filter i has i, i + 1 and i + 2.
extents mel_places(parts_of_operation const& p, std::int64_t bands, std::int64_t length) {
  double const rate = number_of(p, 2, "sample_rate"), low = number_of(p, 3, "lower_edge_hertz");
  double const high = number_of(p, 4, "upper_edge_hertz");
  if (!(rate > 0) || !(low >= 0) || !(high >= low)) throw fault{"", "its sample rate and edges do not fit together"};
  auto const mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double const step = (mel(high) - mel(low)) / static_cast<double>(bands + 2);  // as the specification's code has it
  extents places;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    double const hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    double const place = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(place <= static_cast<double>(length / 2))) {
      throw fault{"upper_edge_hertz", "a band lies beyond half of the sample rate"};
    }
    places.push_back(std::max(static_cast<std::int64_t>(place), std::int64_t{0}));
  }
  return places;
}

/// exp(2 pi i k / n) for k < n.
struct roots {
  std::vector<double> cosine, sine;

  explicit roots(std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      double const angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
};

/// A transform along one axis, from `samples` to `bins`, of 1 (real) or 2 (complex) numbers each.
struct transform {
  std::int64_t samples, sample_parts, length, bins, bin_parts;
  bool inverse;
};

/// Its matrix: rows are samples and their parts, columns are bins and their parts. A real result of an inverse
/// transform is made from one half of a spectrum, whose other half is its mirror image.
constant matrix_of(transform const& t) {
  constant m{.dims = {t.samples * t.sample_parts, t.bins * t.bin_parts}};
  roots const root(t.length);
  double const sign = t.inverse ? 1 : -1;
  for (std::int64_t i = 0; i < t.samples; ++i) {
    bool const mirrored = t.bin_parts == 1 && i > 0 && 2 * i != t.length;
    double const scale = (mirrored ? 2 : 1) / (t.inverse ? static_cast<double>(t.length) : 1);
    for (std::int64_t part = 0; part < t.sample_parts; ++part) {
      for (std::int64_t k = 0; k < t.bins; ++k) {
        auto const at = static_cast<std::size_t>(i * k % t.length);
        double const c = scale * root.cosine[at], s = scale * sign * root.sine[at];
        m.reals.push_back(static_cast<float>(part == 0 ? c : -s));
        if (t.bin_parts == complex) m.reals.push_back(static_cast<float>(part == 0 ? s : c));
      }
    }
  }
  return m;
}

/// The axis of a DFT: an attribute before operator set 20, then an input.
std::size_t transformed_axis(site const& s) {
  std::size_t const rank = s.rank(0);
  if (rank < 2 || s.dims(0).back() < 1 || s.dims(0).back() > complex) {
    throw fault{"", "its input has the shape " + text_of(s.dims(0)) + ", expected 1 or 2 numbers along the last axis"};
  }
  std::int64_t const axis = s.opset() < 20 ? s.integer("axis", 1) : s.has_input(2) ? s.integer(2, "axis") : -2;
  std::size_t const r = axis_of(axis, rank);
  if (r == rank - 1) throw fault{"axis", "it is that of real and imaginary parts"};
  return r;
}

std::int64_t bins_of(std::int64_t length, bool onesided) { return onesided ? length / 2 + 1 : length; }

}  // namespace

void hann_window(parts_of_operation& p) { window(p, {0.5, 0.5, 0}); }
void hamming_window(parts_of_operation& p) { window(p, {25.0 / 46, 21.0 / 46, 0}); }
void blackman_window(parts_of_operation& p) { window(p, {0.42, 0.5, 0.08}); }

/// Triangles, equally spaced on the mel scale: a matrix of spectrum bins and bands.
void mel_weight_matrix(parts_of_operation& p) {
  std::int64_t const bands = at_least(p.what().integer(0, "num_mel_bins"), 1, "num_mel_bins");
  std::int64_t const length = at_least(p.what().integer(1, "dft_length"), 1, "dft_length");
  if (length > largest_size) throw fault{"dft_length", "it is " + std::to_string(length)};
  p.afford({length / 2 + 1, bands});
  extents const places = mel_places(p, bands, length);
  constant m{.dims = {length / 2 + 1, bands}};
  m.reals.resize(static_cast<std::size_t>(volume(m.dims)));
  for (std::int64_t band = 0; band < bands; ++band) {
    auto const i = static_cast<std::size_t>(band);
    std::int64_t const begin = places[i], peak = places[i + 1], end = places[i + 2];
    auto const weight = [&](std::int64_t bin) -> float& {
      return m.reals[static_cast<std::size_t>(bin * bands + band)];
    };
    if (begin == peak) weight(peak) = 1;
    for (std::int64_t k = begin; k <= peak && begin < peak; ++k) {
      weight(k) = static_cast<float>(static_cast<double>(k - begin) / static_cast<double>(peak - begin));
    }
    for (std::int64_t k = peak; k < end; ++k) {
      weight(k) = static_cast<float>(static_cast<double>(end - k) / static_cast<double>(end - peak));
    }
  }
  finish_as_asked(p, std::move(m));
}

void fourier(parts_of_operation& p) {
  auto const& s = p.what();
  std::size_t const axis = transformed_axis(s);
  extents const dims = p.dims(0);
  bool const onesided = s.flag("onesided", false), inverse = s.flag("inverse", false), to_real = onesided && inverse;
  if (onesided && dims.back() != (inverse ? complex : 1)) {
    throw fault{"onesided",
                inverse ? "it needs complex numbers, since the transform is inverse" : "it needs real numbers"};
  }
  std::int64_t const length = s.has_input(1) ? s.integer(1, "dft_length") : to_real ? 2 * (dims[axis] - 1) : dims[axis];
  if (length < 1 || length > largest_size) throw fault{"dft_length", "it is " + std::to_string(length)};
  // Samples beyond the length are left out; missing ones count as 0.
  transform const t{.samples = std::min(dims[axis], to_real ? length / 2 + 1 : length),
                    .sample_parts = dims.back(),
                    .length = length,
                    .bins = bins_of(length, onesided && !inverse),
                    .bin_parts = to_real ? 1 : complex,
                    .inverse = inverse};
  p.afford({t.samples * t.sample_parts, t.bins * t.bin_parts});

  auto const last = static_cast<std::int64_t>(dims.size()) - 1, a = static_cast<std::int64_t>(axis);
  int x = p.operand(0);
  if (t.samples < dims[axis]) x = p.make("Slice", {x, p.list({0}), p.list({t.samples}), p.list({a})});
  extents there, back, open;  // the axis next to the last one, and back again
  for (std::int64_t i = 0; i < last; ++i) {
    if (i != a) there.push_back(i), open.push_back(dims[static_cast<std::size_t>(i)]);
    back.push_back(i < a ? i : i == a ? last - 1 : i - 1);
  }
  there.insert(there.end(), {a, last});
  back.push_back(last);
  x = p.reshape(p.transpose(x, there), {volume(open), t.samples * t.sample_parts});
  x = p.make("MatMul", {x, p.constant_of(matrix_of(t))});
  open.insert(open.end(), {t.bins, t.bin_parts});
  p.finish("Transpose", {p.reshape(x, open)}, {{"perm", back}});
}

/// A convolution of the signal with windowed cosines and sines.
void short_time_fourier(parts_of_operation& p) {
  enum { signal, frame_step, window_of_frame, frame_length };
  auto const& s = p.what();
  extents const dims = p.dims(signal);
  if (dims.size() == 3 && dims[2] == complex) throw fault{"signal", "a complex signal is not supported"};
  // PyTorch's exporter leaves out the axis of one real part.
  if (dims.size() != 2 && !(dims.size() == 3 && dims[2] == 1)) {
    throw fault{"signal", "it has the shape " + text_of(dims) + ", expected a batch of signals of real numbers"};
  }
  std::int64_t const step = at_least(s.integer(frame_step, "frame_step"), 1, "frame_step");
  if (!s.has_input(window_of_frame) && !s.has_input(frame_length)) throw fault{"frame_length", "it is missing"};
  std::vector<float> weights;
  if (s.has_input(window_of_frame)) weights = s.reals(window_of_frame, "window");
  std::int64_t const n = s.has_input(frame_length)
                             ? at_least(s.integer(frame_length, "frame_length"), 1, "frame_length")
                             : static_cast<std::int64_t>(weights.size());
  if (n < 1 || n > dims[1]) {
    throw fault{"frame_length",
                "frames of " + std::to_string(n) + " numbers in a signal of " + std::to_string(dims[1])};
  }
  if (s.has_input(window_of_frame) && static_cast<std::int64_t>(weights.size()) != n) {
    throw fault{"window", std::to_string(weights.size()) + " numbers for frames of " + std::to_string(n)};
  }
  std::int64_t const bins = bins_of(n, s.flag("onesided", true));
  p.afford({bins * complex, n});
  constant kernels{.dims = {bins * complex, 1, n}};
  roots const root(n);
  for (std::int64_t row = 0; row < bins * complex; ++row) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto const at = static_cast<std::size_t>(i * (row / complex) % n);
      double const x = row % complex == 0 ? root.cosine[at] : -root.sine[at];
      kernels.reals.push_back(static_cast<float>(x * (weights.empty() ? 1.0f : weights[static_cast<std::size_t>(i)])));
    }
  }
  int const x = p.reshape(p.operand(signal), {dims[0], 1, dims[1]});
  int const y = p.make("Conv", {x, p.constant_of(std::move(kernels))}, {{"strides", extents{step}}});
  p.finish("Reshape", {p.transpose(y, {0, 2, 1}), p.list({dims[0], (dims[1] - n) / step + 1, bins, complex})});
}

}  // namespace ago::onnx::expansion
