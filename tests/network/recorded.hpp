// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The node that a single layer records.
#pragma once

#include "run_time_trace.hpp"

#include <ago/layers/algebra.hpp>

#include <doctest/doctest.h>

namespace graph_test {

/// The only node that a layer adds to a value.
inline ago::ir::node recorded_after(ago::input const& in, ago::layer auto const& l) {
  using ago::tensor;
  run_time_trace t;
  tensor const x = t.add(in);
  tensor const y = x | l;
  REQUIRE(t.fault() == ago::ir::fault::none);
  REQUIRE(t.recorder.nodes.size == 2);
  REQUIRE(y.index == 1);
  REQUIRE(t.recorder.edges[t.last().input_first] == 0);
  CHECK(t.last().input_count == 1);
  CHECK(t.last().layer == 1);
  return t.last();
}

}  // namespace graph_test
