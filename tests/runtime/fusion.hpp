// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks run in guarded memory, fused and unfused.
#pragma once

#include "networks.hpp"

#include <differential/guarded_run.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <string>

namespace model_test {

/// Joins all steps that can be joined, with this tiling.
template <tiling How, int Tile = 0>
inline constexpr plan::uniform_schedule joined{{.join = 1, .tiling = How, .tile = Tile}};

constexpr auto dw(int kernel, int stride, pads pad) {
  return depthwise{.kernel = kernel, .stride = stride, .pad = pad} | batch_norm{} | relu6{};
}
constexpr auto pw(int out) { return pointwise{out} | batch_norm{} | relu6{}; }
constexpr pads all(int p) { return {p, p, p, p}; }

inline std::vector<std::vector<float>> random_inputs(ago::runtime::any_program const& p) {
  std::vector<std::vector<float>> all;
  for (std::size_t const floats : p.inputs) all.push_back(random_floats(floats, 2 + unsigned(all.size())));
  return all;
}

/// Guarded memory for a program, with random weights and inputs.
template <class Program, auto const& Net>
class guarded_run : public differential::guarded_run {
 public:
  explicit guarded_run(differential::edge where,
                       ago::runtime::any_program const& p = ago::runtime::any_program::of<Program>())
      : differential::guarded_run(p, random_weights<Net>(1), random_inputs(p), where) {}
};

/// The result of a program there.
template <class Program, auto const& Net>
std::vector<float> result_of(differential::edge where, auto&... team) {
  guarded_run<Program, Net> r(where);
  Program::run(r.memory(), team...);
  CHECK(r.intact());
  return r.results();
}

/// K of the sum that `Fused` adds in another order than `Unfused`; 0: none. Accumulating chunks keeps the order, unless
/// a register holds two steps of K.
template <class Fused, class Unfused>
constexpr int reordered_depth() {
  for (int i = 0; i < Fused::first_part(Fused::steps); ++i)
    if (Fused::plan.steps[i].key.accumulates && Unfused::plan.steps[i].key.paired)
      return Fused::plan.steps[i].data.in.c;
  return 0;
}

/// Bit-identical, except for a reordered sum, where each addition may round once more.
inline bool agree(std::vector<float> const& a, std::vector<float> const& b, int reordered) {
  if (reordered == 0) return a == b;
  float largest = 1;
  for (float x : b) largest = std::max(largest, std::abs(x));
  float const bound = float(reordered) * std::numeric_limits<float>::epsilon() * largest;
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [=](float x, float y) { return std::abs(x - y) <= bound; });
}

/// Pipelines of `Program` with the tiling.
template <class Program>
constexpr int pipelines(tiling how) {
  int n = 0;
  for (int k = 0; k < Program::steps; ++k) n += Program::tiling_of(k).how == how;
  return n;
}

/// Whether the fused network is one pipeline with the requested tiling and gives the unfused result, wherever memory
/// ends.
template <auto const& Net, auto const& Schedules, isa I = native_isa>
void compare(char const* name) {
  using fused = program<Net, Schedules, options{.target = I}>;
  using unfused = program<Net, untuned, options{.target = I, .policy = policy::ago_ni}>;
  CAPTURE(std::string(name));
  CAPTURE(std::string(name_of(I)));
  CAPTURE(std::string(name_of(Schedules.wish.tiling)));
  CAPTURE(Schedules.wish.tile);
  CHECK(fused::steps < unfused::steps);
  CHECK(pipelines<fused>(Schedules.wish.tiling) == 1);
  constexpr int reordered = reordered_depth<fused, unfused>();
  auto const expected = result_of<unfused, Net>(differential::edge::end);
  CHECK(agree(result_of<fused, Net>(differential::edge::end), expected, reordered));
  CHECK(agree(result_of<fused, Net>(differential::edge::begin), expected, reordered));
}

}  // namespace model_test
