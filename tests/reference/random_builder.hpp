// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A builder with random choices.
#pragma once

#include <algorithm>

#include "builder.hpp"

namespace reference {

class random_builder : public builder {
 protected:
  explicit random_builder(unsigned seed) : random_(seed) {}

  /// from ... to, inclusive.
  int any(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
  bool chance(int percent) { return any(1, 100) <= percent; }
  void shuffle_axes(ago::ir::node& n) { std::shuffle(n.order, n.order + 4, random_); }

  void output_once(int v) {
    for (int o = 0; o < graph.output_count; ++o)
      if (graph.outputs[o] == v) return;
    output(v);
  }

 private:
  std::mt19937 random_;
};

}  // namespace reference
