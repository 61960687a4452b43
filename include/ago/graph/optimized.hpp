// The graph that partition and plan work on: lowered, passed through all passes, and made to fit.
#pragma once

#include <ago/graph/lowering.hpp>
#include <ago/graph/passes.hpp>

namespace ago {

/// The graph of a network after all passes, exactly sized.
template <auto const& Net>
struct optimized {
 private:
  static constexpr auto roomy = optimize(lowered<Net>::value);

 public:
  static constexpr auto value = fit<roomy.node_count, roomy.edge_count, roomy.output_count>(roomy);
};

}  // namespace ago
