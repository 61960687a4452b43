// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks divided into work items: the results, and what each work item writes.
#pragma once

#include "fusion.hpp"

#include <ago/runtime/team.hpp>

#include <bit>

namespace model_test {

/// Divides all steps that can be divided along `How`; joins all steps that can be joined with this tiling, or none.
template <split How, tiling Tiling = tiling::none, int Tile = 0>
inline constexpr plan::uniform_schedule cut{
    {.join = Tiling == tiling::none ? -1 : 1, .tiling = Tiling, .tile = Tile, .split = How}};

/// Runs the work items of a step, or of several without a barrier, one after another, each in the memory as it was
/// before all of them, and counts how many of them write each float. What one of them needs from another is missing.
class examining_team {
 public:
  explicit examining_team(std::vector<std::span<float>> areas) : areas_(std::move(areas)) {}

  int pieces_run = 0;
  int most_writers = 0;      ///< of a float
  std::vector<int> writers;  ///< of each float of all areas, in the last run

  template <class F>
  void run(int pieces, F const& piece) {
    pieces_run += pieces;
    auto const before = values();
    auto after = before;
    writers.assign(before.size(), 0);
    for (int i = 0; i < pieces; ++i) {
      restore(before);
      piece(i);
      auto const now = values();
      for (std::size_t k = 0; k < now.size(); ++k) {
        if (std::bit_cast<int>(now[k]) == std::bit_cast<int>(before[k])) continue;
        ++writers[k];
        after[k] = now[k];
      }
    }
    restore(after);
    most_writers = std::max(most_writers, *std::max_element(writers.begin(), writers.end()));
  }

 private:
  std::vector<float> values() const {
    std::vector<float> all;
    for (auto const& a : areas_) all.insert(all.end(), a.begin(), a.end());
    return all;
  }
  void restore(std::vector<float> const& from) {
    std::size_t at = 0;
    for (auto& a : areas_)
      for (float& x : a) x = from[at++];
  }
  std::vector<std::span<float>> areas_;
};

/// Calls visit(index of the float in guarded_run::areas()) for every float of the result of step k.
template <class Program>
void for_each_result(int k, auto const& visit) {
  ago::plan::step_data const& s = Program::plan.steps[Program::first_part(k + 1) - 1].data;
  std::size_t base = 0;
  if (s.destination.in == ago::plan::place::area::output) {
    base = Program::arena_floats;
    for (int o = 0; o < s.destination.index; ++o) base += Program::output_size(o);
  }
  for (long pixel = 0; pixel < s.out.pixels(); ++pixel)
    for (int c = 0; c < s.out.c; ++c)
      visit(base + std::size_t(s.destination.offset + pixel * s.destination.pixel_stride + c));
}

/// Does step k write its result over an operand?
template <class Program>
bool is_in_place(int k) {
  ago::plan::planned_step const& s = Program::plan.steps[Program::first_part(k)];
  if (Program::first_part(k + 1) - Program::first_part(k) > 1) return false;
  auto const is_result = [&](ago::plan::place const& p) {
    return p.in == ago::plan::place::area::arena && p.in == s.data.destination.in &&
           p.offset == s.data.destination.offset;
  };
  bool r = is_result(s.data.source);
  for (int i = 0; i < s.key.after.count(); ++i) r = r || is_result(s.data.after[i].operand);
  return r;
}

/// Checks that the work items of all steps write every float of their results once, and no float twice. Returns their
/// number.
template <auto const& Net, class Program>
int check_pieces() {
  guarded_run<Program, Net> in(differential::edge::end);
  auto const areas = in.areas();
  examining_team team(areas);
  for (int k = 0; k < Program::steps; ++k) {
    CAPTURE(k);
    bool const is_copy =
        Program::plan.steps[Program::first_part(k)].key.what == ago::plan::structure::copy;  // writes elsewhere
    auto const at = [&](std::size_t i) -> float& {
      std::size_t area = 0;
      while (i >= areas[area].size()) i -= areas[area++].size();
      return areas[area][i];
    };
    auto const untouched = std::bit_cast<float>(differential::guarded_floats::pattern);
    bool const in_place = is_in_place<Program>(k);  // what is there changes, too
    if (!is_copy)
      for_each_result<Program>(k, [&](std::size_t i) { at(i) = in_place ? float(i % 17) - 8.25f : untouched; });
    team.writers.clear();
    Program::run_step(k, in.memory(), team);
    if (team.writers.empty()) continue;
    CHECK(*std::max_element(team.writers.begin(), team.writers.end()) == 1);
    bool every = true;
    for_each_result<Program>(k, [&](std::size_t i) { every = every && team.writers[i] == 1; });
    CHECK(every);
  }
  CHECK(in.intact());
  return team.pieces_run;
}

/// Checks that the network, divided by `Cut` for `Threads` threads, gives results bit-identical to those of the
/// undivided steps. Returns the number of work items of its divided steps.
template <auto const& Net, auto const& Cut, int Threads, isa I = native_isa>
int compare_cut() {
  static constexpr plan::uniform_schedule uncut = [] {
    plan::uniform_schedule s = Cut;
    s.wish.split = split::whole;
    return s;
  }();
  static constexpr options how{.target = I, .threads = {Threads}};
  using pieces = program<Net, Cut, how>;
  using whole = program<Net, uncut, how>;
  CAPTURE(Threads);
  CAPTURE(std::string(name_of(I)));
  CAPTURE(std::string(name_of(Cut.wish.split)));
  CAPTURE(std::string(name_of(Cut.wish.tiling)));
  static_assert(pieces::steps == whole::steps && whole::arena_floats <= pieces::arena_floats);
  auto const expected = result_of<whole, Net>(differential::edge::end);
  team workers(Threads);
  for (auto const where : {differential::edge::end, differential::edge::begin}) {
    CHECK(result_of<pieces, Net>(where) == expected);
    CHECK(result_of<pieces, Net>(where, workers) == expected);
  }
  guarded_run<pieces, Net> apart(differential::edge::end);
  examining_team examining(apart.areas());
  pieces::run(apart.memory(), examining);
  CHECK(apart.results() == expected);
  CHECK(examining.most_writers <= 1);
  return check_pieces<Net, pieces>();
}

}  // namespace model_test
