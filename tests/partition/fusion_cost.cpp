// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/partition/fusion_cost.hpp>
#include <doctest/doctest.h>

#include <initializer_list>

using namespace ago;
using namespace ago::partition;

namespace {

constexpr chain_link matrix(int side, int in, int out) {
  return {op::pointwise, {1, side, side, in}, {1, side, side, out}, {}, 4L * in * out};
}
constexpr chain_link filter(int side, int channels, int stride = 1, int kernel = 3) {
  int const out = (side + stride - 1) / stride, pad = kernel / 2;
  return {op::depthwise,
          {1, side, side, channels},
          {1, out, out, channels},
          {kernel, kernel, stride, stride, 1, 1, pad, pad, pad, pad},
          4L * kernel * kernel * channels};
}
/// An inverted residual of MobileNet-V2: image, channels, and the best tiling of its first two or all three parts.
template <int Parts>
constexpr tiling_choice residual(int side, int in, int hidden, int out, int stride, device const& on = {}) {
  chain_link const chain[] = {matrix(side, in, hidden), filter(side, hidden, stride),
                              matrix((side + stride - 1) / stride, hidden, out)};
  return best_tiling(chain, Parts, on);
}
constexpr auto whole = residual<3>;
constexpr auto pair = residual<2>;

}  // namespace

TEST_CASE("large images with long rows are fused by rows, all three operators") {
  static_assert(whole(112, 16, 96, 24, 2, {}).best.how == tiling::rows);
  static_assert(whole(56, 24, 144, 24, 1, {}).best.how == tiling::rows);
  static_assert(whole(56, 24, 144, 24, 1, {}).saved > pair(56, 24, 144, 24, 1, {}).saved);
  static_assert(whole(28, 32, 192, 32, 1, cortex_a53).best.how != tiling::channels);
}

TEST_CASE("small images are fused by channels, two or three operators") {
  static_assert(pair(14, 96, 576, 96, 1, {}).best == chain_tiling{tiling::channels, 64});
  static_assert(whole(28, 32, 192, 32, 1, {}).best == chain_tiling{tiling::channels, 96});
  static_assert(pair(28, 32, 192, 64, 2, {}).best.how == tiling::channels);
  static_assert(pair(28, 32, 192, 64, 2, {}).saved > whole(28, 32, 192, 64, 2, {}).saved);
  static_assert(pair(7, 160, 960, 160, 1, {}).best.how == tiling::channels);
  static_assert(pair(7, 160, 960, 160, 1, {}).saved > 0);
}

TEST_CASE("values that stay in L1, and rows of few pixels, are not fused") {
  static_assert(pair(2, 160, 960, 160, 1, {}).saved <= 0);
  static_assert(whole(2, 160, 960, 160, 1, {}).saved <= 0);
  static_assert(whole(7, 8, 48, 8, 1, {}).saved <= 0);
  static_assert(whole(14, 16, 48, 16, 1, {}).saved <= 0);
  constexpr chain_link narrow[] = {{op::pointwise, {1, 4000, 4, 16}, {1, 4000, 4, 96}, {}, 4L * 16 * 96},
                                   {op::depthwise, {1, 4000, 4, 96}, {1, 4000, 4, 96}, {3, 3}, 4L * 9 * 96}};
  static_assert(saved_by(narrow, 2, {tiling::rows, 0}, {}) == 0);
}

TEST_CASE("a convolution that Winograd computes faster is not fused") {
  constexpr auto stem = [](int in, int stride) {
    chain_link const chain[] = {
        {op::conv2d, {1, 112 * stride, 112 * stride, in}, {1, 112, 112, 32}, {3, 3, stride, stride}, 4L * 9 * in * 32},
        filter(112, 32)};
    return best_tiling(chain, 2, {}).saved;
  };
  static_assert(stem(3, 2) > 0 && stem(3, 1) > 0 && stem(32, 2) > 0 && stem(32, 1) == 0);
}

TEST_CASE("rows whose ring buffer and weights exceed a small L2 are tiled within chunks of channels") {
  static_assert(pair(112, 16, 96, 24, 2, cortex_a53).best.how == tiling::channels_rows);
  static_assert(pair(112, 16, 96, 24, 2, cortex_a55).best == chain_tiling{tiling::channels_rows, 32});
  static_assert(pair(56, 24, 144, 24, 1, cortex_a55).best.how == tiling::channels_rows);
  static_assert(whole(56, 24, 144, 24, 1, cortex_a76).best.how == tiling::rows);
  static_assert(pair(28, 116, 116, 116, 2, cortex_a55).best.how == tiling::channels_rows);
  static_assert(pair(14, 232, 232, 232, 2, cortex_a55).saved <= 0);  // a row and its weights do not fit L1
  static_assert(pair(7, 160, 960, 160, 1, cortex_a76).best.how == tiling::channels);
}

