// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model that gets faster while it runs: what it computes, what never enters, and the files that come out.
#include "../tuner/process.hpp"

#include <ago/live.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {
thread_local long allocations = 0;  // of this thread
}

// Not inlined: g++ would warn about malloc paired with delete.
[[gnu::noinline]] void* operator new(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n ? n : 1)) return p;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

using namespace ago;
using namespace ago::plan;
using testing::contents;
using testing::scratch_folder;

inline constexpr auto net = input{.h = 6, .w = 6, .c = 8} | pointwise{40} | relu6{} | pointwise{20};
using live_net = live_model<net>;
using floats = std::vector<float>;

exploration const quick{.trials = 25, .only_idle_time = false};

template <std::size_t N>
auto fixed(floats const& x) {
  return std::span<float const, N>(x.data(), N);
}
template <std::size_t N>
auto fixed(floats& x) {
  return std::span<float, N>(x.data(), N);
}

floats const& weights() {
  static floats const all = tuner::sample_parameters<net>();
  return all;
}
floats const& picture() {
  static floats const all = tuner::sample_inputs(planned<net>::graph)[0];
  return all;
}
floats const& expected() {
  static floats const result = [] {
    static model<net> compiled(fixed<live_net::parameter_count>(weights()));
    floats r(live_net::output_size());
    compiled(fixed<live_net::input_size()>(picture()), fixed<live_net::output_size()>(r));
    return r;
  }();
  return result;
}
float largest_difference(floats const& a, floats const& b) {
  float r = 0;
  for (std::size_t i = 0; i < a.size(); ++i) r = std::max(r, std::fabs(a[i] - b[i]));
  return r;
}
float largest(floats const& a) { return largest_difference(a, floats(a.size())); }

/// Has the budget been spent? The last trial is reserved for confirming what was found, if anything was.
bool spent(exploration_progress const& seen) { return seen.trials == quick.trials || seen.trials == quick.trials - 1; }

/// Runs the network until the second thread has ended, and for a while after that. Returns the largest difference
/// from the static model.
float run_until_explored(live_net& m) {
  floats got(live_net::output_size());
  float worst = 0;
  for (int after = 0; after < 200; after += !m.progress().running) {
    std::ranges::fill(got, 0.f);
    m(fixed<live_net::input_size()>(picture()), fixed<live_net::output_size()>(got));
    worst = std::max(worst, largest_difference(got, expected()));
  }
  return worst;
}

}  // namespace

TEST_CASE("a live model computes at once what the static model computes, bit by bit") {
  live_net m(fixed<live_net::parameter_count>(weights()));
  floats got(live_net::output_size());
  m(fixed<live_net::input_size()>(picture()), fixed<live_net::output_size()>(got));
  CHECK(got == expected());
  CHECK(m.progress().running == false);
}

TEST_CASE("results stay those of the static model, up to rounding, while programs change") {
  live_net m(fixed<live_net::parameter_count>(weights()));
  m.start(quick);
  CHECK(run_until_explored(m) <= 1e-6f * largest(expected()));
  CHECK(spent(m.progress()));
  CHECK(m.progress().wrong == 0);
}

