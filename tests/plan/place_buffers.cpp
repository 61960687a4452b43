// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The places of buffers. (What plans make of them is tested in memory.cpp.)
#include <ago/plan/memory.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace ago;
using ago::plan::buffer;
using ago::plan::memory_plan;

namespace {

/// Random buffers that follow one another, a few of them alive at a time.
memory_plan<30> random_buffers(unsigned seed) {
  std::mt19937 random(seed);
  auto const up_to = [&](unsigned n) { return int(random() % n); };
  memory_plan<30> m;
  m.buffer_count = 2 + up_to(29);
  for (int b = 0; b < m.buffer_count; ++b)
    m.buffers[b] = {b, b, b + up_to(3), 0, 16L * (1 + up_to(up_to(4) ? 20 : 200)), false, 1};
  return m;
}

using buffer_placer = plan::buffer_placer<60>;
void place_by(memory_plan<30>& m, int const* phase, void (buffer_placer::*how)()) {
  buffer_placer placer(m.buffers, m.buffer_count, phase);
  (placer.*how)();
  m.arena_floats = placer.arena_floats();
}

/// Of two threads, each uses its half of every buffer: the floats that a thread finds where the other was last.
long exchanged_floats(memory_plan<30> const& m) {
  std::vector<int> thread(std::size_t(m.arena_floats), -1);
  long sum = 0;
  for (int b = 0; b < m.buffer_count; ++b)  // in order of their steps
    for (long i = 0; i < m.buffers[b].floats; ++i) {
      int& last = thread[std::size_t(m.buffers[b].offset + i)];
      int const own = 2 * i >= m.buffers[b].floats;
      sum += last >= 0 && last != own;
      last = own;
    }
  return sum;
}

bool live_buffers_are_apart(memory_plan<30> const& m) {
  for (int a = 0; a < m.buffer_count; ++a)
    for (int b = 0; b < a; ++b) {
      buffer const &x = m.buffers[a], &y = m.buffers[b];
      bool const both_live = x.first <= y.last && y.first <= x.last;
      if (both_live && x.offset < y.offset + y.floats && y.offset < x.offset + x.floats) return false;
    }
  return true;
}

/// The first gap for each buffer, the largest first, as it is defined: compared with all others.
std::vector<long> first_gaps(std::vector<buffer> const& all, int const* phase) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].floats > all[b].floats; });
  std::vector<long> at(all.size(), -1);
  for (std::size_t const b : order) {
    auto const is_free = [&](long place) {
      for (std::size_t a = 0; a < all.size(); ++a) {
        bool const both = phase[all[a].first] <= phase[all[b].last] && phase[all[b].first] <= phase[all[a].last];
        if (at[a] >= 0 && both && at[a] < place + all[b].floats && place < at[a] + all[a].floats) return false;
      }
      return true;
    };
    long best = is_free(0) ? 0 : std::numeric_limits<long>::max();
    for (std::size_t a = 0; a < all.size(); ++a)
      if (long const end = at[a] + all[a].floats; at[a] >= 0 && end < best && is_free(end)) best = end;
    at[b] = best;
  }
  return at;
}

}  // namespace

TEST_CASE("for one thread, each buffer is in the first gap among those that are in use at the same time") {
  int phase[300]{};
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    auto const up_to = [&](unsigned n) { return int(random() % n); };
    int const steps = 2 + up_to(298), sizes = 1 + up_to(6), count = 1 + up_to(120);
    for (int k = 1; k < steps; ++k) phase[k] = phase[k - 1] + (up_to(4) > 0);
    memory_plan<60> m;
    m.buffer_count = count;
    for (int b = 0; b < count; ++b) {
      int const first = up_to(unsigned(steps)), length = up_to(8) ? up_to(6) : up_to(300);
      m.buffers[b] = {b, first, std::min(first + length, steps - 1), 0, 16L << up_to(unsigned(sizes)), false, 1};
    }
    std::vector<long> const expected = first_gaps({m.buffers, m.buffers + count}, phase);
    plan::buffer_placer<120> placer(m.buffers, count, phase);
    placer.place_first_fit();
    long arena = 0;
    for (int b = 0; b < count; ++b) {
      REQUIRE(m.buffers[b].offset == expected[std::size_t(b)]);
      arena = std::max(arena, expected[std::size_t(b)] + m.buffers[b].floats);
    }
    REQUIRE(placer.arena_floats() == arena);
  }
}

