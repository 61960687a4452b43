// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ago/plan/predicted_time.hpp>

#include <doctest/doctest.h>

using namespace ago;
using ago::plan::moved_bytes;
using ago::plan::planned_step;
using ago::plan::predict_step;
using ago::plan::predicted_cycles;
using ago::plan::structure;

namespace {

/// A part without a register tile: `what`, on images of `rows`x16x64, with a window of 3x3.
planned_step part_of(structure what, isa target = isa::neon, int rows = 16) {
  planned_step p;
  p.key.what = what;
  p.key.target = target;
  p.data.in = p.data.out = {1, rows, 16, 64};
  p.data.win = {.kernel_h = 3, .kernel_w = 3};
  return p;
}

predicted_cycles predicted(planned_step const& p, moved_bytes const& moved, device const& on) {
  return predict_step(&p, 1, {}, moved, on);
}

}  // namespace

TEST_CASE("a line from L2 and one from beyond cost what the device says, in addition to the arithmetic") {
  planned_step const p = part_of(structure::elementwise);
  device const on{.line_from_l2 = 6, .line_from_memory = 60, .line_to_product = 2};
  predicted_cycles const in_l1 = predicted(p, {}, on), from_l2 = predicted(p, {64 * 10, 0}, on);
  predicted_cycles const from_memory = predicted(p, {64 * 10, 64 * 4}, on);
  CHECK(in_l1.memory == 0);
  CHECK(in_l1.arithmetic == 2 * 16 * 16 * 64 / 4);  // a cycle for each register that is read or written
  CHECK(from_l2.memory == 10 * 6 / 4.);
  CHECK(from_memory.memory == 10 * 6 / 4. + 4 * 60 / 4.);
  CHECK(predicted(p, {64 * 10, 64 * 4, 64 * 7}, on).memory == 3 * 6 / 4. + 7 * 2 / 4. + 4 * 60 / 4.);  // 7 to a product
  CHECK(from_memory.sum() == in_l1.arithmetic + from_memory.memory);
}

TEST_CASE("a pipeline takes as long as its parts, and for each row the time in which its kernels start") {
  auto const starts = [](int rows) {
    planned_step const parts[]{part_of(structure::elementwise, isa::neon, rows),
                               part_of(structure::max_pool, isa::neon, rows)};
    double const sum = predicted(parts[0], {}, {}).sum() + predicted(parts[1], {}, {}).sum();
    return predict_step(parts, 2, {tiling::rows, 0}, {}, {}).sum() - sum;
  };
  CHECK(starts(16) > 0);
  CHECK(starts(32) == 2 * starts(16));
}

TEST_CASE("pooling takes a cycle for each register of its windows, and longer on a core that runs in order") {
  planned_step const p = part_of(structure::max_pool);
  CHECK(predicted(p, {}, cortex_a76).arithmetic == 16 * 16 * 64 / 4 * 9);
  CHECK(predicted(p, {}, cortex_a55).arithmetic > 3 * predicted(p, {}, cortex_a76).arithmetic);
  CHECK(predicted(part_of(structure::elementwise), {}, cortex_a55).arithmetic ==
        predicted(part_of(structure::elementwise), {}, cortex_a76).arithmetic);
}

TEST_CASE("wider registers take fewer cycles, and a faster clock less time") {
  CHECK(predicted(part_of(structure::elementwise, isa::avx512), {}, {}).arithmetic * 4 ==
        predicted(part_of(structure::elementwise), {}, {}).arithmetic);
  CHECK(microseconds(4800, cortex_a76) == 2);
}
