// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the weights (Eq. 1) of the subgraphs of figure_8.hpp, for budgets.py: their sizes, channels and operators.
#include "figure_8.hpp"

#include <ago/ago.hpp>

#include <cstdio>
#include <numeric>

template <int Size, int Channels, int Operators>
static void print() {
  auto const operators = ago::partition::dag_of(ago::program<figure_8::subgraph<Size, Channels, Operators>>::graph);
  long const weight = std::accumulate(operators.weight, operators.weight + operators.count, 0L);
  std::printf("%d_%d_%d %.1f\n", Size, Channels, Operators, double(weight) / 1000);
}

template <int Size, int Channels>
static void print_all() {
  print<Size, Channels, 1>(), print<Size, Channels, 2>(), print<Size, Channels, 3>(), print<Size, Channels, 6>();
}

int main() { print_all<56, 24>(), print_all<28, 32>(), print_all<14, 64>(); }
