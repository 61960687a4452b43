// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The size of the packed parameters of epilogues, shared by the plan that places them and the packer that writes them.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::plan {

/// Floats of the packed parameters of an epilogue stage.
constexpr long packed_floats(stage const& after, isa target, shape const& out) {
  if (!is_parametric(after.kind)) return 0;
  switch (after.kind) {
    case op::bias:
    case op::scale:
    case op::prelu: return padded(out.c, target);
    case op::batch_norm: return 2L * padded(out.c, target);
    case op::positions: return long(out.h) * out.w * out.c;
    default: ir::no_case_for_this_value();
  }
}

}  // namespace ago::plan
