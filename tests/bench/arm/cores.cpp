// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cycles of small instruction streams on the core models.
#include "bench/arm/model/branch_predictor.hpp"
#include "bench/arm/model/in_order_core.hpp"
#include "bench/arm/model/out_of_order_core.hpp"
#include "words.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace words;
using ruler::in_order_core;
using ruler::out_of_order_core;

namespace {

/// Cycles of one turn of a long loop without a branch.
template <class Core>
double cycles(program const& p) {
  auto const core = std::make_unique<Core>();
  auto const turns = [&](int count) {
    for (int k = 0; k < count; ++k)
      for (word const w : p) core->issue(ruler::decode(w));
    return double(core->now());
  };
  double const begin = turns(50);
  return (turns(1000) - begin) / 1000;
}

/// Both one after the other, in turn.
program alternating(program const& a, program const& b) {
  program all;
  for (std::size_t k = 0; k < a.size(); ++k) all.insert(all.end(), {a[k], b[k]});
  return all;
}

auto const accumulate = [](int k) { return fmla(k); };

}  // namespace

TEST_CASE("a little core multiplies independent registers once a cycle, and a chain at its latency") {
  CHECK(cycles<in_order_core>(several(24, accumulate)) == 24);
  CHECK(cycles<in_order_core>(several(4, accumulate)) == 4);
  CHECK(cycles<in_order_core>(several(3, accumulate)) == 4);
  CHECK(cycles<in_order_core>({fmla(0)}) == 4);
  CHECK(cycles<in_order_core>({fmul(0, 0, 1), fmul(0, 0, 1)}) == 8);
}

TEST_CASE("on a little core a load of 128 bits issues alone and blocks two cycles a register") {
  program const products = several(24, accumulate);
  CHECK(cycles<in_order_core>({ldr_q(30, 1)}) == 2);
  CHECK(cycles<in_order_core>(products + several(6, [](int k) { return ldr_q(k, 1, 16 * k); }, 24)) == 24 + 12);
  CHECK(cycles<in_order_core>(products + program{ldp_q(30, 31, 1)}) == doctest::Approx(24 + 4).epsilon(.1));
  CHECK(cycles<in_order_core>(several(20, accumulate) + program{ld1_four(24, 1)}) == 20 + 8);
}

TEST_CASE("a step of 7x3 by loads of 128 bits takes a little core 122 cycles") {
  program const turn = several(84, [](int k) { return fmla(k % 21, 30, 31); }) +
                       several(19, [](int k) { return ldr_q(21 + k % 9, 1, 16 * k); });
  CHECK(cycles<in_order_core>(turn) == 84 + 2 * 19);
}

TEST_CASE("on a little core halves of registers are loaded and inserted beside multiply-adds") {
  program const products = several(24, accumulate);
  auto const load_half = [](int k) { return ldr_d(24 + k % 6, 1, 8 * k); };
  CHECK(cycles<in_order_core>(alternating(products, several(24, load_half))) == 24);
  CHECK(cycles<in_order_core>(alternating(products, several(24, [](int k) { return ins_x(24 + k % 6, 2); }))) == 24);
  CHECK(cycles<in_order_core>(alternating(products, several(24, [](int k) { return ldr_x(3 + k % 6, 1); }))) == 24);
  // One load a cycle.
  CHECK(cycles<in_order_core>(several(24, load_half)) == 24);
  CHECK(cycles<in_order_core>(several(24, [](int k) { return add(3 + k % 8, 2, 8); })) == 12);
}

TEST_CASE("a little core stores vectors every other cycle") {
  CHECK(cycles<in_order_core>(several(8, [](int k) { return st1(k, 1); })) == 16);
  CHECK(cycles<in_order_core>(alternating(several(8, [](int k) { return st1(k, 1); }), several(8, accumulate, 8))) ==
        16);
}

TEST_CASE("a big core multiplies twice a cycle, and forwards accumulators early") {
  CHECK(cycles<out_of_order_core>(several(24, accumulate)) == doctest::Approx(12).epsilon(.01));
  CHECK(cycles<out_of_order_core>({fmla(0)}) == doctest::Approx(2).epsilon(.01));
  CHECK(cycles<out_of_order_core>({fmla(0, 0, 31)}) == doctest::Approx(4).epsilon(.01));
}

TEST_CASE("a big core loads two registers a cycle beside multiply-adds, and starts four instructions") {
  program const products = several(24, accumulate);
  auto const load = [](int k) { return ldr_q(24 + k % 6, 1, 16 * k); };
  CHECK(cycles<out_of_order_core>(products + several(16, load)) == doctest::Approx(12).epsilon(.01));
  CHECK(cycles<out_of_order_core>(products + several(32, load)) == doctest::Approx(16).epsilon(.01));
  auto const count = [](int k) { return add(3 + k % 8, 2, 8); };
  CHECK(cycles<out_of_order_core>(products + several(16, load) + several(24, count)) ==
        doctest::Approx(16).epsilon(.01));
}

TEST_CASE("a store of 128 bits occupies a big core's vector pipes twice, by st1 once") {
  program const products = several(8, accumulate);
  CHECK(cycles<out_of_order_core>(products +
                                  several(4, [](int k) { return str_q(k, 1); }, 8)) == doctest::Approx(8).epsilon(.01));
  CHECK(cycles<out_of_order_core>(products +
                                  several(4, [](int k) { return st1(k, 1); }, 8)) == doctest::Approx(6).epsilon(.01));
}

TEST_CASE("a mispredicted branch costs cycles on both cores") {
  in_order_core little;
  little.issue(ruler::decode(b_ne));
  auto const before = little.now();
  little.mispredict();
  CHECK(little.now() == before + in_order_core::mispredicted);
  auto const big = std::make_unique<out_of_order_core>();
  big->issue(ruler::decode(b_ne));
  auto const end = big->now();
  big->mispredict();
  big->issue(ruler::decode(add(1, 2, 3)));
  CHECK(big->now() >= end + out_of_order_core::mispredicted);
}

TEST_CASE("the predictor foresees short loops and nothing random") {
  ruler::branch_predictor predictor;
  int mistakes = 0;
  for (int turn = 0; turn < 1000; ++turn)
    for (int k = 0; k < 8; ++k) mistakes += predictor.mistakes(0x1000, k < 7) && turn >= 100;
  CHECK(mistakes == 0);
  std::uint32_t random = 1;
  for (int k = 0; k < 4000; ++k) {
    random = random * 1664525 + 1013904223;
    mistakes += predictor.mistakes(0x2000, random >> 31);
  }
  CHECK(mistakes > 1500);
}