TEST_CASE("a product whose input a small L2 cannot hold joins the depthwise operator before it") {
  // The last two parts of an inverted residual.
  constexpr auto tail = [](int side, int hidden, int out, int stride, device const& on) {
    chain_link const chain[] = {filter(side, hidden, stride), matrix((side + stride - 1) / stride, hidden, out)};
    return best_tiling(chain, 2, on);
  };
  for (int out : {160, 320}) {  // at 7x7, as in MobileNet-V2
    CHECK(tail(7, 960, out, 1, cortex_a55).saved > pair(7, 160, 960, out, 1, cortex_a55).saved);
    CHECK(by_channels(tail(7, 960, out, 1, cortex_a55).best.how));
    CHECK(tail(7, 960, out, 1, {}).saved < tail(7, 960, out, 1, cortex_a55).saved / 20);
  }
  static_assert(tail(14, 576, 96, 1, cortex_a55).saved > pair(14, 96, 576, 96, 1, cortex_a55).saved);
  static_assert(tail(14, 576, 96, 1, {}).saved < pair(14, 96, 576, 96, 1, {}).saved);
  static_assert(whole(28, 32, 192, 32, 1, cortex_a55).best == chain_tiling{tiling::channels_rows, 96});
  static_assert(whole(28, 32, 192, 32, 1, cortex_a55).saved > tail(28, 192, 32, 1, cortex_a55).saved);
  static_assert(whole(56, 24, 144, 24, 1, cortex_a55).saved > pair(56, 24, 144, 24, 1, cortex_a55).saved);
  static_assert(whole(14, 64, 384, 64, 1, cortex_a76).saved > pair(14, 64, 384, 64, 1, cortex_a76).saved);
}

TEST_CASE("whole images that exceed a small L2 give way to rows within chunks") {
  static_assert(pair(14, 96, 576, 160, 2, {}).best.how == tiling::channels);
  static_assert(pair(14, 96, 576, 160, 2, cortex_a55).best.how == tiling::channels_rows);
}

TEST_CASE("a cache block takes a quarter of L2, or what justifies loading a panel of weights") {
  using partition::block_of;
  constexpr long kb = 1 << 10;
  CHECK(block_of(200, kb / 2, 8 * kb, 8, 64, cortex_a55) == 0);    // 100 KB stay beside a panel
  CHECK(block_of(400, kb / 2, 8 * kb, 8, 64, cortex_a55) == 64);   // 32 KB
  CHECK(block_of(800, kb / 4, 8 * kb, 8, 64, cortex_a55) == 128);  // likewise
  CHECK(block_of(400, kb, 8 * kb, 8, 64, cortex_a55) == 64);       // more than 32 KB
  CHECK(block_of(400, 2 * kb, 8 * kb, 8, 64, cortex_a55) == 48);   // what fits L2
  CHECK(block_of(400, 4 * kb, 8 * kb, 8, 64, cortex_a55) == 0);    // too little
}

TEST_CASE("a byte costs more the more bytes are used until it is used again, and at most what memory and L2 cost") {
  for (device const& on : {device{}, cortex_a53, cortex_a55, cortex_a76}) {
    std::int64_t before = 0;
    for (long distance = 0; distance < 2 * on.l2_bytes; distance += on.l2_bytes / 256) {
      std::int64_t const price = partition::price_after(distance, on);
      CHECK(price >= before);
      before = price;
    }
    CHECK(before == partition::near_price(on) + partition::far_price(on));
    CHECK(partition::price_after(on.l1_bytes * 4 / 5, on) == 0);
    CHECK(partition::price_after(on.l1_bytes * 6 / 5, on) == partition::near_price(on));
  }
}

