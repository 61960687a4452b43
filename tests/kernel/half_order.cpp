// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions in loops that load halves: executed on registers that hold the names of values.
#include <ago/kernel/half_order.hpp>
#include <ago/kernel/matrix/schedule.hpp>

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <utility>

namespace {

using ago::kernel::companion;
using kind = companion::kind;

/// Half of a weight, and the iteration that it is from; or a pixel, and which two steps of K.
struct value {
  int steps = -1, number = -1;
  bool operator==(value const&) const = default;
};

/// Executes `iterations` iterations; returns what is wrong, or nothing.
template <int P, int V>
std::string executed(int iterations) {
  using order = ago::kernel::half_order<P, V>;
  constexpr order const& plan = ago::kernel::half_order_of<P, V>;
  value low[order::registers], high[order::registers], general[order::uses], input[P];
  int now = 0, next = 0, offset = 0, left = iterations - 1, last = 0, weights_step = 0, offset_step = 0;
  bool selected = false;
  auto const issue = [&](companion const& c) {
    int const at = c.index % order::registers, from = c.next ? next : now;
    switch (c.what) {
      case kind::high: general[c.index] = {from, c.index}; break;
      case kind::low: low[at] = {from, c.index}, high[at] = {}; break;
      case kind::join: high[at] = general[c.index]; break;
      case kind::input:
      case kind::second: input[c.index] = {offset, c.index}; break;
      case kind::fetch: break;
      case kind::count: --left, selected = false; break;
      case kind::mask: last = left < 0, selected = true; break;
      case kind::select_weights: weights_step = selected ? !last : 99; break;
      case kind::advance_weights: next += weights_step; break;
      case kind::skip_bytes: ++offset; break;
      case kind::select_bytes: offset_step = selected ? !last : 99; break;
      case kind::advance_bytes: offset += offset_step; break;
      case kind::move_weights: now = next; break;
    }
  };
  for (int i = 0; i < plan.count; ++i)
    if (plan.all[i].next && is_load(plan.all[i])) issue(plan.all[i]);
  for (int iteration = 0; iteration < iterations; ++iteration)
    for (int slot = 0; slot < order::slots; ++slot) {
      int const use = slot / P, p = slot % P, at = use % order::registers;
      value const weight{iteration, use}, pixel{iteration * order::pairs + use / V / 2, p};
      if (low[at] != weight || high[at] != weight) return "weight " + std::to_string(use);
      if (input[p] != pixel) return "pixel " + std::to_string(p);
      for (int i = plan.begin[slot]; i < plan.begin[slot + 1]; ++i) issue(plan.all[i]);
      if (now >= iterations || next >= iterations || offset >= iterations * order::pairs) return "reads beyond the end";
    }
  if (left >= 0) return "another iteration follows";
  return {};
}

template <int P, int V>
void check_tile() {
  if constexpr (ago::kernel::is_matrix_tile(ago::isa::neon, P, V) && ago::kernel::loads_halves(P, V)) {
    CAPTURE(P);
    CAPTURE(V);
    for (int iterations : {1, 2, 3, 7}) CHECK(executed<P, V>(iterations) == "");
    using order = ago::kernel::half_order<P, V>;
    CHECK(ago::kernel::half_order_of<P, V>.count == int(std::size(ago::kernel::half_order_of<P, V>.all)));
    // What issues beside the multiply-adds fits there, or would not with more steps either.
    int const beside = ago::kernel::half_order_of<P, V>.count + 1;
    CHECK((beside <= order::slots || order::steps == 4));
  }
}

template <int V, int... P>
void check_tiles(std::integer_sequence<int, P...>) {
  (check_tile<P + 2, V>(), ...);
}

}  // namespace

TEST_CASE("the order of half loads delivers every value in time, for every register tile of the menu") {
  auto const check = []<int... V>(std::integer_sequence<int, V...>) {
    (check_tiles<V + 1>(std::make_integer_sequence<int, 15>{}), ...);
  };
  check(std::make_integer_sequence<int, 10>{});
}
