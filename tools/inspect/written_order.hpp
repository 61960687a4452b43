// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which a network is written, for one that has been traced at run time.
#pragma once

#include <ago/graph/recorder.hpp>

#include <memory>
#include <span>

namespace ago::tools {

/// A network as constant evaluation has recorded it, at whatever size.
struct recorded_network {
  std::span<node const> nodes;
  std::span<int const> edges, outputs;
};

/// What has been recorded, in the order in which `written` has it: nodes, layers and parameters. Both are of one
/// network, perhaps for inputs of another size or layout. In `concat(x | a, x | b)` C++ leaves it open which operand is
/// recorded first: constant evaluation goes from left to right, code that g++ has compiled from right to left.
/// Null if the two differ in more than that: then what is recorded depends on the size, and no order is right.
std::unique_ptr<ago::detail::recorder const> in_written_order(ago::detail::recorder const& made,
                                                              recorded_network const& written);

}  // namespace ago::tools
