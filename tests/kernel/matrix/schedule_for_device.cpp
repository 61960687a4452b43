// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles for several threads; what little cores copy first, and the order of Winograd's products there.
#include <ago/kernel/matrix/gather_schedule.hpp>
#include <ago/kernel/matrix/schedule.hpp>
#include <ago/kernel/winograd/schedule.hpp>
#include <ago/plan/convolution_schedule.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;

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
    kernel::become_winograd(key, data, structure::winograd_4, {}, on);
    if (channels == 96) CHECK(percent_of_one(key.tile, 49, channels / 16) > 57);  // so it is not for nothing
    on.threads = 2;
    kernel::become_winograd(key, data, structure::winograd_4, {}, on);
    CHECK(percent_of_one(key.tile, 49, channels / 16) < 52.1);
  }
}

TEST_CASE("a little core gathers inputs of many segments, and large inputs of products with many channels") {
  auto const gathered = [](shape const& in, int channels, int segments, device const& on = cortex_a55) {
    return pays_to_gather(isa::neon, in, channels, segments, on);
  };
  gathering const shuffled = gathered({1, 14, 14, 116}, 116, 8);
  CHECK(shuffled.portion == 116);
  CHECK(shuffled.block < 196);
  CHECK(4 * (shuffled.block + 3 * 4) * 116 < cortex_a55.l1_bytes);  // beside a panel
  gathering const deep = gathered({1, 13, 13, 512}, 1000, 1);
  CHECK(deep.portion < 512);
  CHECK(2 * deep.block > 169);  // the weights are read at most twice
  CHECK(4L * deep.block * deep.portion < cortex_a55.l2_bytes);
  CHECK(gathered({1, 14, 14, 116}, 116, 1).block == 0);
  CHECK(gathered({1, 1, 1, 1024}, 1000, 5).block == 0);
  CHECK(gathered({1, 13, 13, 512}, 1000, 1, cortex_a76).block == 0);
  CHECK(pays_to_gather(isa::avx2, {1, 14, 14, 116}, 116, 8, cortex_a55).block == 0);
}

