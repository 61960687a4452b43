// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How programs enter and leave, with programs whose time is a number.
#include <ago/live/runner.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>

using namespace ago::live;

namespace {

/// A clock that programs set forward.
struct fake_clock {
  using duration = std::chrono::duration<double>;
  using time_point = std::chrono::time_point<fake_clock, duration>;
  static inline double seconds = 0;
  static time_point now() { return time_point(duration(seconds)); }
};

std::atomic<int> alive = 0;

struct fake_program {
  explicit fake_program(int n, double s = 0) : number(n), takes(s) { ++alive; }
  fake_program(fake_program const&) = delete;
  fake_program& operator=(fake_program const&) = delete;
  ~fake_program() {
    number = -1;
    --alive;
  }
  int number;
  double takes;
};

using timed_runner = runner<fake_program, fake_clock>;

/// The number of the program that runs.
int run(timed_runner& r) {
  int number = -1;
  r.run([&](fake_program const& p) {
    number = p.number;
    fake_clock::seconds += p.takes;
  });
  return number;
}

constexpr int all_runs = 2 * duel::turns * duel::turn;

verdict outcome(double older, double newer) {
  duel d;
  verdict v = verdict::open;
  for (int i = 0; i < all_runs && v == verdict::open; ++i) v = d.add(d.newer_runs() ? newer : older);
  return v;
}

}  // namespace

TEST_CASE("a new program stays unless it is slower by more than a hundredth") {
  CHECK(outcome(1, .5) == verdict::newer);
  CHECK(outcome(1, .99) == verdict::newer);
  CHECK(outcome(1, 1) == verdict::newer);
  CHECK(outcome(1, 1.005) == verdict::newer);
  CHECK(outcome(1, 1.02) == verdict::older);
  CHECK(outcome(1, 3) == verdict::older);
}

TEST_CASE("both programs take turns, and every duel ends") {
  duel d;
  int newer = 0;
  for (int i = 0; i < all_runs; ++i) {
    CHECK(d.newer_runs() == (i / duel::turn % 2 == 1));
    newer += d.newer_runs();
    CHECK((d.add(1) == verdict::open) == (i + 1 < all_runs));
  }
  CHECK(newer == all_runs / 2);
}

TEST_CASE("a much slower program runs for one turn only") {
  duel d;
  int runs = 1;
  while (d.add(d.newer_runs() ? 2 : 1) == verdict::open) ++runs;
  CHECK(runs == 2 * duel::turn);
}

TEST_CASE("the first runs of a turn, and single slow runs, decide nothing") {
  duel d;
  verdict v = verdict::open;
  for (int i = 0; v == verdict::open; ++i) {
    bool const cold = i % duel::turn < duel::warm_up, disturbed = i % duel::turn == duel::turn - 1;
    v = d.add(d.newer_runs() && (cold || disturbed) ? 100 : 1);
  }
  CHECK(v == verdict::newer);
}

TEST_CASE("a faster program takes the place of the one before, which is destroyed by the thread that explores") {
  {
    timed_runner r(std::make_unique<fake_program>(1, 1.));
    CHECK(run(r) == 1);
    r.programs.offer(std::make_unique<fake_program>(2, .9));
    for (int i = 0; i < all_runs; ++i) run(r);
    CHECK(r.entered() == 1);
    CHECK(r.sent_back() == 0);
    for (int i = 0; i < 100; ++i) CHECK(run(r) == 2);
    CHECK(alive == 2);
    r.programs.collect();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a slower program goes, and the one before returns") {
  timed_runner r(std::make_unique<fake_program>(1, 1.));
  r.programs.offer(std::make_unique<fake_program>(2, 1.5));
  for (int i = 0; i < 2 * duel::turn; ++i) run(r);
  CHECK(r.entered() == 0);
  CHECK(r.sent_back() == 1);
  for (int i = 0; i < 100; ++i) CHECK(run(r) == 1);
}

TEST_CASE("of programs that are offered before a run, the last one is tried") {
  timed_runner r(std::make_unique<fake_program>(1, 1.));
  for (int i = 2; i < 10; ++i) r.programs.offer(std::make_unique<fake_program>(i, 1 / double(i)));
  CHECK(alive == 2);
  for (int i = 0; i < all_runs; ++i) run(r);
  CHECK(run(r) == 9);
}

TEST_CASE("while one thread offers and collects, the other runs whole programs only") {
  {
    runner<fake_program> r(std::make_unique<fake_program>(1));
    std::atomic<bool> done = false;
    std::thread explorer([&] {
      for (int i = 2; i < 2000; ++i) {
        r.programs.collect();
        r.programs.offer(std::make_unique<fake_program>(i));
        if (i % 50 == 0) std::this_thread::yield();
      }
      done = true;
    });
    int newest = 0;
    bool whole = true;
    for (int left = 1000; left > 0; left -= done)  // so many after the last one is offered, whenever that is
      r.run([&](fake_program const& p) {
        whole = whole && p.number >= 1;
        newest = newest < p.number ? p.number : newest;
      });
    explorer.join();
    CHECK(whole);
    CHECK(newest > 1);
    CHECK(r.entered() + r.sent_back() > 0);
  }
  CHECK(alive == 0);
}
