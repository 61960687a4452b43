// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph that partition and plan work on: lowered, transformed by all passes, exactly sized.
#pragma once

#include <ago/graph/lowering.hpp>
#include <ago/graph/passes.hpp>
#include <ago/graph/siblings.hpp>

namespace ago {

namespace detail {

/// The graph of a stage, exactly sized.
template <class Stage>
inline constexpr auto fitted =
    fit<Stage::graph.node_count, Stage::graph.edge_count, Stage::graph.output_count>(Stage::graph);

/// A network's graph after the passes, with unchanged capacities, and the rules that were applied.
template <auto const& Net, algebra Freedom>
struct simplified {
  static constexpr auto result = [] {
    struct {
      std::remove_cvref_t<decltype(lowered<Net>::value)> graph;
      rule_counts applied;
    } r{};
    r.graph = optimize(lowered<Net>::value, Freedom, r.applied);
    return r;
  }();
  static constexpr auto const& graph = result.graph;
};

template <auto const& Net, algebra Freedom, merging Merging>
struct merged {
  static constexpr auto graph = optimize(merge_siblings(fitted<simplified<Net, Freedom>>, Merging), Freedom);
};

/// Is what a network records optimised already? Its body says so, because passes would undo what has been done since.
template <auto const& Net>
inline constexpr bool is_optimized = requires { requires decltype(Net.body)::is_optimized; };

}  // namespace detail

/// The graph of a network after all passes, exactly sized. `Freedom` selects the algebraic rules, `Merging` the
/// siblings that are merged.
template <auto const& Net, algebra Freedom = algebra::exact, merging Merging = merging{}>
struct optimized {
 private:
  static constexpr auto const& apart = detail::fitted<detail::simplified<Net, Freedom>>;
  static constexpr auto const& choose() {
    if constexpr (has_siblings(apart, Merging))
      return detail::fitted<detail::merged<Net, Freedom, Merging>>;
    else
      return apart;
  }

 public:
  static constexpr auto const& value = choose();
  /// How often each algebraic rule was applied.
  static constexpr rule_counts const& applied = detail::simplified<Net, Freedom>::result.applied;
};
template <auto const& Net, algebra Freedom, merging Merging>
  requires detail::is_optimized<Net>
struct optimized<Net, Freedom, Merging> {
  static constexpr auto const& value = lowered<Net>::value;
};

}  // namespace ago
