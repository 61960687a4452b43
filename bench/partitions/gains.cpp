// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gains.hpp"

#include "without.hpp"

#include <ago/plan/predicted_time.hpp>
#include <tools/inspect/graph_plan.hpp>

#include <cstdio>
#include <iterator>
#include <utility>

namespace bench {
namespace {

/// Prints megabytes from beyond L2 and predicted milliseconds.
template <part Taken>
void print_cell(roomy_graph const& g, ago::device const& on) {
  ago::options const o{.target = ago::isa::neon, .device = on};
  auto const plan = ago::tools::plan_of(g, o, ago::untuned,
                                        [](auto const& f) { return f.template operator()<ago_without<Taken>>(); });
  auto const moved = plan->moved();
  ago::plan::predicted_cycles sum;
  double bytes = 0;
  for (int k = 0; k < plan->steps(); ++k) {
    sum += predict_step(&plan->part(plan->first_part(k)), plan->groups.parts[k], plan->tiling_of(k), moved.of[k], on);
    bytes += moved.of[k].beyond_l2;
  }
  std::printf(" %.1f / %.1f |", bytes / 1e6, ago::microseconds(sum.sum(), on) / 1e3);
}

}  // namespace

void print_head_of_gains() {
  std::printf("| network |");
  for (part const p : all_parts) std::printf(" %s |", name_of(p));
  std::printf("\n|---|");
  for (std::size_t i = 0; i < std::size(all_parts); ++i) std::printf("---|");
  std::puts("");
}

void print_gains(char const* name, roomy_graph const& g, ago::device const& on) {
  std::printf("| %s |", name);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (print_cell<all_parts[I]>(g, on), ...);
  }(std::make_index_sequence<std::size(all_parts)>());
  std::puts("");
}

}  // namespace bench
