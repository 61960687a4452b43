// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tracing at run time, so that tests can sweep over arguments. The library itself traces in constant evaluation only.
#pragma once

#include <ago/network/lowering.hpp>

namespace graph_test {

struct run_time_trace {
  ago::tracing::recorder recorder;

  ago::tensor add(ago::input in) {
    ago::tensor const x = ago::lowering::record_input(recorder, in);
    recorder.inputs = recorder.nodes.size;
    return ago::lowering::record_layout(x, in);
  }
  ago::ir::node const& last() const { return recorder.nodes[recorder.nodes.size - 1]; }
  ago::ir::fault fault() const { return recorder.bad.what; }
};

}  // namespace graph_test
