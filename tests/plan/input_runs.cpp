// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of the segments that matrix products read: places, lengths, and channels.
#include <ago/runtime/program.hpp>

#include <doctest/doctest.h>

using namespace ago;
using namespace ago::kernel;
using namespace ago::plan;

namespace {

constexpr auto units = trace(
    [](tensor x, tensor y) {
      tensor const joined = concat(x | relu{}, y | slice{2, 5}) | channel_shuffle{3};
      return outputs(joined | pointwise{4}, joined | slice{4, 3} | linear{2}, x | pointwise{3});
    },
    input{.h = 2, .w = 3, .c = 4}, input{.h = 2, .w = 3, .c = 7});

using code = program<units>;

constexpr planned_step const& step_of(int output) {
  for (auto const& step : code::plan.steps)
    if (step.data.destination.in == place::area::output && step.data.destination.index == output) return step;
  return code::plan.steps[0];
}

}  // namespace

TEST_CASE("a product knows the place of each segment, and a whole value needs no table") {
  constexpr auto layouts = channel_layouts_of(code::graph);
  constexpr auto views = views_of(code::graph, layouts);
  constexpr auto steps = form_steps<step_capacity(code::graph, layouts)>(code::graph, code::partition.minis, views,
                                                                         layouts, code::partition.chain_of);
  constexpr int count = count_input_runs(code::graph, steps, layouts);
  constexpr auto table = input_runs_of<count, steps.count>(code::graph, steps, layouts, code::memory);
  static_assert(step_of(2).data.run_count == 0 && !step_of(2).key.in_runs);
  static_assert(step_of(0).key.in_runs && step_of(1).key.in_runs);

  // relu is r0 ... r3, the slice y2 ... y6; shuffled in three groups of three: r0 r3 y4, r1 y2 y5, r2 y3 y6.
  struct piece {
    bool of_input;
    int first, count, start, step;
  };
  piece const all[] = {{false, 0, 3, 0, 3}, {false, 3, 1, 1, 1}, {true, 2, 2, 4, 3}, {true, 4, 3, 2, 3}};
  piece const part[] = {{false, 2, 1, 2, 1}, {true, 2, 1, 0, 1}, {true, 5, 1, 1, 1}};  // y2 y5 r2
  int sum = 0;
  for (int i = 0; i < steps.count; ++i) {
    sum += table.count[i];
    int const output = code::plan.steps[i].data.destination.index;
    if (table.count[i] == 0) continue;
    piece const* const expected = output == 0 ? all : part;
    REQUIRE(table.count[i] == (output == 0 ? 4 : 3));
    CHECK(table.scattered[i]);
    for (int k = 0; k < table.count[i]; ++k) {
      CAPTURE(output);
      CAPTURE(k);
      input_run const& run = table.run[table.first[i] + k];
      CHECK(run.count == expected[k].count);
      CHECK(run.start == expected[k].start);
      if (run.count > 1) CHECK(run.step == expected[k].step);
      bool const of_input = run.at.in == place::area::input;
      CHECK(of_input == expected[k].of_input);
      if (of_input) CHECK(run.at.index == 1);
      CHECK(run.at.pixel_stride == (of_input ? 7 : 4));
      CHECK(run.at.offset % 16 == expected[k].first);  // values in the arena begin at multiples of 16
    }
  }
  CHECK(sum == count);
  CHECK(count == 7);
}
