// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An operator of one's own, with weights and an activation after it, compared with its loops.
#include <ago/ago.hpp>
#include <ago/expressions.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

// [operator]
/// A convolution with weights of its own at every position, for images whose parts are always in the same place.
inline constexpr auto locally_connected = [](int channels, int kernel) {
  using namespace ago::expression;
  return compute("locally_connected", [=](operand x, weights parameter) {  // x[n, h, w, c]
    operand const weight = parameter("weight");
    var n, p, q, k{channels}, r{kernel}, s{kernel}, c;
    return result(n, p, q, k) = sum(r, s, c)(x(n, p + r, q + s, c) * weight(p, q, k, r, s, c));
  });
};
// [/operator]

// [network]
inline constexpr auto network =
    ago::input{.h = 6, .w = 7, .c = 5} | locally_connected(8, 3) | ago::bias{} | ago::relu{};

using compiled = ago::model<network>;
constexpr int window = 3 * 3 * 5, results = 4 * 5 * 8;
static_assert(compiled::parameter_count == results * window + 8);
static_assert(compiled::steps == 1);  // bias and relu are applied while the sums are in registers
// [/network]

// [test]
int main() {
  static float weights[compiled::parameter_count], image[6 * 7 * 5], out[results];
  unsigned state = 1;
  auto const any = [&] { return float((state = state * 1664525 + 1013904223) >> 9) * 0x1p-22f - 1; };  // from -1 to 1
  std::ranges::generate(weights, any);
  std::ranges::generate(image, any);
  static compiled net{weights};
  net(image, out);

  double worst = 0;
  float const *w = weights, *bias = weights + results * window, *result = out;
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 5; ++q)
      for (int k = 0; k < 8; ++k) {
        double sum = double(bias[k]);
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s)
            for (int c = 0; c < 5; ++c) sum += double(*w++) * double(image[((p + r) * 7 + q + s) * 5 + c]);
        double const difference = std::fabs(std::max(sum, 0.) - double(*result++));
        if (!(difference <= worst)) worst = difference;
      }
  std::printf("%s\n", worst < 1e-5 ? "the results agree" : "the results differ");
  return worst < 1e-5 ? 0 : 1;
}
// [/test]
