// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One layer and the same operator of other engines, checked before they are timed.
#pragma once

#include "registry.hpp"

#include "../contest.hpp"
#include "../loops.hpp"

namespace bench {

/// A layer with its contestants: ago, then single operators of the other engines, without changes of layout.
class subject {
 public:
  explicit subject(kernel const& k) : kernel_{k}, contest_{k.network, k.name} { contest_.enter_peers(1, timed::layer); }

  /// Whether all compute the same; reports those that do not. `loops`: also compare with plain loops, which is always
  /// done if no other engine takes part.
  bool agrees(bool loops) {
    bool all = contest_.agrees();
    if (!loops && contest_.contestants().size() > 1) return all;
    return agrees_with_loops(contest_, kernel_.network) && all;
  }

  void try_out(int runs) { contest_.try_out(runs); }
  void measure(int repetitions) { contest_.run(repetitions); }
  double peak() const { return contest_.peak(); }
  kernel const& what() const { return kernel_; }

  contestant const& ours() const { return contest_.contestants().front(); }
  /// The fastest way to use an engine according to measure(); null if the engine does not take part.
  contestant const* best(std::string const& engine) const {
    contestant const* found = nullptr;
    for (contestant const& c : contest_.contestants())
      if (c.name == engine && (!found || c.time.median < found->time.median)) found = &c;
    return found;
  }

 private:
  kernel const& kernel_;
  contest contest_;
};

/// Floating-point operations of one run.
inline double operations(kernel const& k) { return 2. * double(k.network.graph.multiply_adds()); }

/// Bytes that one run must touch at least once.
inline double bytes(kernel const& k) {
  return 4. * double(k.what.in.count() + result_of(k.what).count() + k.network.graph.parameters);
}

}  // namespace bench
