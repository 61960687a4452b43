// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph that partition and plan work on: lowered, transformed by all passes, exactly sized.
#pragma once

#include <ago/ir/consteval.hpp>
#include <ago/network/lowering.hpp>
#include <ago/passes/passes.hpp>
#include <ago/passes/siblings.hpp>

namespace ago::passes {

/// The graph of a stage, exactly sized.
template <class Stage>
inline constexpr auto fitted =
    fit<Stage::graph.node_count, Stage::graph.edge_count, Stage::graph.output_count>(Stage::graph);

/// Graphs of more operators are optimised in several evaluations: Clang allows 2^20 steps in each, while g++ allows
/// more, and takes much memory for each constant.
#ifdef __clang__
inline constexpr int optimized_at_once = 1500;
#else
inline constexpr int optimized_at_once = 4000;
#endif

/// optimize() of a constant graph in an evaluation for each round.
template <auto const& Graph, algebra Freedom>
struct optimized_in_rounds {
 private:
  using state = simplification<std::remove_cvref_t<decltype(Graph)>>;
  template <int Round>
  static AGO_CONSTEVAL state after_round() {
    if constexpr (Round == 0) {
      return {cleaned(Graph), {}, Freedom != algebra::literal};
    } else {
      state s = after<Round - 1>;
      s.next_round(Freedom);
      return s;
    }
  }
  template <int Round>
  static constexpr state after = after_round<Round>();

 public:
  template <int Round = 0>
  static AGO_CONSTEVAL state result() {
    if constexpr (after<Round>.changed) return result<Round + 1>();
    else return {fold_batch_norm(after<Round>.graph), after<Round>.applied};
  }
};

/// A network's graph after the passes, with unchanged capacities, and the rules that were applied.
template <auto const& Net, algebra Freedom>
struct simplified {
  static constexpr auto result = []() AGO_CONSTEVAL {
    constexpr auto const& recorded = lowered<Net>::value;
    if constexpr (recorded.node_count > optimized_at_once) {
      return optimized_in_rounds<lowered<Net>::value, Freedom>::result();
    } else {
      simplification<std::remove_cvref_t<decltype(recorded)>> r{};
      r.graph = optimize(recorded, Freedom, r.applied);
      return r;
    }
  }();
  static constexpr auto const& graph = result.graph;
};

template <auto const& Net, algebra Freedom, merging Merging>
struct merged_siblings {
  static constexpr auto graph = merge_siblings(fitted<simplified<Net, Freedom>>, Merging);
};
template <auto const& Net, algebra Freedom, merging Merging>
struct merged {
  static constexpr auto graph = []() AGO_CONSTEVAL {
    constexpr auto const& apart = fitted<simplified<Net, Freedom>>;
    if constexpr (apart.node_count > optimized_at_once * 2 / 3)  // merging takes its part
      return optimized_in_rounds<merged_siblings<Net, Freedom, Merging>::graph, Freedom>::result().graph;
    else return optimize(merge_siblings(apart, Merging), Freedom);
  }();
};

/// Is what a network records optimised already? Its body says so, because passes would undo what has been done since.
template <auto const& Net>
inline constexpr bool is_optimized = requires { requires decltype(Net.body)::is_optimized; };

/// The graph of a network after all passes, exactly sized. `Freedom` selects the algebraic rules, `Merging` the
/// siblings that are merged.
template <auto const& Net, algebra Freedom = algebra::exact, merging Merging = merging{}>
struct optimized {
 private:
  static constexpr auto const& apart = fitted<simplified<Net, Freedom>>;
  static constexpr auto const& choose() {
    if constexpr (has_siblings(apart, Merging)) return fitted<merged<Net, Freedom, Merging>>;
    else return apart;
  }

 public:
  static constexpr auto const& value = choose();
  /// How often each algebraic rule was applied.
  static constexpr rule_counts const& applied = simplified<Net, Freedom>::result.applied;
};
template <auto const& Net, algebra Freedom, merging Merging>
  requires is_optimized<Net>
struct optimized<Net, Freedom, Merging> {
  static constexpr auto const& value = lowered<Net>::value;
};

}  // namespace ago::passes
