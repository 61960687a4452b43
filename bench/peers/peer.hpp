// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Another inference engine that runs the same network, for comparison.
#pragma once

#include "layers.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench {

/// An engine with one network loaded. It reads and writes the memory it was given; inputs and outputs are NHWC and
/// belong to the caller.
class peer {
 public:
  virtual ~peer() = default;
  virtual void run() = 0;
  /// Runs the layers again on the values of the last run(), without the changes of layout at the edges: the cost of the
  /// layers within a network in the engine's own layout. For networks of one layer.
  virtual void run_layer() { run(); }
  /// For engines in another process: runs once and returns the seconds by that process's clock. Empty: run() is timed.
  virtual std::function<double()> clock() { return {}; }
};

struct peer_memory {
  std::span<float* const> inputs, outputs;
};

/// One way to use an engine. Of several ways to use the same engine, the fastest one counts.
struct peer_option {
  std::string engine, choice;
  /// Throws `unsupported` if the engine cannot run the network.
  std::unique_ptr<peer> (*load)(layer_list const&, peer_memory, int threads);
};

/// The engines found when this program was built.
std::vector<peer_option> peer_options();

/// The first and the last step that need a piece of scratch memory.
struct lifetime {
  std::size_t bytes;
  int first, last;
};

struct placement {
  std::vector<std::size_t> offsets;  ///< multiples of 64
  std::size_t bytes = 0;
};

/// Lets pieces that are never needed at the same time share memory, as any user of a library without a planner would:
/// the largest first, each at the lowest free offset (greedy by size, Pisarchyk and Lee 2020, arXiv:2001.03288).
placement place(std::span<lifetime const> pieces);

}  // namespace bench
