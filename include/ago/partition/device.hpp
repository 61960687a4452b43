// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the analytic model knows about a machine.
#pragma once

#include <ago/graph/requirements.hpp>

namespace ago {

/// Data caches of one core, in bytes, and the number of cores that one inference may use. The default suits x86-64.
struct device {
  long l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  int threads = 1;
  bool operator==(device const&) const = default;
};

inline constexpr device cortex_a53{32 << 10, 256 << 10}, cortex_a55{32 << 10, 128 << 10},
    cortex_a76{64 << 10, 512 << 10};

}  // namespace ago
