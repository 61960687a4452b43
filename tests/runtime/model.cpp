// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "networks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <thread>
#include <type_traits>

using namespace model_test;

namespace {

using net = model<small>;
using pair_net = model<two_in_two_out>;

net& small_model() {
  static auto const weights = random_weights<small>(1);
  static net m{weights_span<net>(weights)};
  return m;
}

constexpr float untouched = -12345.f;

inline constexpr auto sum_and_difference =
    trace([](tensor a, tensor b) { return outputs(a + b, a - b); }, input{.c = 4}, input{.c = 4});

}  // namespace

TEST_CASE("the requirements of a model are known at compile time") {
  static_assert(net::parameter_count == parameter_count<small>);
  static_assert(net::input_size() == 9 * 7 * 3 && net::output_size() == 5);
  static_assert(net::arena_bytes > 0 && net::arena_bytes < 64 * 1024);
  static_assert(net::steps == 6);  // stem, expand, depthwise, project + add, pool, linear
  static_assert(pair_net::input_size(1) == 5 * 4 * 6 && pair_net::output_size(1) == 5 * 4 * 4);
  static_assert(!std::is_copy_constructible_v<net> && !std::is_copy_assignable_v<net>);
  static_assert(sizeof(net) <= net::weight_bytes + net::arena_bytes + 192);
}

TEST_CASE("arrays, std::array and spans of the right fixed extent are accepted; for others see tests/fail") {
  using right_in = std::span<float const, 9 * 7 * 3>;
  using right_out = std::span<float, 5>;
  static_assert(std::is_invocable_v<net&, right_in, right_out>);
  static_assert(std::is_invocable_v<net&, std::array<float, 9 * 7 * 3> const&, float(&)[5]>);
  static_assert(std::is_constructible_v<net, std::span<float const, net::parameter_count>>);
  static_assert(std::is_constructible_v<net, float const(&)[net::parameter_count]>);
  static_assert(!std::is_convertible_v<std::span<float const, net::parameter_count>, net>);
}

TEST_CASE("spans of the wrong run-time size are refused before anything is written") {
  auto const image = random_floats(net::input_size(), 2);
  std::vector<float> scores(5, untouched), short_scores(4, untouched);
  auto const unchanged = [](std::vector<float> const& v) {
    return std::ranges::all_of(v, [](float x) { return x == untouched; });
  };
  net& m = small_model();
  CHECK(m.try_run(std::span(image).first(188), scores) == status::wrong_input_size);
  CHECK(m.try_run(std::span<float const>{}, scores) == status::wrong_input_size);
  CHECK(m.try_run(image, short_scores) == status::wrong_output_size);
  CHECK(unchanged(scores));
  CHECK(unchanged(short_scores));
  CHECK(m.try_run(image, scores) == status::ok);
  CHECK(!unchanged(scores));
}

TEST_CASE("a model given the wrong number of weights at run time says so, and refuses to run") {
  auto const weights = random_weights<small>(1);
  auto const image = random_floats(net::input_size(), 2);
  std::vector<float> scores(5, untouched);
  status made{};
  static net bad{std::span<float const>(weights).subspan(1), made};
  CHECK(made == status::wrong_weight_count);
  CHECK(bad.try_run(image, scores) == status::no_weights);
  CHECK(scores[0] == untouched);
  alignas(net) static std::byte memory[sizeof(net)];  // not zeroed, like heap memory
  std::ranges::fill(memory, std::byte(0x3f));
  net& unready = *new (memory) net{std::span<float const>(weights).subspan(1), made};
  unready(std::span<float const, net::input_size()>(image), std::span<float, 5>(scores));
  CHECK(std::ranges::all_of(scores, [](float x) { return std::isnan(x); }));
  static net good{std::span<float const>(weights), made};
  CHECK(made == status::ok);
  CHECK(good.try_run(image, scores) == status::ok);
  std::vector<float> expected(5);
  CHECK(small_model().try_run(image, expected) == status::ok);
  CHECK(scores == expected);
  CHECK(std::string_view(name_of(status::wrong_weight_count)).find("parameter_count") != std::string_view::npos);
}

