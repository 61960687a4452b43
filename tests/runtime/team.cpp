// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads of a team.
#include "networks.hpp"

#include <ago/runtime/bind_threads.hpp>

#include <doctest/doctest.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <system_error>
#include <thread>

using namespace model_test;

namespace {

/// How often each of `pieces` work items is called.
std::vector<int> calls_of(team& workers, int pieces) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(pieces));
  workers.run(pieces, [&](int i) { ++calls[std::size_t(i)]; });
  return {calls.begin(), calls.end()};
}

/// A user's thread pool.
struct backwards_pool {
  template <class F>
  void run(int pieces, F const& f) {
    for (int i = pieces; i-- > 0;) f(i);
  }
};

}  // namespace

TEST_CASE("a team calls every work item once, whether there are more threads or more work items") {
  for (int threads : {-1, 1, 2, 3, 5})
    for (int pieces : {0, 1, 2, 3, 4, 7}) {
      team workers(threads);
      CHECK(calls_of(workers, pieces) == std::vector<int>(std::size_t(pieces), 1));
    }
}

TEST_CASE("a team that has run never or once can be destroyed") {
  for (int i = 0; i < 200; ++i) {
    team unused(3);
    team used(4, std::chrono::nanoseconds(i % 2 * 1000));
    CHECK(calls_of(used, 4) == std::vector<int>(4, 1));
  }
}

TEST_CASE("a team that cannot start enough threads throws, and ends those it has started") {
  constexpr rlim_t most = 1 << 29;  // bytes: too few for the stacks of 1000 threads
  std::ifstream pages("/proc/self/statm");
  rlim_t used = most;
  pages >> used;
  if (used > most / rlim_t(::sysconf(_SC_PAGESIZE))) return;  // a sanitizer has reserved more than that
  pid_t const child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    rlimit const memory{most, most};
    ::setrlimit(RLIMIT_AS, &memory);
    try {
      team const workers(1000);
    } catch (std::system_error const&) {}
    ::_exit(0);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("each thread of a team stays on the processor to which it is bound") {
  std::thread([] {  // so that the threads of other tests remain free
    std::vector<int> processors;
    cpu_set_t usable;
    REQUIRE(::sched_getaffinity(0, sizeof usable, &usable) == 0);
    for (int p = 0; p < CPU_SETSIZE; ++p)
      if (CPU_ISSET(std::size_t(p), &usable)) processors.push_back(p);
    int const threads = int(std::min(processors.size(), std::size_t(3)));
    auto const chosen = std::span(processors).first(std::size_t(threads));
    team workers(threads);
    CHECK_FALSE(bind_threads(workers, chosen.first(chosen.size() - 1)));
    REQUIRE(bind_threads(workers, chosen));
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> arrived = 0;
      std::vector<int> on(std::size_t(threads), -1);
      workers.run(threads, [&](int i) {
        on[std::size_t(i)] = ::sched_getcpu();
        for (++arrived; arrived < threads;) std::this_thread::yield();
      });
      std::sort(on.begin(), on.end());
      CHECK(std::equal(on.begin(), on.end(), chosen.begin(), chosen.end()));
    }
    CHECK_FALSE(bind_threads(workers, std::vector<int>(std::size_t(threads), CPU_SETSIZE)));
  })
      .join();
}

TEST_CASE("results of work items are visible when run returns, and earlier writes are visible to work items") {
  for (auto const spin : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(20000)}) {
    team workers(6, spin);  // possibly more than this machine has cores
    std::array<long, 6> sum{};
    long expected = 0;
    for (int round = 0; round < 3000; ++round) {
      workers.run(6, [&](int i) { sum[std::size_t(i)] += round + i; });
      expected += 6 * round + 15;
      long all = 0;
      for (long x : sum) all += x;
      REQUIRE(all == expected);
      if (round % 1000 == 999) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // lets the threads sleep
    }
  }
}

TEST_CASE("two teams run one model at the same time, each in its own workspace") {
  using net = model<small, untuned, threads{2}>;
  auto const weights = random_weights<small>(1), in = random_floats(net::input_size(), 2);
  static net const shared{weights_span<net>(weights)};
  auto const input = std::span(in).first<net::input_size()>();
  std::array<float, net::output_size()> expected{};
  static net::workspace alone;
  shared.run(alone, input, expected);
  auto const many = [&](net::workspace& w, bool& right) {
    team workers(2);
    std::array<float, net::output_size()> out{};
    for (int i = 0; i < 300; ++i) {
      shared.run(w, input, out, workers);
      right = right && out == expected;
    }
  };
  static net::workspace first, second;
  bool right[2]{true, true};
  std::thread other([&] { many(first, right[0]); });
  many(second, right[1]);
  other.join();
  CHECK((right[0] && right[1]));
}

TEST_CASE("a model takes a team or a user's thread pool as its last argument") {
  static model<two_in_two_out, untuned, threads{3}> net{
      weights_span<model<two_in_two_out>>(random_weights<two_in_two_out>(1))};
  auto const a = random_floats(net.input_size(0), 1), b = random_floats(net.input_size(1), 2);
  auto const first = std::span(a).first<net.input_size(0)>();
  auto const second = std::span(b).first<net.input_size(1)>();
  std::array<float, net.output_size(0)> x{}, x2{}, x3{};
  std::array<float, net.output_size(1)> y{}, y2{}, y3{};
  net(first, second, x, y);
  team workers(3);
  net(first, second, x2, y2, workers);
  backwards_pool backwards;
  net(first, second, x3, y3, backwards);
  CHECK((x == x2 && y == y2 && x == x3 && y == y3));
}
