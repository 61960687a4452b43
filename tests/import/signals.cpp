// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms, windows, grids and running products, compared with their definitions as plain loops.
#include "executed.hpp"
#include "onnx/single.hpp"

#include <array>
#include <complex>
#include <numbers>

using namespace ago_test;

namespace {

using complex = std::complex<double>;

complex turned(double part) { return std::polar(1., 2 * std::numbers::pi * part); }

/// What the DFT of a tensor is: one bin at a time.
struct dft {
  ints dims;  ///< the last axis: real parts, or real and imaginary ones
  int axis = 1;
  std::int64_t length = 0;  ///< 0: that of the axis
  bool inverse = false, onesided = false;

  std::vector<double> of(floats const& x) const {
    std::int64_t const extent = dims[std::size_t(axis)], n = length ? length : extent, parts = dims.back();
    std::int64_t const bins = onesided ? n / 2 + 1 : n;
    std::int64_t const outer = ago::importer::product({dims.begin(), dims.begin() + axis});
    std::int64_t const inner = ago::importer::product({dims.begin() + axis + 1, dims.end() - 1});
    std::vector<double> y;
    for (std::int64_t a = 0; a < outer; ++a)
      for (std::int64_t k = 0; k < bins; ++k)
        for (std::int64_t b = 0; b < inner; ++b) {
          complex sum;
          for (std::int64_t i = 0; i < std::min(n, extent); ++i) {
            std::size_t const at = std::size_t(((a * extent + i) * inner + b) * parts);
            complex const value(x[at], parts == 2 ? x[at + 1] : 0);
            sum += value * turned((inverse ? 1. : -1.) * double(i * k) / double(n));
          }
          if (inverse) sum /= double(n);
          y.insert(y.end(), {sum.real(), sum.imag()});
        }
    return y;
  }
};

void check_dft(std::int64_t opset, dft const& d) {
  CAPTURE(d.axis);
  CAPTURE(d.length);
  ago_test::network net(opset);
  net.input("x", d.dims);
  if (d.length) net.constant("n", {}, ints{d.length});
  if (opset >= 20) net.constant("axis", {}, ints{d.axis - std::int64_t(d.dims.size())});
  names inputs{"x", d.length ? "n" : ""};
  if (opset >= 20) inputs.push_back("axis");
  node made = net.node("DFT", inputs, {"y"});
  made.set("inverse", int(d.inverse)).set("onesided", int(d.onesided));
  if (opset < 20) made.set("axis", d.axis);
  net.output("y");
  floats const x = random_numbers(ago::importer::product(d.dims), 7);
  check_equal(executed(net, {x}), d.of(x));
}

/// Spectra of overlapping frames.
void check_stft(ints const& dims, std::int64_t step, std::int64_t n, bool windowed, bool onesided) {
  CAPTURE(n);
  ago_test::network net(17);
  net.input("x", dims);
  floats const window = windowed ? random_numbers(n, 3) : floats(std::size_t(n), 1.f);
  net.constant("step", {}, ints{step}).constant("window", {n}, window).constant("n", {}, ints{n});
  net.node("STFT", {"x", "step", windowed ? "window" : "", windowed ? "" : "n"}, {"y"}).set("onesided", int(onesided));
  net.output("y");
  CHECK(output(net.load()).dims == ints{dims[0], (dims[1] - n) / step + 1, onesided ? n / 2 + 1 : n, 2});
  floats const x = random_numbers(dims[0] * dims[1], 5);
  std::vector<double> y;
  for (std::int64_t b = 0; b < dims[0]; ++b)
    for (std::int64_t first = 0; first + n <= dims[1]; first += step)
      for (std::int64_t k = 0; k < (onesided ? n / 2 + 1 : n); ++k) {
        complex sum;
        for (std::int64_t i = 0; i < n; ++i)
          sum += double(window[std::size_t(i)]) * double(x[std::size_t(b * dims[1] + first + i)]) *
                 turned(-double(i * k) / double(n));
        y.insert(y.end(), {sum.real(), sum.imag()});
      }
  check_equal(executed(net, {x}), y);
}

void check_numbers(floats const& got, std::vector<double> const& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(double(got[i]) == doctest::Approx(expected[i]).epsilon(1e-6));
}

floats window_of(char const* type, std::int64_t size, int periodic) {
  return value_of(17, type, {scalar(size)}, [&](node& n) { n.set("periodic", periodic); }).reals;
}

/// Elements of a matrix, which are 0 outside of it, at (row, column) - shift.
std::vector<double> placed(floats const& x, std::int64_t rows, std::int64_t columns, std::int64_t out_rows,
                           std::int64_t out_columns, std::int64_t down, std::int64_t right) {
  std::vector<double> y;
  for (std::int64_t i = 0; i < out_rows; ++i)
    for (std::int64_t k = 0; k < out_columns; ++k) {
      std::int64_t const row = i - down, column = k - right;
      bool const inside = row >= 0 && row < rows && column >= 0 && column < columns;
      y.push_back(inside ? double(x[std::size_t(row * columns + column)]) : 0);
    }
  return y;
}

}  // namespace

