// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Restores the written order of a network that was traced at run time.
#pragma once

#include <ago/tracing/recorder.hpp>

#include <memory>
#include <span>

namespace ago::tools {

/// A network recorded by constant evaluation, for any size.
struct recorded_network {
  std::span<ir::node const> nodes;
  std::span<int const> edges, outputs;
};

/// Reorders the nodes, layers and parameters of a recorded network as in `written`. Both are of the same network,
/// perhaps for another size or layout of its inputs. In `concat(x | a, x | b)`, C++ leaves unspecified which operand is
/// recorded first: constant evaluation goes from left to right, code that g++ compiles from right to left.
/// Null if there are other differences: then the network depends on the size, and no order is right.
std::unique_ptr<ago::tracing::recorder const> in_written_order(ago::tracing::recorder const& made,
                                                               recorded_network const& written);

}  // namespace ago::tools