TEST_CASE("a sweep reads every byte once for each panel of a block, and writes it in the middle") {
  constexpr partition::sweep once{}, panels{1, 4}, both{2, 4};
  constexpr auto at = [](int numerator, int denominator) { return partition::sweep::whole * numerator / denominator; };
  static_assert(once.first_read(at(1, 4)) == at(1, 4) && once.last_read(at(1, 4)) == at(1, 4));
  static_assert(panels.first_read(at(1, 2)) == at(1, 8) && panels.last_read(at(1, 2)) == at(7, 8));
  static_assert(panels.written(at(1, 8)) == at(1, 2) && once.written(at(1, 8)) == at(1, 8));
  static_assert(both.first_read(at(3, 4)) == at(9, 16) && both.last_read(at(3, 4)) == at(15, 16));
  static_assert(both.written(at(1, 8)) == at(1, 4) && both.written(at(7, 8)) == at(3, 4));
}

TEST_CASE("the input of a chain that its last link adds is not read again by a pipeline") {
  chain_link chain[] = {matrix(28, 32, 192), filter(28, 192), matrix(28, 192, 32)};
  std::int64_t const without = best_tiling(chain, 3, cortex_a55).saved;
  chain[2].adds = 0;
  std::int64_t const input = 4L * 28 * 28 * 32;
  std::int64_t const of_line = partition::near_price(cortex_a55) + partition::far_price(cortex_a55);
  CHECK(best_tiling(chain, 3, cortex_a55).saved == without + input * of_line);  // L2 has evicted it
  CHECK(best_tiling(chain, 3, {.l2_bytes = 64 << 20}).saved > 0);
}

TEST_CASE("matrices that would displace each other from L2 are not tiled by rows") {
  constexpr chain_link wide[] = {matrix(28, 256, 1024), filter(28, 1024), matrix(28, 1024, 1024)};
  static_assert(saved_by(wide, 3, {tiling::rows, 0}, {}) < 0);
  static_assert(saved_by(wide, 3, {tiling::rows, 0}, {.l2_bytes = 4 << 20}) < 0);
  static_assert(saved_by(wide, 3, {tiling::rows, 0}, {.l2_bytes = 8 << 20}) > 0);
  static_assert(saved_by(wide, 2, {tiling::rows, 0}, {.l2_bytes = 4 << 20}) > 0);
}

TEST_CASE("perceptrons are fused in runs of pixels if their matrices fit and the hidden value does not") {
  constexpr auto perceptron = [](int pixels, int in, int hidden) {
    chain_link const chain[] = {{op::linear, {1, 1, pixels, in}, {1, 1, pixels, hidden}, {}, 4L * in * hidden},
                                {op::linear, {1, 1, pixels, hidden}, {1, 1, pixels, in}, {}, 4L * in * hidden}};
    return best_tiling(chain, 2, {});
  };
  static_assert(perceptron(3136, 96, 384).best.how == tiling::pixels && perceptron(3136, 96, 384).saved > 0);
  static_assert(perceptron(128, 256, 1024).best.how != tiling::pixels);
  static_assert(perceptron(16, 96, 384).saved <= 0);
}

TEST_CASE("by channels, the middle is depthwise; in runs of pixels, all are matrix products") {
  constexpr chain_link a = matrix(8, 8, 40), b = matrix(8, 40, 40), f = filter(8, 40);
  constexpr chain_link pair[] = {a, b}, triple[] = {a, f, b}, middle[] = {a, b, f}, filters[] = {f, f, f}, one[] = {a};
  for (tiling how : {tiling::channels, tiling::channels_rows}) {
    CHECK(allows(pair, 2, how));
    CHECK(allows(triple, 3, how));
    CHECK(allows(triple, 2, how));
    CHECK(allows(filters, 3, how));
    CHECK_FALSE(allows(middle, 3, how));
    CHECK_FALSE(allows(one, 1, how));
  }
  CHECK(allows(pair, 2, tiling::pixels));
  CHECK_FALSE(allows(triple, 3, tiling::pixels));
  CHECK(allows(middle, 3, tiling::rows));
  CHECK_FALSE(allows(middle, 3, tiling::none));
}

TEST_CASE("no chunk contains all channels of a value") {
  for (int channels = 1; channels < 300; ++channels) {
    chain_link const chain[] = {matrix(9, 8, channels), filter(9, channels), matrix(9, channels, 8)};
    for (int count = 2; count <= 3; ++count)
      for (device const& on : {device{}, cortex_a55, device{256, 1024}}) {
        chain_tiling const t = best_tiling(chain, count, on).best;
        REQUIRE(t.how != tiling::none);
        if (by_channels(t.how)) REQUIRE(t.tile < channels);
      }
  }
}