TEST_CASE("a DFT is what its definition says, along any axis, shortened or continued by zeros") {
  for (std::int64_t const n : {1, 2, 7, 8, 15, 16, 17}) check_dft(17, {.dims = {2, n, 1}, .axis = 1, .onesided = true});
  check_dft(17, {.dims = {3, 9, 2}, .axis = 0});
  check_dft(17, {.dims = {3, 4, 5, 2}, .axis = 2, .inverse = true});
  check_dft(20, {.dims = {3, 8, 5, 1}, .axis = 1, .length = 5});
  check_dft(20, {.dims = {2, 8, 2}, .axis = 1, .length = 11});
  check_dft(20, {.dims = {2, 8, 1}, .axis = 1, .length = 11, .inverse = true});
  check_dft(20, {.dims = {6, 2}, .axis = 0});
}

TEST_CASE("a one-sided inverse DFT is the real signal that has this half of a spectrum") {
  for (std::int64_t const given : {0, 4, 5, 9, 12}) {
    CAPTURE(given);
    std::int64_t const bins = 5, n = given ? given : 2 * (bins - 1);
    floats const half = random_numbers(bins * 2 * 2, 15);  // two spectra of 5 bins
    std::vector<double> y;
    for (std::int64_t a = 0; a < 2; ++a)
      for (std::int64_t i = 0; i < n; ++i) {
        complex sum;
        for (std::int64_t k = 0; k < n; ++k) {
          std::int64_t const bin = std::min(k, n - k);
          if (bin >= bins) continue;
          float const* x = half.data() + (a * bins + bin) * 2;
          bool const real = bin == 0 || 2 * bin == n;
          complex const value{double(x[0]), real ? 0 : k == bin ? double(x[1]) : -double(x[1])};
          sum += value * turned(double(i * k) / double(n));
        }
        y.push_back(sum.real() / double(n));
      }
    ago_test::network net(20);
    net.input("x", {2, bins, 2}).constant("n", {}, ints{n});
    net.node("DFT", {"x", given ? "n" : ""}, {"y"}).set("inverse", 1).set("onesided", 1);
    net.output("y");
    CHECK(output(net.load()).dims == ints{2, n, 1});
    check_equal(executed(net, {half}), y);
  }
}

TEST_CASE("before operator set 20 a DFT is along axis 1, then along the last but one") {
  auto const x = random_numbers(2 * 3 * 4, 7);
  auto const y17 = executed(single(17, "DFT", {in({2, 3, 4, 1})}), {x});
  auto const y20 = executed(single(20, "DFT", {in({2, 3, 4, 1})}), {x});
  check_equal(y17, dft{.dims = {2, 3, 4, 1}, .axis = 1}.of(x));
  check_equal(y20, dft{.dims = {2, 3, 4, 1}, .axis = 2}.of(x));
}

TEST_CASE("what a DFT does not support is named") {
  auto const refused = [](std::vector<operand> const& operands, attributes const& set, char const* why) {
    contains(complaint_of(17, "DFT", operands, set), std::string("node \"op\" (DFT)") + why);
  };
  auto const onesided = [](node& n) { n.set("onesided", 1); };
  refused({in({2, 8, 2})}, onesided, ", onesided: it needs real numbers");
  refused(
      {in({2, 8, 1})}, [](node& n) { n.set("onesided", 1).set("inverse", 1); },
      ", onesided: it needs complex numbers, since the transform is inverse");
  refused({in({2, 8, 1})}, [](node& n) { n.set("axis", 2); }, ", axis: it is that of real and imaginary parts");
  refused({in({2, 8, 3})}, {}, ": its input has the shape [2,8,3], expected 1 or 2 numbers along the last axis");
  refused({in({2, 8, 1}), integers_in({})}, {}, ", dft_length: it is computed at run time");
  refused({in({2, 8, 1}), scalar(0)}, {}, ", dft_length: it is 0");
  refused({in({1, 1 << 14, 1})}, {}, ": it needs a table of 536870912 numbers, which is too large");
}

