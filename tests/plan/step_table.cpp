// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of steps: every kernel finds the data of its work item.
#include <ago/plan/step_table.hpp>
#include <ago/runtime/planned.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace ago;
using ago::plan::for_each_piece;
using ago::plan::input_run;
using ago::plan::kernel_memory;
using ago::plan::place;
using ago::plan::planned_data;
using ago::plan::run_memory;
using ago::plan::run_of_piece;
using ago::plan::size_of_step_table;
using ago::plan::stage_data;
using ago::plan::step_data;
using ago::plan::step_details;
using ago::plan::step_piece;
using ago::plan::step_table;
using ago::plan::step_table_size;

namespace {

/// Epilogues of different length, segments, details of three kinds, a pipeline, and work items.
constexpr auto mixed = trace(
    [](tensor x, tensor y) {
      tensor const joined = concat(x | relu{}, y | slice{2, 5}) | channel_shuffle{3} | pointwise{32} | relu6{};
      tensor const wide = joined | depthwise{.kernel = 3, .pad = 1} | batch_norm{} | relu6{} | pointwise{24};
      return outputs(wide + (joined | pointwise{24} | hyperbolic_tangent{}), y | pad{.sides = 1, .value = 3.f} | silu{},
                     wide | softmax{} | permute{.h = 2, .w = 1});
    },
    input{.h = 112, .w = 96, .c = 4}, input{.h = 112, .w = 96, .c = 7});

struct code : planned<mixed, untuned, options{.threads = {3}}> {
  using planned::groups, planned::runs;
};
constexpr step_table<size_of_step_table(code::groups, code::splits, code::plan, code::runs)> table{
    code::groups, code::splits, code::memory, code::plan, code::runs};

template <class T, int>
using growing_list = std::vector<T>;

bool same(stage_data const& a, stage_data const& b) {
  return a.operand == b.operand && a.image_step == b.image_step && a.parameters == b.parameters && a.alpha == b.alpha &&
         a.beta == b.beta;
}
bool same(input_run const& a, input_run const& b) {
  return a.at == b.at && a.count == b.count && a.start == b.start && a.step == b.step;
}

/// Compares a table with the work items that it was made of.
void compare(auto const& made) {
  kernel_memory const m{run_memory{}, made.tables()};
  int step_before = -1, item = 0, items = 0, stages = 0, segments = 0, details = 0, parts = 0;
  for_each_piece(code::groups, code::splits, code::memory, code::plan,
                 [&](int step, int first, int count, step_piece const& piece) {
                   item = step == step_before ? item + 1 : 0;
                   step_before = step;
                   items += item > 0;
                   REQUIRE(item < made.pieces(step));
                   step_data const* const stored = &made.piece(step, item);
                   for (int i = 0; i < count; ++i) {
                     planned_data const& from = piece.part[i];
                     CHECK((stored[i].in == from.in && stored[i].out == from.out && stored[i].win == from.win));
                     CHECK((stored[i].source == from.source && stored[i].destination == from.destination));
                     CHECK((stored[i].weights == from.weights && stored[i].scratch == from.scratch));
                     int const length = code::plan.steps[first + i].key.after.count();
                     for (int k = 0; k < length; ++k) CHECK(same(m.stage(stored[i], k), from.after[k]));
                     CHECK(m.details(stored[i]) == static_cast<step_details const&>(from));
                     CHECK((stored[i].details == 0) == !from.has_details());
                     stages += length;
                     details += stored[i].details > 0;
                     parts += i > 0;
                   }
                   CHECK(stored->run_count == code::runs.count[first]);
                   for (int k = 0; k < stored->run_count; ++k) {
                     input_run const& whole = code::runs.run[code::runs.first[first] + k];
                     CHECK(same(m.run(*stored, k), run_of_piece(whole, piece)));
                     ++segments;
                   }
                 });
  CHECK(step_before == code::steps - 1);
  // The network has all of these.
  CHECK(items > 0);
  CHECK(parts > 0);
  CHECK(stages > 0);
  CHECK(segments > 0);
  CHECK(details > 0);
}

}  // namespace

TEST_CASE("the table of steps has the data of every work item, in constants and in lists that grow") {
  compare(table);
  compare(
      step_table<step_table_size{}, growing_list>(code::groups, code::splits, code::memory, code::plan, code::runs));
}

TEST_CASE("an entry of the table of steps is small") {
  CHECK(sizeof(step_data) <= 168);
  CHECK(sizeof(stage_data) <= 32);
  CHECK(sizeof(place) <= 16);
}
