// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses miss, which misses are foreseen, and what prefetches do.
#include "bench/arm/model/hierarchy.hpp"
#include "bench/arm/model/known_registers.hpp"
#include "bench/arm/plugin/recorder.hpp"
#include "words.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace words;
using ruler::decode;
using ruler::hierarchy;
using ruler::recorder;

namespace {

/// L1: 8 sets of 2 lines, L2: 64 lines.
hierarchy small() { return {{1024, 2}, {1024, 2}, {4096, 4}}; }

}  // namespace

TEST_CASE("a miss is counted once") {
  hierarchy h = small();
  for (int k = 0; k < 4; ++k) h.access(100);
  CHECK(h.count().l1 == 1);
  CHECK(h.count().l2 == 1);
  CHECK(h.count().far == 1);
}

TEST_CASE("the least recently used line leaves a set") {
  hierarchy h = small();
  for (std::uint64_t const line : {100, 108, 100, 116, 100}) h.access(line);  // all in the same set of two
  CHECK(h.count().l1 == 3);
  h.access(108);
  CHECK(h.count().l1 == 4);
  CHECK(h.count().l2 == 3);
}

TEST_CASE("misses of a run are foreseen, up to 16 runs at a time, and scattered ones are not") {
  hierarchy h = small();
  for (std::uint64_t line = 1000; line < 1100; ++line) h.access(line);
  CHECK(h.count().l1 == 100);
  CHECK(h.count().l1_foreseen == 99);
  CHECK(h.count().l2_foreseen == 99);
  hierarchy interleaved = small(), too_many = small(), scattered = small();
  for (std::uint64_t k = 0; k < 100; ++k) {
    for (std::uint64_t run = 0; run < 16; ++run) interleaved.access(100000 * run + 5000 + k);
    for (std::uint64_t run = 0; run < 17; ++run) too_many.access(100000 * run + 5000 + k);
    scattered.access(7919 * k + 5000);
  }
  CHECK(interleaved.count().l1_foreseen == 16 * 99);
  CHECK(too_many.count().l1_foreseen == 0);
  CHECK(scattered.count().l1_foreseen == 0);
}

TEST_CASE("a line that was asked for hits, and its miss counts as foreseen") {
  hierarchy h = small();
  h.prefetch(777, false);
  h.access(777);
  CHECK(h.count().l1 == 1);
  CHECK(h.count().l1_foreseen == 1);
  h.prefetch(999, true);
  CHECK(h.count().l1 == 1);
  CHECK(h.count().l2 == 2);
  h.access(999);
  CHECK(h.count().l1 == 2);
  CHECK(h.count().l1_foreseen == 1);
  CHECK(h.count().l2 == 2);
}

TEST_CASE("what misses L2 may be in L3") {
  hierarchy h{{1024, 2}, {1024, 2}, {4096, 4}, ruler::cache_size{65536, 16}};
  for (int turn = 0; turn < 2; ++turn)
    for (std::uint64_t line = 0; line < 512; ++line) h.access(1000 + line);
  CHECK(h.count().l2 == 1024);
  CHECK(h.count().far == 512);
}