TEST_CASE("an STFT is the spectra of windowed frames") {
  check_stft({2, 40, 1}, 4, 16, true, true);
  check_stft({1, 33, 1}, 5, 7, false, true);
  check_stft({2, 20}, 8, 8, true, false);
  check_stft({1, 17, 1}, 3, 17, false, false);
}

TEST_CASE("what an STFT does not support is named") {
  auto const refused = [](std::vector<operand> const& operands, char const* why) {
    contains(complaint_of(17, "STFT", operands), std::string("node \"op\" (STFT), ") + why);
  };
  refused({in({1, 16, 2}), scalar(4), none(), scalar(8)}, "signal: a complex signal is not supported");
  refused({in({1, 16, 1}), scalar(4)}, "frame_length: it is missing");
  refused({in({1, 16, 1}), scalar(0), none(), scalar(8)}, "frame_step: it is 0");
  refused({in({1, 16, 1}), scalar(4), in({8})}, "window: it is computed at run time");
  refused({in({1, 16, 1}), scalar(4), reals({1, 2}), scalar(8)}, "window: 2 numbers for frames of 8");
  refused({in({1, 4, 1}), scalar(4), none(), scalar(8)}, "frame_length: frames of 8 numbers in a signal of 4");
  refused({in({16}), scalar(4), none(), scalar(8)}, "signal: it has the shape [16], expected a batch of signals");
}

TEST_CASE("windows are sums of cosines") {
  check_numbers(window_of("HannWindow", 4, 1), {0, .5, 1, .5});
  check_numbers(window_of("HannWindow", 5, 0), {0, .5, 1, .5, 0});
  check_numbers(window_of("HammingWindow", 5, 0), {4. / 46, 25. / 46, 1, 25. / 46, 4. / 46});
  check_numbers(window_of("BlackmanWindow", 4, 1), {0, .34, 1, .34});
  CHECK(window_of("HannWindow", 1, 0) == floats{1});
  CHECK(value_of(17, "HannWindow", {scalar(5)}, [](node& n) {
          n.set("periodic", 0).set("output_datatype", ::onnx::TensorProto::INT32);
        }).integers == ints{0, 0, 1, 0, 0});
  contains(complaint_of(17, "HannWindow", {scalar(-1)}), "node \"op\" (HannWindow), size: it is -1");
  contains(complaint_of(17, "HannWindow", {integers_in({})}), "size: it is computed at run time");
}

TEST_CASE("mel weights are triangles over the bins of a spectrum") {
  // The example of the specification, with its values.
  auto const m =
      value_of(17, "MelWeightMatrix", {scalar(8), scalar(16), scalar(8192), reals({}, {0}), reals({}, {4096})});
  CHECK(m.dims == ints{9, 8});
  std::vector<double> expected(72, 0);
  for (auto const [bin, band] : std::initializer_list<std::array<std::size_t, 2>>{
           {0, 0}, {0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 6}, {5, 7}})
    expected[bin * 8 + band] = 1;
  check_numbers(m.reals, expected);
  // Wider bands, by the definition: bands + 2 steps of equal size on the mel scale, although only bands + 1 lie
  // between.
  auto const wide =
      value_of(17, "MelWeightMatrix", {scalar(2), scalar(64), scalar(8192), reals({}, {0}), reals({}, {4096})});
  auto const place = [](double step) {
    double const top = 2595 * std::log10(1 + 4096. / 700);
    return std::floor(65 * 700 * (std::pow(10, step * top / 4 / 2595) - 1) / 8192);
  };
  for (std::size_t bin = 0; bin < 33; ++bin)
    for (std::size_t band = 0; band < 2; ++band) {
      double const begin = place(double(band)), peak = place(double(band) + 1), end = place(double(band) + 2);
      double const up = (double(bin) - begin) / (peak - begin), down = (end - double(bin)) / (end - peak);
      CHECK(double(wide.reals[bin * 2 + band]) == doctest::Approx(std::max(0., std::min(up, down))));
    }
  contains(complaint_of(17, "MelWeightMatrix", {scalar(8), scalar(16), scalar(8192), scalar(0), scalar(8192)}),
           "upper_edge_hertz: a band lies beyond half of the sample rate");
}

