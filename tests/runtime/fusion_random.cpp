// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of random shapes, windows and epilogues, with random tiles, on all tested instruction sets.
#include "drawing.hpp"
#include "fusion.hpp"

#include <utility>

using namespace model_test;

namespace {

constexpr tensor activated(tensor x, int kind) {
  switch (kind) {
    case 0: return x | batch_norm{} | relu6{};
    case 1: return x | bias{} | hard_swish{};
    case 2: return x | silu{};
    case 3: return x | batch_norm{};
    default: return x;
  }
}

/// pointwise, convolution or depthwise -> depthwise [-> pointwise, perhaps with a residual].
template <unsigned S>
inline constexpr auto chain =
    input{.n = draw(S, 0, 1, 2),
          .h = draw(S, 1, 4, 15),
          .w = draw(S, 2, 4, 15),
          .c = S % 4 == 3 ? draw(S, 4, 18, 101) : draw(S, 3, 1, 40)} |
    [](tensor x) {
      int const hidden = draw(S, 4, 18, 101), side = draw(S, 5, 0, 1), k = 1 + 2 * draw(S, 6, 0, 3);
      tensor y = S % 4 == 3   ? x | depthwise{.kernel = 3, .pad = 1}
                 : S % 4 == 2 ? x | conv2d{.out = hidden, .kernel = {2, 3}, .stride = 1 + side, .pad = 1}
                              : x | pointwise{hidden};
      y = activated(y, draw(S, 7, 0, 4));
      pads const around = {draw(S, 8, k / 2, k - 1 < 2 ? k / 2 : k - 1), k / 2, k / 2, draw(S, 9, k / 2, k - 1)};
      y = activated(y | depthwise{.kernel = k, .stride = draw(S, 10, 1, 2), .pad = k > 1 ? around : pads{}},
                    draw(S, 11, 0, 4));
      if (draw(S, 12, 0, 2) == 0) return y;
      bool const residual = draw(S, 13, 0, 1) && y.height() == x.height() && y.width() == x.width();
      y = activated(y | pointwise{residual ? x.channels() : draw(S, 14, 1, 70)}, draw(S, 15, 0, 4));
      return residual ? x + y : y;
    };

constexpr unsigned networks = 6;  // tests/differential/planned.cpp runs far more

template <unsigned S>
void compare_random() {
  CAPTURE(S);
  constexpr int tile = draw(S, 16, 1, 60);
  compare<chain<S>, joined<tiling::rows>, target_of(S)>("rows");
  compare<chain<S>, joined<tiling::channels, tile>, target_of(S)>("channels");
  compare<chain<S>, joined<tiling::channels_rows, tile>, target_of(S)>("channels and rows");
}

}  // namespace

TEST_CASE("chains of random shapes give the unfused result in every tiling") {
  [&]<unsigned... S>(std::integer_sequence<unsigned, S...>) {
    (compare_random<S>(), ...);
  }(std::make_integer_sequence<unsigned, networks>());
}
