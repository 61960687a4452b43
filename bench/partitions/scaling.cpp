// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scaling.hpp"

#include <partition/graphs.hpp>

#include <ago/partition/policy.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <memory>
#include <vector>

namespace bench {
namespace {

using ago::op;

/// Microseconds of processor time, the minimum of several runs.
template <class Work>
double least_time(int runs, Work const& work) {
  std::clock_t least = std::numeric_limits<std::clock_t>::max();
  for (int i = 0; i < runs; ++i) {
    std::clock_t const start = std::clock();
    work();
    least = std::min(least, std::clock() - start);
  }
  return 1e6 * double(least) / CLOCKS_PER_SEC;
}

template <int Nodes>
using builder_of = test::builder<Nodes + 64, 6 * Nodes + 64>;

/// Operator `i` of a line: separable convolutions.
template <class Builder>
int next_in_line(Builder& b, int x, int i) {
  if (i % 3 != 0) return b.unary(i % 3 == 1 ? op::bias : op::relu6, x);
  return i % 6 == 0 ? b.pointwise(x, 96) : b.depthwise(x);
}

template <class Builder>
int concat(Builder& b, std::vector<int> const& values) {
  int const x = b.concat(values[0], values[1]);
  for (std::size_t i = 2; i < values.size(); ++i) b.g.edges[b.g.edge_count++] = values[i];
  b.g.nodes[x].input_count = int(values.size());
  b.g.nodes[x].out.c = 96 * int(values.size());
  return x;
}

template <class Builder>
void grow_lines(Builder& b, int input, int lines, int nodes) {
  std::vector<int> ends(lines, input);
  for (int i = 0; b.g.node_count < nodes - lines; ++i) ends[i % lines] = next_in_line(b, ends[i % lines], i / lines);
  for (; ends.size() > 1; ends.resize((ends.size() + 1) / 2))
    for (std::size_t i = 0; i < ends.size() / 2; ++i) ends[i] = b.binary(op::add, ends[i], ends[ends.size() - 1 - i]);
}

template <class Builder>
void grow_dense_blocks(Builder& b, int x, int nodes) {
  while (b.g.node_count < nodes - 60) {
    std::vector<int> values{b.bias_relu(b.pointwise(x, 96))};
    while (values.size() < 16) {
      int const all = values.size() == 1 ? values[0] : concat(b, values);
      values.push_back(b.bias_relu(b.pointwise(all, 96)));
    }
    x = b.pointwise(concat(b, values), 96);
  }
}

enum class family { residuals, shuffles, one_line, twenty_lines, diamonds, dense, fan };
struct named_family {
  family kind;
  char const* name;
};
constexpr named_family families[] = {
    {family::residuals, "inverted residuals"},    {family::shuffles, "shuffle units"}, {family::one_line, "one chain"},
    {family::twenty_lines, "20 parallel chains"}, {family::diamonds, "diamonds"},      {family::dense, "dense blocks"},
    {family::fan, "one value, many readers"},
};

template <class Builder>
void grow(Builder& b, family kind, int nodes) {
  int x = b.input({1, 14, 14, 96});
  auto const repeat = [&](auto const& block) {
    while (b.g.node_count < nodes) x = block();
  };
  switch (kind) {
    case family::residuals: return repeat([&] { return b.inverted_residual(x, 6); });
    case family::shuffles: return repeat([&] { return b.shuffle_unit(x); });
    case family::one_line: return grow_lines(b, x, 1, nodes);
    case family::twenty_lines: return grow_lines(b, x, 20, nodes);
    case family::diamonds:
      return repeat([&] { return b.binary(op::add, b.unary(op::tanh, x), b.bias_relu(b.pointwise(x, 96))); });
    case family::dense: return grow_dense_blocks(b, x, nodes);
    case family::fan: {
      int const start = b.bias_relu(b.pointwise(x, 96));
      std::vector<int> values;
      while (b.g.node_count < nodes - 1) values.push_back(b.unary(op::tanh, b.pointwise(start, 96)));
      concat(b, values);
    }
  }
}

template <int Nodes>
void print_rows(bool timed) {
  constexpr int runs = Nodes > 100'000 ? 1 : 3;
  for (auto const& [kind, name] : families) {
    auto const b = std::make_unique<builder_of<Nodes>>();
    grow(*b, kind, Nodes);
    int const operators = b->g.node_count - b->g.input_count;
    std::printf("| %s | %d |", name, operators);
    for (int p = 0; p < ago::partition::policies; ++p) {
      if (!timed) {
        std::printf(" |");
        continue;
      }
      double const us = least_time(runs, [&] { partition_by(ago::policy(p), b->g); });
      std::printf(" %.2f |", us / operators);
    }
    std::puts("");
  }
}

void print(bool timed) {
  std::printf("| network | operators |");
  for (int p = 0; p < ago::partition::policies; ++p) std::printf(" %s |", name_of(ago::policy(p)));
  std::printf("\n|---|---|");
  for (int p = 0; p < ago::partition::policies; ++p) std::printf("---|");
  std::puts("");
  print_rows<10'000>(timed);
  print_rows<100'000>(timed);
  print_rows<1'000'000>(timed);
}

}  // namespace

void print_scaling() { print(true); }
void print_scaling_networks() { print(false); }

}  // namespace bench