TEST_CASE("an affine grid is each pixel's place times a matrix") {
  for (int const corners : {0, 1})
    for (ints const& size : {ints{2, 3, 4, 5}, ints{1, 1, 1, 17}, ints{2, 1, 3, 2, 5}}) {
      std::int64_t const axes = std::int64_t(size.size()) - 2;
      floats const theta = random_numbers(size[0] * axes * (axes + 1), 9);
      ints pixels{size.begin() + 2, size.end()};
      pixels.insert(pixels.begin(), std::size_t(3 - axes), 1);
      auto const place = [&](std::int64_t i, std::int64_t n) {
        if (corners) return n == 1 ? 0. : -1 + 2. * double(i) / double(n - 1);
        return -1 + (2. * double(i) + 1) / double(n);
      };
      std::vector<double> y;
      for (std::int64_t b = 0; b < size[0]; ++b)
        for (std::int64_t d = 0; d < pixels[0]; ++d)
          for (std::int64_t h = 0; h < pixels[1]; ++h)
            for (std::int64_t w = 0; w < pixels[2]; ++w) {
              double const at[] = {place(w, pixels[2]), place(h, pixels[1]), place(d, pixels[0])};
              for (std::int64_t row = 0; row < axes; ++row) {
                float const* m = theta.data() + (b * axes + row) * (axes + 1);
                double sum = double(m[axes]);
                for (std::int64_t k = 0; k < axes; ++k) sum += double(m[k]) * at[k];
                y.push_back(sum);
              }
            }
      auto const net = single(20, "AffineGrid", {in({size[0], axes, axes + 1}), list(size)},
                              [&](node& n) { n.set("align_corners", corners); });
      check_equal(executed(net, {theta}), y);
    }
  contains(complaint_of(20, "AffineGrid", {in({1, 2, 3}), list({1, 3, 4})}), "size: 3 numbers, expected 4 for images");
  contains(complaint_of(20, "AffineGrid", {in({1, 2, 3}), list({2, 3, 4, 5})}),
           "theta: it has the shape [1,2,3], expected [2,2,3]");
  contains(complaint_of(20, "AffineGrid", {in({1, 2, 3}), integers_in({4})}), "size: it is computed at run time");
}

TEST_CASE("the middle of an image is cut out, or the image is put into the middle of zeros") {
  floats const x = random_numbers(7 * 4, 11);
  auto const run = [&](ints const& shape, ints const& axes) {
    return executed(single(18, "CenterCropPad", {in({7, 4}), list(shape)},
                           [&](node& n) {
                             if (!axes.empty()) n.set("axes", axes);
                           }),
                    {x});
  };
  check_equal(run({4, 9}, {}), placed(x, 7, 4, 4, 9, -1, 2));
  check_equal(run({10, 1}, {}), placed(x, 7, 4, 10, 1, 1, -1));
  check_equal(run({3}, {-1}), placed(x, 7, 4, 7, 3, 0, 0));
  check_equal(run({3, 6}, {1, 0}), placed(x, 7, 4, 6, 3, 0, 0));
  contains(complaint_of(18, "CenterCropPad", {in({7, 4}), list({3})}), "shape: 1 numbers for 2 axes");
}

TEST_CASE("a running product multiplies what lies before an element, or behind it, with or without itself") {
  for (int const reverse : {0, 1})
    for (int const exclusive : {0, 1})
      for (std::int64_t const extent : {1, 2, 7, 9}) {
        floats const x = random_numbers(3 * extent * 2, 13);
        std::vector<double> y(x.size());
        for (std::int64_t a = 0; a < 3; ++a)
          for (std::int64_t b = 0; b < 2; ++b)
            for (std::int64_t i = 0; i < extent; ++i) {
              double all = 1;
              for (std::int64_t k = 0; k < extent; ++k)
                if ((reverse ? k > i : k < i) || (k == i && !exclusive))
                  all *= double(x[std::size_t((a * extent + k) * 2 + b)]);
              y[std::size_t((a * extent + i) * 2 + b)] = all;
            }
        auto const net = single(26, "CumProd", {in({3, extent, 2}), scalar(-2)},
                                [&](node& n) { n.set("reverse", reverse).set("exclusive", exclusive); });
        check_equal(executed(net, {x}), y);
      }
  contains(complaint_of(26, "CumProd", {in({3}), integers_in({})}), "axis: it is computed at run time");
}
