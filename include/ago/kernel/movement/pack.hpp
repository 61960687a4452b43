// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the table of an embedding.
#pragma once

#include <ago/plan/step.hpp>

namespace ago::kernel {

/// Copies the user's table.
template <isa I>
void pack_embedding(packed_operator const& s, parameter_source const& from, float const* blob, float* packed) {
  for (long i = 0; i < long(s.groups) * s.out.c; ++i) packed[i] = blob[from.weight + i];
}

}  // namespace ago::kernel
