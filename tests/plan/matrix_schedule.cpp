// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles for several threads.
#include <ago/plan/matrix_schedule.hpp>
#include <ago/plan/winograd_schedule.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace ago;

namespace {

/// What the thread that has most must compute of `pixels` x `vectors` if two share whole register tiles, in percent.
double percent_of_one(register_tile const& t, int pixels, int vectors) {
  auto const most = [](int extent, int tile) {
    int most = 0;
    for (int first = 0; first < extent; first += 2 * tile) most += std::min(tile, extent - first);
    return 100. * most / extent;
  };
  return std::min(most(pixels, t.pixels), most(vectors, t.vectors));
}

}  // namespace

TEST_CASE("register tiles for two threads let them share the work evenly") {
  for (isa const target : {isa::avx2, isa::avx512, isa::neon}) {
    CAPTURE(name_of(target));
    for (shape const& image :
         {shape{1, 13, 13, 1000}, {1, 7, 7, 96}, {1, 56, 56, 64}, {1, 7, 7, 960}, {1, 28, 28, 144}}) {
      CAPTURE(image.h);
      CAPTURE(image.c);
      int const pixels = image.h * image.w, vectors = padded(image.c, target) / lanes(target);
      matrix_work const work{.pixels = pixels, .channels = image.c, .depth = 512, .cold = true, .threads = 2};
      CHECK(percent_of_one(matrix_tile(target, work), pixels, vectors) < 52.1);
    }
  }
}

TEST_CASE("tiles of Winograd for two threads let them share the work evenly") {
  for (int const channels : {64, 96, 128, 192}) {
    CAPTURE(channels);
    kernel_key key{.what = structure::convolution, .target = isa::avx512};
    step_data data;
    data.in = data.out = {1, 28, 28, channels};
    data.win = {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    device on;
    detail::become_winograd(key, data, structure::winograd_4, {}, on);
    if (channels == 96) CHECK(percent_of_one(key.tile, 49, channels / 16) > 57);  // so it is not for nothing
    on.threads = 2;
    detail::become_winograd(key, data, structure::winograd_4, {}, on);
    CHECK(percent_of_one(key.tile, 49, channels / 16) < 52.1);
  }
}
