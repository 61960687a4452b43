// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random networks, divided along random axes for two to four threads, on all tested instruction sets.
#include "drawing.hpp"
#include "threads.hpp"

#include <utility>

using namespace model_test;

namespace {

constexpr tensor activated(tensor x, int kind) {
  switch (kind) {
    case 0: return x | batch_norm{} | relu6{};
    case 1: return x | bias{} | hard_swish{};
    case 2: return x | silu{};
    case 3: return x | prelu{};
    default: return x;
  }
}

/// Layer number k.
constexpr tensor layer(tensor x, unsigned seed, unsigned k) {
  int const kernel = 1 + draw(seed, k, 0, 4), stride = draw(seed, k + 1, 1, 2), out = draw(seed, k + 2, 1, 130);
  pads const around = {kernel / 2, kernel / 2, kernel / 2, kernel / 2};
  switch (draw(seed, k + 3, 0, 8)) {
    case 0: return x | conv2d{.out = out, .kernel = kernel, .stride = stride, .pad = around};
    case 1: return x | conv2d{.out = out, .kernel = 3, .pad = 1};
    case 2: return x | depthwise{.kernel = kernel, .stride = stride, .pad = around};
    case 3: return x | max_pool{.kernel = kernel, .stride = stride, .pad = around};
    case 4: return x | avg_pool{.kernel = kernel, .stride = stride, .pad = around, .count_pads = out % 2 == 0};
    case 5: return x + (x | pointwise{x.channels()} | sigmoid{});
    case 6: return x | layer_norm{};
    case 7: return x | linear{3 * 24} | attention{.heads = draw(seed, k + 4, 1, 4)};
    default: return x | pointwise{out};
  }
}

template <unsigned S>
inline constexpr auto network = input{.n = draw(S, 0, 0, 3) ? 1 : draw(S, 1, 2, 4),
                                      .h = draw(S, 2, 6, 26),
                                      .w = draw(S, 3, 6, 19),
                                      .c = draw(S, 4, 1, 60)} |
                                [](tensor x) {
                                  for (unsigned k = 10; k < 60; k += 10)
                                    x = activated(layer(x, S, k), draw(S, k + 5, 0, 4));
                                  return x;
                                };

#ifdef AGO_TEST_FULL
constexpr unsigned networks = 4;
#else
constexpr unsigned networks = 3;  // tests/differential/planned.cpp runs far more
#endif

template <unsigned S>
int compare_random() {
  CAPTURE(S);
  constexpr split how[] = {split::images, split::rows, split::pixels, split::channels};
  constexpr tiling tilings[] = {tiling::none, tiling::rows, tiling::channels, tiling::channels_rows, tiling::pixels};
  constexpr auto const& cuts = cut<how[draw(S, 5, 0, 3)], tilings[draw(S, 6, 0, 4)], draw(S, 7, 1, 60)>;
  constexpr int threads = draw(S, 8, 2, 4);
  using one = program<network<S>, untuned, options{.target = target_of(S)}>;
  using several = program<network<S>, untuned, options{.target = target_of(S), .threads = {threads}}>;
  CHECK(result_of<several, network<S>>(differential::edge::end) == result_of<one, network<S>>(differential::edge::end));
  return compare_cut<network<S>, cuts, threads, target_of(S)>();
}

}  // namespace

TEST_CASE("random networks divided into work items give bit-identical results") {
  int const pieces = []<unsigned... S>(std::integer_sequence<unsigned, S...>) {
    return (compare_random<S>() + ...);
  }(std::make_integer_sequence<unsigned, networks>());
  CHECK(pieces > 2 * int(networks));
}