TEST_CASE("the address of a prefetch follows from those of loads") {
  ruler::known_registers r;
  CHECK_FALSE(r.address(decode(prfm(1, 64))));
  r.execute(decode(ldr_q(0, 1, 32)), 0x1020, {});
  CHECK(r.address(decode(prfm(1, 64))) == 0x1040);
  r.execute(decode(add(2, 1, 8)), {}, {});
  CHECK(r.address(decode(prfm(2, 64))) == 0x1048);
  r.execute(decode(ldp_q(0, 1, 1)), 0x1000, {});  // then adds 32
  CHECK(r.address(decode(prfm(1, 0))) == 0x1020);
  r.execute(decode(mov(3, 5)), {}, {});
  r.execute(decode(add_x(4, 1, 3, 4)), {}, {});
  CHECK(r.address(decode(prfm(4, 0))) == 0x1020 + 5 * 16);
  r.execute(decode(mul(1, 2, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 0x1008 * 5);
  r.execute(decode(lsl(1, 3, 6)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 5 * 64);
  r.execute(decode(sub_x(1, 2, 3, 2)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 0x1008 - 5 * 4);
  r.execute(decode(bic(1, 2, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == (0x1008 & ~5));
  r.execute(decode(udiv(1, 2, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 0x1008 / 5);
  r.execute(decode(lsl_x(1, 2, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 0x1008 << 5);
  r.execute(decode(and_constant(1, 2, 0x1F3B)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == 0x1000);
  r.execute(decode(sub_x(6, 3, 2, 0)), {}, {});  // negative
  r.execute(decode(sdiv_w(1, 6, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == std::uint32_t(-(0x1003 / 5)));
  r.execute(decode(asr_w(1, 6, 3)), {}, {});
  CHECK(r.address(decode(prfm(1, 0))) == std::uint32_t(-0x1003 >> 5));
  r.execute(decode(0x9AC34041), {}, {});  // crc32b
  CHECK_FALSE(r.address(decode(prfm(1, 0))));
}

TEST_CASE("the address of a prefetch follows from what is loaded") {
  ruler::known_registers r;
  std::uint64_t const loaded[] = {0xffff'fffc, 0x2000};
  r.execute(decode(ldp_x(1, 2, 0)), 0x1000, loaded);
  CHECK(r.address(decode(prfm(2, 8))) == 0x2008);
  r.execute(decode(add_sxtw(3, 2, 1, 2)), {}, {});  // -4 << 2
  CHECK(r.address(decode(prfm(3, 0))) == 0x2000 - 16);
  r.execute(decode(sxtw(4, 1)), {}, {});
  r.execute(decode(add_x(5, 2, 4, 0)), {}, {});
  CHECK(r.address(decode(prfm(5, 0))) == 0x1ffc);
  r.execute(decode(ldp_x(1, 2, 0)), 0x1000, {});  // what is loaded is not known
  CHECK_FALSE(r.address(decode(prfm(2, 8))));
}

TEST_CASE("the address of a prefetch follows from a choice between registers") {
  enum { eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le, al };
  ruler::known_registers r;
  auto const chosen = [&](std::uint32_t choice) {
    r.execute(decode(choice), {}, {});
    return r.address(decode(prfm(5, 0)));
  };
  auto const set = [&](int d, std::uint64_t value) { r.execute(decode(ldr_x(d, 0)), 0x1000, std::array{value}); };
  set(1, 0x100), set(2, 0x200), set(3, 4), set(4, 0x8000'0000);
  r.execute(decode(cmp(3, 5)), {}, {});  // 4 - 5
  for (int const holds : {ne, cc, mi, vc, ls, lt, le, al}) CHECK(chosen(csel(5, 1, 2, holds)) == 0x100);
  for (int const fails : {eq, cs, pl, vs, hi, ge, gt}) CHECK(chosen(csel(5, 1, 2, fails)) == 0x200);
  r.execute(decode(cmp(3, 4)), {}, {});
  for (int const holds : {eq, cs, pl, ls, ge, le}) CHECK(chosen(csel(5, 1, 2, holds)) == 0x100);
  for (int const fails : {hi, gt, lt}) CHECK(chosen(csel(5, 1, 2, fails)) == 0x200);
  r.execute(decode(cmp_w(4, 3)), {}, {});  // the least number of 32 bits - 4
  for (int const holds : {ne, cs, vs, hi, lt, pl}) CHECK(chosen(csel(5, 1, 2, holds)) == 0x100);
  CHECK(chosen(csneg(5, 1, 3, eq)) == std::uint64_t(-4));
  r.execute(decode(cmp(9, 4)), {}, {});  // not known
  CHECK_FALSE(chosen(csel(5, 1, 2, eq)));
}

TEST_CASE("the recorder counts steps apart, and nothing before the first") {
  recorder r;
  program const load_and_multiply{ldr_q(0, 1), fmla(1), fmla(2), svc};
  ruler::block& b = r.add_block(0x400000, load_and_multiply);
  auto const run = [&](std::uint64_t address, long mark) {
    r.enter(b);
    r.access(0, address, 8, false, nullptr);
    r.access(0, address + 8, 8, false, nullptr);
    return r.reach(mark);
  };
  long const first = long(ruler::mark::first_step);
  r.enter(b);
  CHECK_FALSE(r.reach(long(ruler::mark::end)));  // ignored: nothing has begun
  CHECK_FALSE(r.reach(long(ruler::mark::warm_up)));
  CHECK_FALSE(run(0x10000, first));      // warms
  CHECK_FALSE(run(0x10000, first + 1));  // step 0 hits
  CHECK(run(0x20000, long(ruler::mark::end)));
  CHECK(b.executed == 2);
  CHECK(r.steps().size() == 2);
  for (auto const& [step, totals] : r.steps()) {
    CHECK(totals.values[std::size_t(ruler::kind::multiply_add)] == 2);
    CHECK(totals.values[std::size_t(ruler::kind::vector_load)] == 1);
    CHECK(totals.values[ruler::kinds] == 16);                                                           // bytes
    CHECK(totals.values[ruler::kinds + std::size(ruler::totals::fixed_names)] == std::uint64_t(step));  // misses of L1
  }
}