TEST_CASE("on a core that runs in order, chunks are better if three vectors divide them") {
  constexpr chain_link chain[] = {matrix(14, 96, 576), filter(14, 576, 2)};
  device out_of_order = cortex_a55;
  out_of_order.in_order = false;
  auto const extra = [&](int tile, device const& on) {
    return partition::narrow_tiles(chain[0], {tiling::channels_rows, tile}, on);
  };
  CHECK(extra(48, cortex_a55) == 0);
  CHECK(extra(96, cortex_a55) == 0);
  CHECK(extra(64, cortex_a55) > 0);
  CHECK(extra(64, cortex_a55) == extra(32, cortex_a55));
  CHECK(extra(64, out_of_order) == 0);
  CHECK(best_tiling(chain, 2, cortex_a55).best.tile % 12 == 0);
}

TEST_CASE("a device on which lines cost more saves more by the same chain") {
  constexpr chain_link chain[] = {matrix(56, 24, 144), filter(56, 144)};
  device dear = cortex_a76;
  dear.line_from_l2 *= 2;
  dear.line_from_memory *= 2;
  CHECK(best_tiling(chain, 2, dear).saved > best_tiling(chain, 2, cortex_a76).saved);
}

TEST_CASE("runs of pixels do not pay if L2 holds neither the input of long ones nor the matrices for short ones") {
  chain_link const chain[] = {matrix(56, 256, 64), matrix(56, 64, 256)};
  device larger = cortex_a55;
  larger.l2_bytes *= 4;
  CHECK(best_tile(chain, 2, tiling::pixels, cortex_a55).saved < 0);
  CHECK(best_tile(chain, 2, tiling::pixels, larger).saved > 0);
}

TEST_CASE("for several threads, chunks of channels come in numbers that they can share") {
  device two = zen_5;
  two.threads = 2;
  two.line_from_core = 0;
  chain_link const chain[] = {matrix(28, 32, 192), filter(28, 192)};
  chain_tiling const three{tiling::channels, 64}, four{tiling::channels, 48};
  CHECK(most_products(chain, 2, three, two) > most_products(chain, 2, four, two));
  std::int64_t products = 0;
  for (chain_link const& l : chain) products += l.weight_bytes / 4 * l.out.pixels();
  CHECK(most_products(chain, 2, four, two) == products / 2);
  CHECK(best_tile(chain, 2, tiling::channels, two).best == four);
}

TEST_CASE("a chain that threads divide along channels pays for the lines that their cores exchange") {
  chain_link const pair[] = {matrix(14, 64, 384), filter(14, 384)};
  chain_tiling const chunks{tiling::channels, 48};
  device two, near;
  two.threads = near.threads = 2;
  near.line_from_core = 0;
  CHECK(saved_by(pair, 2, chunks, near) > 0);
  CHECK(saved_by(pair, 2, chunks, two) < 0);
  std::int64_t const lines = (4L * 14 * 14 * 64 + 3L * 14 * 14 * 384 * 4 / 2) / 64;
  std::int64_t const by_pixels = partition::far_price(two) * pair[0].weight_bytes;  // 14 tiles of 14: shared evenly
  CHECK(exchange_price(pair, 2, chunks, two) == 64 * partition::cycle_price * two.line_from_core * lines - by_pixels);
  CHECK(exchange_price(pair, 2, {tiling::rows, 0}, two) == 0);
  chain_link const small[] = {matrix(4, 64, 64), filter(4, 64)};  // uneven along pixels, too
  CHECK(exchange_price(small, 2, {tiling::channels, 32}, two) <
        64 * partition::cycle_price * two.line_from_core * ((4L * 4 * 4 * 64 + 3L * 4 * 4 * 64 * 4 / 2) / 64));
}

TEST_CASE("a work item by rows has the rows that its last part needs of the parts before it") {
  device two, three;
  two.threads = 2;
  three.threads = 3;
  chain_link const chain[] = {matrix(12, 8, 48), filter(12, 48), matrix(12, 48, 8)};
  long const row = 12L * 48 * 8, row_of_filter = 12L * 48 * 9;
  CHECK(most_products(chain, 3, {tiling::rows, 0}, two) == 7 * row + 6 * row_of_filter + 6 * row);
  CHECK(most_products(chain, 3, {tiling::rows, 0}, three) == 6 * row + 4 * row_of_filter + 4 * row);
}
