// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transposed convolutions compared with their definition: every pixel adds its window to the result.
#include "networks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace ago;

namespace {

/// The result of PyTorch's definition for an image {n, h, w, c}, in double.
std::vector<double> scattered(shape const& in, shape const& out, conv_transpose const& l, pads const& p,
                              std::vector<float> const& x, std::vector<float> const& weights) {
  int const inputs = in.c / l.groups, outputs = out.c / l.groups;
  std::vector<double> y(std::size_t(out.count()), 0);
  for (int n = 0; n < in.n; ++n)
    for (int iy = 0; iy < in.h; ++iy)
      for (int ix = 0; ix < in.w; ++ix)
        for (int c = 0; c < in.c; ++c)
          for (int o = 0; o < outputs; ++o)
            for (int ky = 0; ky < l.kernel.h; ++ky)
              for (int kx = 0; kx < l.kernel.w; ++kx) {
                int const oy = iy * l.stride.h + ky * l.dilation.h - p.top;
                int const ox = ix * l.stride.w + kx * l.dilation.w - p.left;
                if (oy < 0 || oy >= out.h || ox < 0 || ox >= out.w) continue;
                long const to = ((long(n) * out.h + oy) * out.w + ox) * out.c + c / inputs * outputs + o;
                long const from = ((long(n) * in.h + iy) * in.w + ix) * in.c + c;
                long const weight = ((long(c) * outputs + o) * l.kernel.h + ky) * l.kernel.w + kx;
                y[std::size_t(to)] += double(x[std::size_t(from)]) * double(weights[std::size_t(weight)]);
              }
  std::size_t const bias = std::size_t(in.c * outputs * l.kernel.h * l.kernel.w);
  for (std::size_t i = 0; l.bias && i < y.size(); ++i) y[i] += double(weights[bias + i % std::size_t(out.c)]);
  return y;
}

/// `Net` is an image and the layer `l` with the pads `p`; the result has the extents `out`.
template <auto const& Net, isa I>
void check(conv_transpose const& l, pads const& p, shape const& out) {
  using program = ago::program<Net, untuned, options{.target = I}>;
  shape const in = program::graph.nodes[0].out;
  REQUIRE(program::graph.nodes[program::graph.outputs[0]].out == out);
  auto const x = model_test::random_floats(std::size_t(in.count()), 1);
  auto const weights = model_test::random_floats(program::parameter_count, 2);
  auto const y = model_test::result_of<Net, options{.target = I}>(x, weights);
  auto const expected = scattered(in, out, l, p, x, weights);
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) worst = std::max(worst, std::fabs(double(y[i]) - expected[i]));
  CHECK(worst < 2e-5);
}

template <auto const& Net>
void check_all(conv_transpose const& l, pads const& p, shape const& out) {
  check<Net, native_isa>(l, p, out);
  check<Net, isa::scalar>(l, p, out);
}

}  // namespace

// Extents as PyTorch documents them: (h - 1) * stride - 2 * pad + dilation * (kernel - 1) + output_pad + 1.
#define CHECK_LAYER(image, pads, out, ...)           \
  do {                                               \
    static constexpr conv_transpose l = __VA_ARGS__; \
    static constexpr auto net = input image | l;     \
    check_all<net>(l, pads, shape out);              \
  } while (false)

