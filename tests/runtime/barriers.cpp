// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which steps share a barrier, and that no work item needs anything from another one without a barrier between them.
#include "threads.hpp"

using namespace model_test;

namespace {

inline constexpr auto encoder = input{.h = 128, .w = 1, .c = 64} |
                                residual{layer_norm{} | linear{192} | attention{.heads = 4} | linear{64}} |
                                residual{layer_norm{} | linear{256} | gelu{} | linear{64}} | layer_norm{};
inline constexpr auto gated = input{.h = 24, .w = 24, .c = 64} | pointwise{96} | relu{} | [](tensor x) {
  return x * (x | global_avg_pool{} | pointwise{24} | relu{} | pointwise{96} | sigmoid{}) | pointwise{64} | bias{} |
         global_avg_pool{} | linear{40};
};
inline constexpr auto branches = input{.h = 28, .w = 28, .c = 48} | [](tensor x) {
  return concat(x | pointwise{64} | relu{}, x | conv2d{.out = 64, .kernel = 3, .pad = 1} | relu{},
                x | depthwise{.kernel = 5, .pad = 2} | bias{}) |
         pointwise{80} | bias{} | relu{};
};
inline constexpr auto batch = input{.n = 4, .h = 14, .w = 14, .c = 32} | conv2d{.out = 48, .kernel = {3, 5}, .pad = 1} |
                              relu{} | depthwise{.kernel = 3, .pad = 1} | bias{} | max_pool{.kernel = 2};

constexpr options two_threads(device on = {}) {
  on.threads = 2;
  return {.device = on};
}

/// The number of steps that wait for `what`.
template <class Program>
int count_waits(waits what) {
  int sum = 0;
  for (int k = 0; k < Program::steps; ++k) sum += Program::waits_of(k) == what;
  return sum;
}
struct counting_team {
  int runs = 0;
  void run(int pieces, auto const& piece) {
    ++runs;
    for (int i = pieces - 1; i >= 0; --i) piece(i);
  }
};
/// The number of times that a program asks a team to run work items.
template <auto const& Net, class Program>
int runs_of_team() {
  counting_team counting;
  guarded_run<Program, Net> in(differential::edge::end);
  Program::run(in.memory(), counting);
  return counting.runs;
}

template <auto const& Net>
void compare_with_one_thread() {
  using shared = program<Net, untuned, two_threads()>;
  using alone = program<Net>;
  guarded_run<shared, Net> apart(differential::edge::end);
  examining_team examining(apart.areas());
  shared::run(apart.memory(), examining);
  CHECK(examining.pieces_run >= 2);
  CHECK(examining.most_writers <= 1);
  CHECK(apart.intact());
  CHECK(apart.results() == result_of<alone, Net>(differential::edge::end));
}

}  // namespace

TEST_CASE("work items without a barrier between them do not need each other's results") {
  compare_with_one_thread<encoder>();
  compare_with_one_thread<gated>();
  compare_with_one_thread<branches>();
  compare_with_one_thread<batch>();
}

TEST_CASE("steps that compute pixel by pixel follow one another without a barrier") {
  using p = program<encoder, cut<split::pixels>, options{.threads = {2}}>;
  CHECK(count_waits<p>(waits::own) > 0);
  for (int k = 0; k < p::steps; ++k) {
    CAPTURE(k);
    bool const of_pixels = p::split_of(k).how == split::pixels;
    if (p::waits_of(k) == waits::own) CHECK((of_pixels && p::split_of(k) == p::split_of(k - 1)));
    // An attention reads all tokens, and what follows it all heads.
    if (p::plan.steps[p::first_part(k)].key.what == ago::plan::structure::attention)
      CHECK(p::waits_of(k) == waits::all);
  }
  CHECK(runs_of_team<encoder, p>() == count_waits<p>(waits::all));
}

TEST_CASE("the heads of an attention follow the channels from which they are computed") {
  static constexpr auto heads = input{.h = 64, .w = 1, .c = 64} | [](tensor x) {
    return attention{.heads = 4}(x | linear{256}, x | linear{256}, x | linear{256});
  };
  using p = program<heads, cut<split::channels>, options{.threads = {2}}>;
  int attentions = 0;
  for (int k = 1; k < p::steps; ++k) {
    if (p::plan.steps[p::first_part(k)].key.what != ago::plan::structure::attention) continue;
    ++attentions;
    CHECK(p::waits_of(k) == waits::own);
  }
  CHECK(attentions == 1);
  CHECK(runs_of_team<heads, p>() == 1);
}

TEST_CASE("independent branches are computed side by side") {
  using p = program<branches, untuned, two_threads()>;
  CHECK(count_waits<p>(waits::all) < p::steps);
  CHECK(runs_of_team<branches, p>() < p::steps);
}

TEST_CASE("all images of a batch are computed without a barrier where every step is divided along them") {
  using p = program<batch, cut<split::images>, options{.threads = {2}}>;
  for (int k = 0; k < p::steps; ++k) CHECK(p::split_of(k).how == split::images);
  CHECK(count_waits<p>(waits::own) == p::steps - 1);
  CHECK(runs_of_team<batch, p>() == 1);
}

TEST_CASE("every step waits for all before it if there is one thread") {
  using p = program<encoder>;
  CHECK(count_waits<p>(waits::all) == p::steps);
}