TEST_CASE("for two threads, buffers are placed so that cores exchange few lines, and the arena hardly grows") {
  int phase[40]{};
  for (int k = 0; k < 40; ++k) phase[k] = k;
  long first_fit = 0, together = 0, arena = 0, larger = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    memory_plan<30> one = random_buffers(seed), two = one;
    place_by(one, phase, &buffer_placer::place_first_fit);
    place_by(two, phase, &buffer_placer::place_halves_together);
    for (memory_plan<30> const& m : {one, two}) {
      REQUIRE(live_buffers_are_apart(m));
      for (int b = 0; b < m.buffer_count; ++b) {
        REQUIRE(m.buffers[b].offset >= 0);
        REQUIRE(m.buffers[b].offset % 16 == 0);
        REQUIRE(m.buffers[b].offset + m.buffers[b].floats <= m.arena_floats);
      }
    }
    first_fit += exchanged_floats(one);
    together += exchanged_floats(two);
    arena += one.arena_floats;
    larger += two.arena_floats;
  }
  CHECK(together < first_fit / 3);
  CHECK(larger < arena + arena / 5);
}

TEST_CASE("values of all sizes that follow one another in two places share the middles of these") {
  int phase[12]{};
  memory_plan<30> m;
  m.buffer_count = 12;
  for (int b = 0; b < 12; ++b) {
    phase[b] = b;
    m.buffers[b] = {b, b, b < 11 ? b + 1 : b, 0, 32L * (20 - b), false, 1};
  }
  place_by(m, phase, &buffer_placer::place_halves_together);
  for (int b = 2; b < 12; ++b) {
    CAPTURE(b);
    buffer const &x = m.buffers[b], &before = m.buffers[b - 2];
    CHECK(x.offset + x.floats / 2 == before.offset + before.floats / 2);
  }
}

TEST_CASE("copies for work items are as far apart as free memory permits, and the arena does not grow") {
  int phase[40]{};
  for (int k = 0; k < 40; ++k) phase[k] = k / 2;
  int spread = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    memory_plan<30> m = random_buffers(seed);
    for (int b = 0; b < m.buffer_count; b += 3) {
      buffer& x = m.buffers[b];
      x.copies = 2 + b % 2;
      x.apart = x.floats;
      x.floats *= x.copies;
    }
    place_by(m, phase, &buffer_placer::place_halves_together);
    memory_plan<30> const dense = m;
    buffer_placer placer(m.buffers, m.buffer_count, phase);
    placer.spread_copies(m.arena_floats);
    for (int a = 0; a < m.buffer_count; ++a) {
      buffer const &x = m.buffers[a], &before = dense.buffers[a];
      long const size = before.floats / before.copies;
      REQUIRE(x.offset >= 0);
      REQUIRE(x.offset % 16 == 0);
      REQUIRE(x.offset + x.floats <= m.arena_floats);
      REQUIRE((x.copies == 1 || (x.apart % 16 == 0 && x.apart >= size && x.floats == x.apart * (x.copies - 1) + size)));
      // The memory on both sides that is free in all phases in which this is in use: no more than rounding leaves.
      long low = 0, high = m.arena_floats;
      for (int b = 0; b < m.buffer_count; ++b) {
        buffer const& y = m.buffers[b];
        if (a == b || phase[x.first] > phase[y.last] || phase[y.first] > phase[x.last]) continue;
        REQUIRE((y.offset + y.floats <= x.offset || x.offset + x.floats <= y.offset));
        if (y.offset < x.offset) low = std::max(low, y.offset + y.floats);
        else high = std::min(high, y.offset);
      }
      if (x.copies == 1) continue;
      CHECK(x.offset - low <= 16);  // between three copies
      CHECK(high - (x.offset + x.floats) <= 16);
      spread += x.apart > size;
    }
  }
  CHECK(spread > 1000);
}
