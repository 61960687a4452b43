// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions whose operand elementwise operators compute where it is copied: bit-identical to two steps, also for
// several threads.
#include <ago/expressions.hpp>

#include "threads.hpp"

using namespace model_test;

namespace {

using namespace ago::expression;

/// Products of two channels, summed up over an image.
inline constexpr auto products_of_channels = compute("products_of_channels", [](operand a, operand b) {
  var n, h, w, c, k;
  return result(n, c, k) = sum(h, w)(a(n, h, w, c) * b(n, h, w, k));
});
/// Of each channel with its neighbours in the other value, which is padded.
inline constexpr auto products_of_neighbours = compute("products_of_neighbours", [](operand a, operand b) {
  var n, h, w, c, r{3}, s{3};
  return result(c, r, s) = sum(n, h, w)(a(n, h, w, c) * padded(b, 0)(n, h + r - 1, w + s - 1, c));
});

constexpr auto image(int n, int c) { return input{.n = n, .h = 23, .w = 19, .c = c}; }
constexpr tensor normalised(tensor x) { return x | batch_norm{} | relu6{}; }

inline constexpr auto first =
    trace([](tensor x, tensor y) { return products_of_channels(normalised(x), y); }, image(1, 24), image(1, 70));
inline constexpr auto second =
    trace([](tensor x, tensor y) { return products_of_channels(x, normalised(y)); }, image(1, 24), image(1, 70));
inline constexpr auto images =
    trace([](tensor x, tensor y, tensor gate) { return products_of_channels(x, y * gate | relu{}); }, image(3, 21),
          image(3, 33), input{.n = 3, .c = 33});
inline constexpr auto neighbours =
    trace([](tensor x, tensor y) { return products_of_neighbours(x, normalised(y)); }, image(2, 53), image(2, 53));

}  // namespace

TEST_CASE("elementwise operators that compute an operand of a contraction are bit-identical to a step of their own") {
  compare<first, joined<tiling::operand>>("first");
  compare<second, joined<tiling::operand>>("second");
  compare<images, joined<tiling::operand>>("images");
  compare<neighbours, joined<tiling::operand>>("neighbours");
  compare<second, joined<tiling::operand>, isa::emulated128>("second");
  compare<neighbours, joined<tiling::operand>, isa::scalar>("neighbours");
}

TEST_CASE("work items of a contraction each compute what they copy of an operand") {
  CHECK(compare_cut<second, cut<split::pixels, tiling::operand>, 2>() == 2);
  CHECK(compare_cut<images, cut<split::pixels, tiling::operand>, 3>() == 3);
  CHECK(compare_cut<neighbours, cut<split::pixels, tiling::operand>, 2>() == 2);
}