TEST_CASE("results stay those of the static model whatever schedules are offered") {
  using problem = live::verified_problem<net, options{}>;
  std::atomic<bool> never = false, done = false;
  tuner::samples const with = {weights(), {picture()}};
  problem p("net", with, exploration().tolerance, never, tuner::menu<net>::view());
  live::runner<problem::program_type> r(p.verified(tuner::usual(p.choices())));
  std::thread explorer([&] {
    std::mt19937 random(3);
    for (int i = 0; i < 60; ++i) {
      tuner::candidate c;
      for (tuner::choice const& x : p.choices()) c.push_back(std::uint8_t(random() % x.options.size()));
      r.programs.collect();
      if (p.feasible(c)) r.programs.offer(p.verified(c));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    done = true;
  });
  floats got(live_net::output_size());
  float const* const inputs[] = {picture().data()};
  float* const outputs[] = {got.data()};
  float worst = 0;
  while (!done) {
    std::ranges::fill(got, 0.f);
    r.run([&](problem::program_type const& program) { program.run(inputs, outputs); });
    worst = std::max(worst, largest_difference(got, expected()));
  }
  explorer.join();
  CHECK(r.entered() + r.sent_back() > 0);
  CHECK(p.wrong() == 0);
  CHECK(worst <= 1e-6f * largest(expected()));
}

TEST_CASE("without tolerance the results keep their bits") {
  live_net m(fixed<live_net::parameter_count>(weights()));
  exploration exact = quick;
  exact.tolerance = 0;
  m.start(exact);
  CHECK(run_until_explored(m) == 0);
}

TEST_CASE("runs do not allocate, whatever the second thread does") {
  live_net m(fixed<live_net::parameter_count>(weights()));
  floats got(live_net::output_size());
  m.start(quick);
  long during = 0;
  for (int after = 0; after < 200; after += !m.progress().running) {
    long const before = allocations;
    m(fixed<live_net::input_size()>(picture()), fixed<live_net::output_size()>(got));
    during += allocations - before;
  }
  CHECK(during == 0);
  CHECK(allocations > 0);  // those of start() were counted
}

TEST_CASE("a kernel that computes nothing is fast, and never enters") {
  using plan = tuner::live_plan<net>;
  using program = tuner::live_program<plan>;
  auto const usual = std::make_shared<plan const>(tuner::schedule_list());
  auto entries = tuner::menu<net>::view().entries();
  int replaced = 0;
  for (tuner::menu_entry& e : entries) {
    bool used = false;
    for (int k = 0; k < usual->steps(); ++k) used = used || usual->key(k) == *e.key;
    if (used) continue;
    e.function = [](step_data const&, kernel_memory const&) noexcept {};
    ++replaced;
  }
  REQUIRE(replaced > 10);
  tuner::menu_view const kernels(entries);

  live::runner<program> r(program::make(usual, kernels, weights()));
  floats got(live_net::output_size());
  float const* const inputs[] = {picture().data()};
  float* const outputs[] = {got.data()};
  live::explorer<net, options{}, program> e(r, "net", tuner::samples_of<net, options{}>(), quick, kernels);
  float worst = 0;
  for (int after = 0; after < 200; after += !e.progress().running || e.progress().wrong > 20) {
    std::ranges::fill(got, 0.f);
    r.run([&](program const& p) { p.run(inputs, outputs); });
    worst = std::max(worst, largest_difference(got, expected()));
  }
  CHECK(worst <= 1e-6f * largest(expected()));
  CHECK(e.progress().wrong > 0);
}

TEST_CASE("the log continues where it ended, and nothing is measured twice") {
  scratch_folder here;
  exploration logged = quick;
  logged.log = here / "net.jsonl";
  std::string whole;
  {
    live_net m(fixed<live_net::parameter_count>(weights()));
    m.start(logged);
    run_until_explored(m);
    whole = contents(logged.log);
    int const trials = m.progress().trials;
    CHECK(spent(m.progress()));
    CHECK(std::ranges::count(whole, '\n') == 1 + trials);
    m.start(logged);  // again, from the log
    run_until_explored(m);
    CHECK(m.progress().trials == trials);
    CHECK(contents(logged.log) == whole);
    m.write_header(here / "first.hpp", "net");
  }
  std::string const half = whole.substr(0, whole.find('\n', whole.size() / 2) + 1);
  testing::put(logged.log, half);
  live_net m(fixed<live_net::parameter_count>(weights()));
  m.start(logged);
  run_until_explored(m);
  CHECK(contents(logged.log).starts_with(half));
  CHECK(spent(m.progress()));
}

TEST_CASE("the header is the tuner's: a table for this network") {
  scratch_folder here;
  live_net m(fixed<live_net::parameter_count>(weights()));
  exploration described = quick;
  described.device = "a board";
  m.start(described);
  run_until_explored(m);
  m.write_header(here / "my_board.hpp");
  auto const header = tuner::read_header(here / "my_board.hpp");
  REQUIRE(header.has_value());
  CHECK(header->name == "my_board");
  REQUIRE(header->banner.size() == 1);
  CHECK(header->banner[0].title.ends_with("device: a board"));
  tuner::network_problem<net> const p;
  for (tuner::entry const& e : header->entries) CHECK(p.has_signature(e.found.signature));
}

TEST_CASE("exploration stops at any time, also without a run, and can begin again") {
  scratch_folder here;
  live_net m(fixed<live_net::parameter_count>(weights()));
  floats got(live_net::output_size());
  exploration endless = quick;
  endless.trials = 1000000;
  for (int i = 0; i < 12; ++i) {
    m.start(endless);
    std::this_thread::sleep_for(std::chrono::microseconds(300 * i * i));
    if (i % 2) m(fixed<live_net::input_size()>(picture()), fixed<live_net::output_size()>(got));
    m.stop();
    CHECK(!m.progress().running);
  }
  CHECK(largest_difference(got, expected()) <= 1e-6f * largest(expected()));
  m.write_header(here / "partial.hpp");  // of a search that was not completed
  CHECK(contents(here / "partial.hpp").find("not yet measured against the default") != std::string::npos);
  m.start(endless);  // the destructor stops it
}

TEST_CASE("files that cannot be used are refused with a sentence") {
  scratch_folder here;
  live_net m(fixed<live_net::parameter_count>(weights()));
  CHECK_THROWS_WITH_AS(m.write_header(here / "a.hpp"),
                       doctest::Contains("is not written, because start() has not been called"), tuner::failure);
  exploration logged = quick;
  logged.log = here / "missing/net.jsonl";
  CHECK_THROWS_AS(m.start(logged), tuner::failure);
  logged.log = here / "other.jsonl";
  testing::put(logged.log, "{\"log\":\"something else\"}\n");
  CHECK_THROWS_WITH_AS(m.start(logged), doctest::Contains("other.jsonl"), tuner::failure);
  m.start(quick);
  CHECK_THROWS_WITH_AS(m.write_header(here / "1st.hpp"), "'1st' is not a valid C++ name for a table", tuner::failure);
}
