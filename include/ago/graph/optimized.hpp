// The graph that partition and plan work on: lowered, passed through all passes, and made to fit.
#pragma once

#include <ago/graph/lowering.hpp>
#include <ago/graph/passes.hpp>

namespace ago {

/// The graph of a network after all passes, exactly sized, simplified as far as `Freedom` allows.
template <auto const& Net, algebra Freedom = algebra::exact>
struct optimized {
 private:
  struct result {
    std::remove_cvref_t<decltype(lowered<Net>::value)> graph;
    rule_counts applied;
  };
  static constexpr result roomy = [] {
    result r{};
    r.graph = optimize(lowered<Net>::value, Freedom, r.applied);
    return r;
  }();

 public:
  static constexpr auto value =
      fit<roomy.graph.node_count, roomy.graph.edge_count, roomy.graph.output_count>(roomy.graph);
  /// Which rules of algebra have been applied, and how often.
  static constexpr rule_counts const& applied = roomy.applied;
};

}  // namespace ago