TEST_CASE("buffers that a run would overwrite while it needs them are refused before anything is written") {
  constexpr std::size_t in = net::input_size(), out = net::output_size();
  std::vector<float> memory = random_floats(in + out, 2);
  std::vector<float> const before = memory;
  std::span<float> const all(memory);
  net& m = small_model();
  CHECK(m.try_run(all.first(in), all.first(out)) == status::buffers_overlap);
  CHECK(m.try_run(all.first(in), all.subspan(in - 1, out)) == status::buffers_overlap);
  CHECK(m.try_run(all.last(in), all.subspan(1, out)) == status::buffers_overlap);
  CHECK(m.try_run(all.last(in), std::span(reinterpret_cast<float*>(&m), out)) == status::buffers_overlap);
  static net::workspace w;
  CHECK(m.try_run_in(w, all.first(in), std::span(w.arena).first(out)) == status::buffers_overlap);
  CHECK(m.try_run_in(w, std::span(w.arena).first(in), all.first(out)) == status::buffers_overlap);
  CHECK(memory == before);
  CHECK(m.try_run(all.first(in), all.last(out)) == status::ok);  // adjacent
  CHECK(m.try_run(all.last(in), all.first(out)) == status::ok);

  static model<sum_and_difference> two{std::span<float const, 0>()};
  float a[] = {1, 2, 3, 4}, results[8];
  std::span<float> const both(results);
  CHECK(two.try_run(a, a, both.first(4), both.first(4)) == status::buffers_overlap);
  CHECK(two.try_run(a, a, both.subspan(3, 4), both.first(4)) == status::buffers_overlap);
  CHECK(two.try_run(a, both.last(4), both.first(4), both.last(4)) == status::buffers_overlap);
  CHECK(two.try_run(both.first(4), a, both.first(4), both.last(4)) == status::buffers_overlap);
  CHECK(two.try_run(a, a, both.first(4), both.last(4)) == status::ok);  // inputs may be the same
  CHECK((results[3] == 8 && results[7] == 0));
}

TEST_CASE("a run does not depend on the previous contents of the workspace") {
  auto const image = random_floats(net::input_size(), 3);
  std::vector<float> expected(5), scores(5);
  CHECK(small_model().try_run(image, expected) == status::ok);
  static net::workspace w;
  std::ranges::fill(w.arena, std::numeric_limits<float>::quiet_NaN());
  CHECK(small_model().try_run_in(w, image, scores) == status::ok);
  CHECK(scores == expected);
}

TEST_CASE("threads share one const model, each with a workspace of its own") {
  net const& m = small_model();
  constexpr int threads = 4, runs = 50;
  std::vector<std::vector<float>> images, expected(threads, std::vector<float>(5));
  for (int t = 0; t < threads; ++t) {
    images.push_back(random_floats(net::input_size(), 10 + unsigned(t)));
    CHECK(small_model().try_run(images.back(), expected[std::size_t(t)]) == status::ok);
  }
  std::vector<int> wrong(threads, 0);
  static net::workspace w[threads];
  std::vector<std::thread> pool;
  for (std::size_t t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      for (int r = 0; r < runs; ++r) {
        std::vector<float> scores(5);
        wrong[t] += m.try_run_in(w[t], images[t], scores) != status::ok || scores != expected[t];
      }
    });
  for (auto& t : pool) t.join();
  CHECK(wrong == std::vector<int>(threads, 0));
}

TEST_CASE("several inputs and outputs are passed in the order of their declaration") {
  auto const weights = random_weights<two_in_two_out>(5);
  static pair_net m{weights_span<pair_net>(weights)};
  auto const a = random_floats(pair_net::input_size(0), 6), b = random_floats(pair_net::input_size(1), 7);
  std::vector<float> x(pair_net::output_size(0)), y(pair_net::output_size(1));
  CHECK(m.try_run(a, b, x, y) == status::ok);
  for (std::size_t p = 0; p < 20; ++p)
    for (std::size_t o = 0; o < 6; ++o) {  // relu(a * W + b), W is [6][3]
      double sum = b[p * 6 + o];
      for (std::size_t k = 0; k < 3; ++k) sum += double(a[p * 3 + k]) * weights[o * 3 + k];
      REQUIRE(x[p * 6 + o] == doctest::Approx(std::max(sum, 0.)).epsilon(1e-5));
    }
  CHECK(m.try_run(b, a, x, y) == status::wrong_input_size);
}