TEST_CASE("a little core computes Winograd's products point after point, whatever the block") {
  step_data convolution;
  convolution.in = {1, 13, 13, 64};
  convolution.out = {1, 13, 13, 256};
  convolution.win = {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
  options o{.target = isa::neon, .device = cortex_a55};
  auto const chosen = [&](schedule const& wish) {
    kernel_key key{.what = structure::convolution, .target = isa::neon, .in_order = o.device.in_order};
    step_data s = convolution;
    choose_convolution(key, s, wish, o);
    return std::pair(key, s.block);
  };
  kernel_key const usual = chosen({}).first;
  CHECK(usual.what == structure::winograd_4);
  CHECK(usual.points_first);
  CHECK(chosen({.winograd = 4}).first == usual);
  CHECK(chosen({.block = 8, .winograd = 4}) == std::pair(usual, 8));
  CHECK(!chosen({.pixels = 7, .vectors = 2, .winograd = 4}).first.points_first);
  o.device.threads = 2;
  CHECK(!chosen({}).first.points_first);
  o.device = cortex_a76;
  CHECK(!chosen({}).first.points_first);
}

TEST_CASE("a trainer transforms weights for Winograd's algorithm in every step, where images are large enough") {
  auto const chosen = [](storage where, int size) {
    options const o{.target = isa::neon, .device = cortex_a76, .storage = where};
    kernel_key key{.what = structure::convolution, .target = isa::neon};
    step_data s;
    s.win = {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
    s.in = {1, size, size, 64};
    s.out = {1, size, size, 128};
    choose_convolution(key, s, {}, o);
    return key.what;
  };
  CHECK(chosen(storage::own, 14) == structure::winograd_4);
  CHECK(chosen(storage::own, 56) == structure::winograd_4);
  CHECK(winograd_tile(chosen(storage::trained, 14)) == 0);
  CHECK(chosen(storage::trained, 56) == structure::winograd_4);
}

TEST_CASE("a big Arm core computes the smallest images directly, with panels of weights that stay in L1") {
  options const o{.target = isa::neon, .device = cortex_a76};
  kernel_key key{.what = structure::convolution, .target = isa::neon};
  step_data s;
  s.win = {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
  s.in = {1, 3, 3, 64};
  s.out = {1, 3, 3, 256};
  choose_convolution(key, s, {}, o);
  REQUIRE(key.what == structure::convolution);  // Winograd's weights are 16 / 9 as many, and come from beyond L2
  choose_matrix(key, s, {}, {}, o.device);
  CHECK(key.tile.pixels == 1);
  CHECK(key.tile.vectors > 4);
  CHECK(4L * 9 * 64 * key.tile.vectors * 4 < cortex_a76.l1_bytes);
  s.in = {1, 13, 13, 64};
  s.out = {1, 13, 13, 256};
  choose_convolution(key, s, {}, o);
  CHECK(key.what == structure::winograd_4);
}

TEST_CASE("a direct convolution of few channels joins as many pixels as fill registers best") {
  struct choice {
    int pixels;
    isa target;
    int window_columns, floats;
    bool operator==(choice const&) const = default;
  };
  using change = void (*)(kernel_key&, planned_data&, chain_tiling&);
  auto const choice_for = [](int channels, int kernel, int columns, device const& on = {}, change f = nullptr) {
    kernel_key key{.what = structure::convolution, .target = isa::avx512};
    planned_data data;
    data.in = {1, 28, columns, 1};
    data.out = {1, 28, columns, channels};
    data.source.pixel_stride = 1;
    data.destination.pixel_stride = channels;
    data.win = {.kernel_h = kernel, .kernel_w = kernel, .pad_top = kernel / 2, .pad_left = kernel / 2};
    chain_tiling in{};
    if (f) f(key, data, in);
    matrix_unit::choose(key, data, {}, in, on);
    return choice{key.joined_pixels, key.target, with_joined_pixels(key, data).win.kernel_w,
                  int(matrix_unit::packed_floats(key, data))};
  };
  CHECK(choice_for(6, 5, 28) == choice{2, isa::avx512, 6, 16 * (1 + 5 * 6)});
  CHECK(choice_for(3, 3, 56) == choice{4, isa::avx512, 6, 16 * (1 + 3 * 6)});
  CHECK(choice_for(3, 3, 60) == choice{5, isa::avx512, 7, 16 * (1 + 3 * 7)});
  CHECK(choice_for(8, 3, 28).pixels == 2);
  CHECK(choice_for(1, 3, 56).pixels == 4);
  // Not where rows have an odd length or are short, windows are one column, or registers have no room.
  CHECK(choice_for(6, 5, 29) == choice{1, isa::avx512, 5, 16 * (1 + 5 * 5)});
  CHECK(choice_for(6, 5, 14).pixels == 1);
  CHECK(choice_for(6, 1, 28).pixels == 1);
  for (int const channels : {9, 16, 24}) CHECK(choice_for(channels, 3, 28).pixels == 1);
  // Half registers are better filled by six channels than whole ones by two pixels, but not by three.
  CHECK(choice_for(6, 5, 28, zen_4) == choice{1, isa::avx2, 5, 8 * (1 + 5 * 5)});
  CHECK(choice_for(3, 3, 56, zen_4).pixels == 1);
  auto const pixels_if = [&](change f) { return choice_for(6, 5, 28, {}, f).pixels; };
  CHECK(pixels_if([](auto& key, auto&, auto&) { key.after.stages[0].kind = op::silu; }) == 2);
  CHECK(pixels_if([](auto& key, auto&, auto&) { key.after.stages[0].kind = op::bias; }) == 1);
  CHECK(pixels_if([](auto& key, auto&, auto&) { key.after.stages[0].kind = op::add; }) == 1);
  CHECK(pixels_if([](auto& key, auto&, auto&) { key.target = isa::neon; }) == 1);
  CHECK(pixels_if([](auto&, auto& data, auto&) { data.destination.pixel_stride = 9; }) == 1);
  CHECK(pixels_if([](auto&, auto& data, auto&) { data.win.dilation_w = 2; }) == 1);
  CHECK(pixels_if([](auto&, auto& data, auto&) { data.groups = 2; }) == 1);
  CHECK(pixels_if([](auto&, auto&, auto& in) { in = {tiling::channels_rows, 2}; }) == 1);
  CHECK(pixels_if([](auto&, auto&, auto& in) { in = {tiling::rows, 2}; }) == 2);
}

TEST_CASE("a direct convolution takes shorter registers where they leave fewer lanes empty and cost no more") {
  auto const target_for = [](int channels, device const& on, int groups = 1) {
    kernel_key key{.what = structure::convolution, .target = isa::avx512};
    planned_data data;
    data.in = {1, 56, 56, 3 * groups};
    data.out = {1, 28, 28, channels};
    data.groups = groups;
    data.win = {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .pad_top = 1, .pad_left = 1};
    matrix_unit::choose(key, data, {}, {}, on);
    return key.target;
  };
  for (int const channels : {8, 24, 40}) CHECK(target_for(channels, zen_4) == isa::avx2);
  for (int const channels : {16, 32, 48, 64, 15, 31}) CHECK(target_for(channels, zen_4) == isa::avx512);
  for (int channels = 1; channels < 100; ++channels) CHECK(target_for(channels, xeon) == isa::avx512);
  CHECK(target_for(48, zen_4, 2) == isa::avx512);  // 24 channels in each group
}
