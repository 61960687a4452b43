// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choices of a search for the steps of a network: the order of their loops, and the packing of weights.
#include <ago/ago.hpp>
#include <ago/tuner/network_space.hpp>
#include <ago/tuner/step_text.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace ago;
using namespace ago::ir;
using namespace ago::kernel;
using namespace ago::plan;
using tuner::network_space;

namespace {

/// Products with many and few channels, some of which read several segments; a convolution and a depthwise one.
inline constexpr auto products = input{.h = 20, .w = 18, .c = 24} | [](tensor x) {
  tensor const y = x | pointwise{240} | relu6{} | depthwise{.kernel = 3, .pad = 1} | pointwise{232} |
                   conv2d{.out = 160, .kernel = 3, .stride = 2} | relu{};
  auto const [kept, changed] = chunk<2>(concat(y, y | pointwise{160}) | channel_shuffle{2});
  return concat(kept, changed | pointwise{320} | relu{}) | pointwise{20} | global_avg_pool{} | linear{600};
};

template <isa Target>
using space = network_space<products, options{.target = Target}>;

/// The loop orders of a single step, by default and with each option.
template <class Space>
std::multiset<std::string> orders_of(int i) {
  planned_step const usual = Space::direct(i);
  plan::block_options const blocks = tuner::blocks_of(usual);
  std::multiset<std::string> all{tuner::loop_order(usual)};
  for (int k = 0; k < blocks.count; ++k) {
    schedule wish;
    wish.block = blocks.block[k];
    wish.winograd = -1;
    planned_step const p = Space::scheduled(i, wish);
    if (p.data.block != usual.data.block) all.insert(tuner::loop_order(p));
  }
  return all;
}

/// Returns how many steps have a choice of loop order.
template <class Space>
int check_orders() {
  int ordered = 0;
  for (int i = 0; i < Space::count; ++i) {
    std::multiset<std::string> const all = orders_of<Space>(i);
    structure const what = Space::direct(i).key.what;
    CAPTURE(i);
    CAPTURE(name_of(what));
    if (all.count("")) {
      CHECK(all.size() == 1);
      continue;
    }
    ++ordered;
    long const pixels = Space::direct(i).data.out.pixels();
    bool const one_tile = what == structure::pointwise && Space::direct(i).key.tile.pixels >= pixels;
    CHECK(all.count("channels outermost") == 1);
    CHECK(all.count(what == structure::convolution ? "rows outermost" : "pixels outermost") == (one_tile ? 0 : 1));
    for (std::string const& order : all) CHECK(all.count(order) == 1);
  }
  return ordered;
}

/// Returns how many steps have a choice of packing.
template <class Space>
int check_packings() {
  int packings = 0;
  for (int i = 0; i < Space::count; ++i) {
    planned_step const usual = Space::direct(i);
    plan::tile_options const tiles = Space::tiles(i), repacked = Space::repacked_tiles(i);
    CAPTURE(i);
    CHECK((repacked.count > 0) == (has_pairs(Space::target) && usual.key.what == structure::pointwise));
    CHECK(Space::can_repack(i) == (repacked.count > 0));
    for (int k = 0; k < tiles.count; ++k) {
      planned_step const p = Space::scheduled(i, tiles.wish(k));
      CHECK(p.key.paired == usual.key.paired);
    }
    for (int k = 0; k < repacked.count; ++k) {
      planned_step const p = Space::scheduled(i, repacked.wish(k));
      CHECK(p.key.paired != usual.key.paired);
      CHECK(p.key.tile.pixels == repacked.option[k].pixels);
      CHECK(p.key.tile.vectors == repacked.option[k].vectors);
      CHECK(layout_of_matrix(p.key, p.data).steps == repacked.option[k].packing);
    }
    packings += repacked.count > 0;
  }
  return packings;
}

}  // namespace

TEST_CASE("both extremes of the loop order can be chosen for every step that has a choice") {
  CHECK(check_orders<space<isa::emulated512>>() >= 5);
  CHECK(check_orders<space<isa::emulated128>>() >= 5);
  CHECK(check_orders<space<native_isa>>() >= 5);
}

TEST_CASE("weights can be packed in pairs or singly for every product that supports both") {
  CHECK(check_packings<space<isa::emulated512>>() >= 4);
  CHECK(check_packings<space<isa::emulated128>>() == 0);
  check_packings<space<native_isa>>();
}

TEST_CASE("a packing that a step does not support is not used") {
  using steps = space<isa::emulated512>;
  int in_runs = 0;
  schedule const pairs{.packing = 2}, single{.packing = 1};
  for (int i = 0; i < steps::count; ++i) {
    CHECK_FALSE(steps::scheduled(i, single).key.paired);
    if (steps::usual::plan.steps[i].key.what != structure::pointwise) continue;
    CHECK(steps::scheduled(i, pairs).key.paired);
    CHECK_FALSE(steps::scheduled(i, pairs, {tiling::channels, 32}, false).key.paired);
    in_runs += steps::scheduled(i, pairs).key.in_runs;
  }
  CHECK(in_runs > 0);
}