TEST_CASE("a transposed convolution adds the windows of its pixels") {
  ago::pads const none{}, one{1, 1, 1, 1}, uneven{0, 1, 2, 0};
  CHECK_LAYER(({.n = 2, .h = 5, .w = 4, .c = 6}), none, ({2, 10, 8, 7}),
              {.out = 7, .kernel = 2, .stride = 2, .bias = true});
  CHECK_LAYER(({.h = 5, .w = 4, .c = 20}), one, ({1, 10, 8, 3}), {.out = 3, .kernel = 4, .stride = 2, .pad = 1});
  CHECK_LAYER(({.h = 5, .w = 4, .c = 5}), one, ({1, 10, 8, 9}),
              {.out = 9, .kernel = 3, .stride = 2, .pad = 1, .output_pad = 1, .bias = true});
  CHECK_LAYER(({.n = 2, .h = 3, .w = 3, .c = 4}), none, ({2, 7, 7, 2}), {.out = 2, .kernel = 3, .stride = 2});
  CHECK_LAYER(({.h = 9, .w = 8, .c = 17}), one, ({1, 9, 8, 16}), {.out = 16, .kernel = 3, .pad = 1});
  CHECK_LAYER(({.h = 4, .w = 6, .c = 3}), uneven, ({1, 4, 12, 5}),
              {.out = 5, .kernel = 3, .stride = {1, 2}, .pad = ago::pads{0, 1, 2, 0}});
}

TEST_CASE("with gaps between the windows, wide strides, dilation, and a kernel of one pixel") {
  ago::pads const none{}, one{1, 1, 1, 1}, two{2, 2, 2, 2};
  CHECK_LAYER(({.h = 4, .w = 3, .c = 3}), none, ({1, 10, 7, 4}), {.out = 4, .kernel = 1, .stride = 3});
  CHECK_LAYER(({.h = 4, .w = 5, .c = 3}), one, ({1, 5, 7, 4}), {.out = 4, .kernel = 1, .stride = 2, .pad = 1});
  CHECK_LAYER(({.h = 4, .w = 3, .c = 3}), none, ({1, 14, 11, 4}), {.out = 4, .kernel = 5, .stride = 3});
  CHECK_LAYER(({.h = 5, .w = 5, .c = 4}), two, ({1, 5, 5, 3}), {.out = 3, .kernel = 3, .pad = 2, .dilation = 2});
  CHECK_LAYER(({.h = 4, .w = 4, .c = 4}), one, ({1, 10, 10, 3}),
              {.out = 3, .kernel = 3, .stride = 2, .pad = 1, .output_pad = 1, .dilation = 2});
  CHECK_LAYER(({.h = 3, .w = 3, .c = 2}), two, ({1, 7, 7, 2}), {.out = 2, .kernel = 3, .stride = 4, .pad = 2});
  CHECK_LAYER(({.h = 1, .w = 1, .c = 8}), none, ({1, 4, 4, 6}), {.out = 6, .kernel = 4});
}

TEST_CASE("in groups, and each channel alone") {
  ago::pads const none{}, one{1, 1, 1, 1};
  CHECK_LAYER(({.h = 4, .w = 4, .c = 6}), one, ({1, 8, 8, 4}),
              {.out = 4, .kernel = 4, .stride = 2, .pad = 1, .groups = 2});
  CHECK_LAYER(({.n = 2, .h = 4, .w = 3, .c = 6}), none, ({2, 8, 6, 6}),
              {.out = 6, .kernel = 2, .stride = 2, .groups = 6, .bias = true});
  CHECK_LAYER(({.h = 5, .w = 5, .c = 6}), one, ({1, 5, 5, 6}), {.out = 6, .kernel = 3, .pad = 1, .groups = 6});
  CHECK_LAYER(({.h = 5, .w = 5, .c = 6}), one, ({1, 5, 5, 9}), {.out = 9, .kernel = 3, .pad = 1, .groups = 3});
}

TEST_CASE("same enlarges the image by a factor of the stride") {
  CHECK_LAYER(({.h = 5, .w = 4, .c = 3}), (ago::pads{0, 0, 1, 1}), ({1, 10, 8, 2}),
              {.out = 2, .kernel = 3, .stride = 2, .pad = same});
  CHECK_LAYER(({.h = 5, .w = 4, .c = 3}), (ago::pads{}), ({1, 15, 12, 2}),
              {.out = 2, .kernel = 2, .stride = 3, .pad = same});
}
