// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each part of the library's policy gains: plans of policies that lack one.
#pragma once

#include "moved.hpp"

#include <ago/plan/predicted_time.hpp>

#include <climits>

namespace bench::without {

/// The intervals of `atoms` lighter than `limit` with the best chains; `search`: over several orders.
template <int V, int E, int O>
ago::partitions<V> partition(ago::graph<V, E, O> const& g, ago::device const& on, ago::grouping<V> const& atoms,
                             long limit, bool search) {
  ago::dag<V, E> const operators = ago::dag_of(g);
  auto const best = ago::best_partition(g, operators, atoms, limit, on, search);
  return ago::partition_into(g, ago::compose(atoms, best.subgraphs, operators.count), on);
}

struct nothing : ago::ago_policy {
  static constexpr char const* what = "nothing";
};

/// Intervals: atoms are clustered by weight instead (AGO's Algorithm 1).
struct programming {
  static constexpr char const* what = "dynamic programming";
  static constexpr bool merges_siblings = true;
  template <int V, int E, int O>
  static ago::partitions<V> partition(ago::graph<V, E, O> const& g, ago::device const& on) {
    ago::dag<V, E> const operators = ago::dag_of(g);
    auto const atoms = ago::atoms_of(g);
    auto const weighted = ago::quotient(operators, atoms);
    long const limit = ago::default_limit(g, atoms, weighted);
    auto const clusters = ago::cluster(weighted, limit, INT_MAX, ago::affix::adjacent);
    return ago::partition_into(g, ago::compose(atoms, clusters, operators.count), on);
  }
};

/// Atoms: the intervals are of single operators, so they may cut epilogues.
struct atoms {
  static constexpr char const* what = "atoms";
  static constexpr bool merges_siblings = true;
  template <int V, int E, int O>
  static ago::partitions<V> partition(ago::graph<V, E, O> const& g, ago::device const& on) {
    ago::grouping<V> single;
    for (; single.count < g.node_count - g.input_count; ++single.count) single.of[single.count] = single.count;
    auto const whole = ago::atoms_of(g);
    long const limit = ago::default_limit(g, whole, ago::quotient(ago::dag_of(g), whole));
    return without::partition(g, on, single, limit, true);
  }
};

/// Chains: every atom is computed alone.
struct chains : ago::ago_ni_policy {
  static constexpr char const* what = "chains";
};

/// Other orders than the recorded one.
struct orders {
  static constexpr char const* what = "order search";
  static constexpr bool merges_siblings = true;
  static auto partition(auto const& g, ago::device const& on) {
    auto const atoms = ago::atoms_of(g);
    long const limit = ago::default_limit(g, atoms, ago::quotient(ago::dag_of(g), atoms));
    return without::partition(g, on, atoms, limit, false);
  }
};

/// Horizontal fusion.
struct siblings : ago::ago_policy {
  static constexpr char const* what = "siblings";
  static constexpr bool merges_siblings = false;
};

/// The weight limit of subgraphs.
struct limit {
  static constexpr char const* what = "limit Td";
  static constexpr bool merges_siblings = true;
  static auto partition(auto const& g, ago::device const& on) {
    return without::partition(g, on, ago::atoms_of(g), LONG_MAX, true);
  }
};

/// f.operator()<Policy>() for each.
void for_each(auto const& f) {
  [&]<class... Policy>(std::type_identity<Policy>...) {
    (f.template operator()<Policy>(), ...);
  }(std::type_identity<nothing>(), std::type_identity<programming>(), std::type_identity<atoms>(),
    std::type_identity<chains>(), std::type_identity<orders>(), std::type_identity<siblings>(),
    std::type_identity<limit>());
}

inline void print_head() {
  std::printf("| network | size |");
  for_each([]<class Policy>() { std::printf(" %s |", Policy::what); });
  std::printf("\n|---|---|");
  for_each([]<class>() { std::printf("---|"); });
  std::puts("");
}

/// Prints a row: for each, megabytes beyond L2 and predicted milliseconds.
inline void print_row(char const* name, int size, roomy_graph const& g, ago::device const& on) {
  std::printf("| %s | %d |", name, size);
  for_each([&]<class Policy>() {
    auto const by = [](auto const& f) { return f.template operator()<Policy>(); };
    ago::tools::run_time_program const program(g, ago::options(ago::isa::neon, on), ago::untuned, by);
    auto const moved = program.moved();
    double bytes = 0, cycles = 0;
    for (int k = 0; k < program.steps(); ++k) {
      int const first = program.first_part(k), parts = program.first_part(k + 1) - first;
      bytes += moved->of[k].beyond_l2;
      cycles +=
          ago::predict_step(program.plan.steps + first, parts, program.groups.tiles[k], moved->of[k], on).sum();
    }
    std::printf(" %.1f / %.1f |", bytes / 1e6, ago::microseconds(cycles, on) / 1000);
  });
  std::puts("");
}

template <auto const& Net>
void print_row(char const* name, int size, ago::device const& on) {
  on_large_stack(std::size_t{512} << 20, [&] {
    print_row(name, size, ago::fit<1024, 3072, 8>(ago::optimized<Net>::value), on);
  });
}

}  // namespace bench::without
