// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scaling.hpp"

#include "large_stack.hpp"

#include <partition/graphs.hpp>

#include <ago/partition/cluster.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>

namespace bench {
namespace {

/// Milliseconds of processor time, the minimum of several runs.
template <class Work>
double least_time(int runs, Work const& work) {
  std::clock_t least = std::numeric_limits<std::clock_t>::max();
  for (int i = 0; i < runs; ++i) {
    std::clock_t const start = std::clock();
    work();
    least = std::min(least, std::clock() - start);
  }
  return 1e3 * double(least) / CLOCKS_PER_SEC;
}

struct scaling_figures {
  int operators, edges, groups;
  double milliseconds;
};

/// CLUSTER with the limit 600 on a network of about `Nodes` operators, composed of blocks.
template <int Nodes, class Block>
scaling_figures cluster_of(Block const& block) {
  using builder = test::builder<Nodes + 16, 2 * Nodes + 32>;
  scaling_figures r{};
  on_large_stack(std::size_t(1'024) * Nodes + (64 << 20), [&] {
    auto const b = std::make_unique<builder>();
    for (int x = b->input({1, 14, 14, 96}); b->g.node_count < Nodes;) x = block(*b, x);
    auto const d = std::make_unique<ago::dag<Nodes + 16, 2 * Nodes + 32>>(dag_of(b->g));
    r.operators = d->count;
    r.edges = d->first[d->count];
    r.milliseconds = least_time(9, [&] { r.groups = cluster(*d, 600'000).count; });
  });
  return r;
}

template <int Nodes>
void print_rows() {
  auto const row = [](char const* name, scaling_figures const& f) {
    std::printf("| %s | %d | %d | %d | %.2f | %.2f |\n", name, f.operators, f.edges, f.groups, f.milliseconds,
                1e3 * f.milliseconds / f.operators);
  };
  row("inverted residuals", cluster_of<Nodes>([](auto& b, int x) { return b.inverted_residual(x, 6); }));
  row("shuffle units", cluster_of<Nodes>([](auto& b, int x) { return b.shuffle_unit(x); }));
}

}  // namespace

void print_scaling() {
  std::puts("| network | operators | edges | groups | ms | us per operator |\n|---|---|---|---|---|---|");
  print_rows<1'000>();
  print_rows<3'000>();
  print_rows<10'000>();
  print_rows<30'000>();
  print_rows<100'000>();
}

}  // namespace bench
