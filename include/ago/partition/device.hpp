// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the analytic model knows about a machine.
#pragma once

#include <ago/graph/isa.hpp>

namespace ago {

/// Data caches of one core, in bytes, and the number of cores that one inference may use. The default suits x86-64.
struct device {
  long l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  int threads = 1;
  bool operator==(device const&) const = default;
};

/// Cores by name. Where the designer of a chip may choose a size (the core's technical reference manual by Arm, "L1
/// memory system" and "L2 memory system"), that of a widespread one: Raspberry Pi 3 (A53), 4 (A72) and 5 (A76),
/// Graviton2 (N1) and 3 (V1). An L2 that four cores share counts half, and a quarter on the M1.
inline constexpr device cortex_a53{32 << 10, 256 << 10}, cortex_a55{32 << 10, 128 << 10},
    cortex_a72{32 << 10, 512 << 10}, cortex_a76{64 << 10, 512 << 10}, cortex_a78{64 << 10, 512 << 10},
    cortex_x1{64 << 10, 1 << 20}, apple_m1{128 << 10, 3 << 20}, neoverse_n1{64 << 10, 1 << 20},
    neoverse_v1{64 << 10, 1 << 20};

/// The device for which a network is planned if none is given. On 64-bit Arm it is a little core, because no compiler
/// tells a program for which core it is compiled: the macros of `-mcpu=cortex-a55` are those of `-mcpu=cortex-a76`; and
/// little cores lose more by plans for others (docs/arm.md).
constexpr device usual_device(isa target) {
  if (target != isa::neon) return {};
#ifdef __APPLE__
  return apple_m1;
#else
  return cortex_a55;
#endif
}

}  // namespace ago
