// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the analytic model knows about a machine.
#pragma once

#include <ago/ir/isa.hpp>

namespace ago::partition {

/// Data caches of one core, in bytes, the number of cores that one inference may use, how they load, and what misses
/// cost. The default suits x86-64.
struct device {
  long l1_bytes = 32 << 10, l2_bytes = 1 << 20;
  int threads = 1;
  bool in_order = false;  ///< a load of 128 bits issues alone, one of 64 beside a multiply-add (Cortex-A53, A55)
  /// Quarter cycles for a cache line of 64 bytes from L2, and for one from beyond: what is left of the latency after
  /// prefetching, or what the line occupies of the bandwidth. The default is between the fits to the presets below.
  int line_from_l2 = 4, line_from_memory = 8;
  /// The same for a line from L2 that a matrix product reads, which has much to compute until it needs the next one: a
  /// core that executes out of order waits for few of them.
  int line_to_product = 1;
  int megahertz = 2300;    ///< of the clock; scales predicted times
  int multiply_adds = 32;  ///< of floats, in a cycle, at most: the peak of a core
  /// Quarter cycles that it costs several threads to finish a step together: about 0.15 us for an empty step with
  /// ago::team, measured on two cores of an AMD Zen 5, a virtual machine; the rest is for results that are
  /// read from another core's cache.
  int barrier = 2500;
  /// Quarter cycles for a cache line that another core of several has written: 4 to 10 ns on an AMD Zen 4, a
  /// virtual machine.
  int line_from_core = 80;
  /// Operations that an exponential takes, or another elementwise operator of many instructions: 7.5 cycles for each
  /// register at two operations a cycle, as fitted for the softmax in kernel/norm/unit.hpp.
  int function_operations = 15;
  /// Quarter cycles to start a step: 5 ns each for 60 steps of 16 floats on an AMD Zen 4, a virtual machine, whose
  /// code is in L1; other cores were not measured.
  int step_start = 80;
  int vector_floats = 16;  ///< of the instruction set for which chains are priced before there is a plan
  bool operator==(device const&) const = default;
};

/// Is this more than L3 has room for, of which eight L2s are taken to be a core's?
constexpr bool exceeds_l3(std::int64_t bytes, device const& on) { return bytes > 8 * on.l2_bytes; }

/// AMD Zen 4. The costs of lines and the clock are the default's.
inline constexpr device zen_4{.multiply_adds = 16};
/// AMD Zen 5. The costs of lines and the clock were fitted to an EPYC of 2026, a virtual machine
/// (docs/partitioning.md).
inline constexpr device zen_5{
    .l1_bytes = 48 << 10, .line_from_l2 = 2, .line_from_memory = 4, .line_to_product = 2, .megahertz = 4100};
/// Xeons since Sapphire Rapids. The costs of lines were fitted to one of 2026 with AVX-512, a virtual machine
/// (docs/partitioning.md).
inline constexpr device xeon{.l1_bytes = 48 << 10, .l2_bytes = 2 << 20, .line_from_l2 = 7, .line_from_memory = 12};

// Chips with the same core differ in L2, and some also in L1; each of these is one common choice. Numbers in brackets
// are those of Arm's technical reference manuals, where the permitted sizes are. The costs of lines were fitted to the
// timing model of bench/arm for the Cortex-A55 and the Cortex-A76; the A53 has the A55's, the other cores the A76's.

/// A 64-bit Arm core that issues in order.
constexpr device little_core(long l2_bytes, int megahertz) {
  return {.l1_bytes = 32 << 10,
          .l2_bytes = l2_bytes,
          .in_order = true,
          .line_from_l2 = 18,
          .line_from_memory = 96,
          .line_to_product = 18,
          .megahertz = megahertz,
          .multiply_adds = 4,
          .vector_floats = 4};
}
/// One that issues out of order. `multiply_adds`: of floats, in a cycle.
constexpr device big_core(long l1_bytes, long l2_bytes, int megahertz, int multiply_adds) {
  return {.l1_bytes = l1_bytes,
          .l2_bytes = l2_bytes,
          .line_from_l2 = 6,
          .line_from_memory = 60,
          .line_to_product = 6,
          .megahertz = megahertz,
          .multiply_adds = multiply_adds,
          .vector_floats = 4};
}

/// L2 128 KB to 2 MB, shared by up to four cores (DDI 0500): this is that of a small chip.
inline constexpr device cortex_a53 = little_core(256 << 10, 1400);
/// L1 16 to 64 KB, L2 up to 256 KB for each core (100442); 32 and 128 KB in an RK3588.
inline constexpr device cortex_a55 = little_core(128 << 10, 2000);
/// L1 32 KB, L2 512 KB to 4 MB, shared by up to four cores (100095); 1 MB in a Raspberry Pi 4.
inline constexpr device cortex_a72 = big_core(32 << 10, 1 << 20, 1800, 8);
/// L1 64 KB, L2 up to 512 KB for each core (100798), as in a Raspberry Pi 5.
inline constexpr device cortex_a76 = big_core(64 << 10, 512 << 10, 2400, 8);
/// L1 up to 64 KB, L2 up to 512 KB for each core.
inline constexpr device cortex_a78 = big_core(64 << 10, 512 << 10, 2400, 8);
/// L1 64 KB, L2 up to 1 MB for each core.
inline constexpr device cortex_x1 = big_core(64 << 10, 1 << 20, 2800, 16);
/// The large cores: L1 128 KB, L2 12 MB for all four.
inline constexpr device apple_m1 = big_core(128 << 10, 12 << 20, 3200, 16);
/// L1 64 KB, L2 up to 1 MB for each core, as in a Graviton2.
inline constexpr device neoverse_n1 = big_core(64 << 10, 1 << 20, 2500, 8);
/// L1 64 KB, L2 up to 1 MB for each core, as in a Graviton3.
inline constexpr device neoverse_v1 = big_core(64 << 10, 1 << 20, 2600, 16);

/// The device for which a network is planned if none is given. On 64-bit Arm it is a little core, because no compiler
/// tells a program for which core it is compiled: the macros of `-mcpu=cortex-a55` are those of `-mcpu=cortex-a76`; and
/// little cores lose more by plans for others (docs/arm.md). It depends on the instruction set alone, so that a program
/// for Arm that is packed or tuned on another machine has the same plan.
constexpr device usual_device(isa target) {
  if (target != isa::neon) return {};
#ifdef __APPLE__
  return apple_m1;
#else
  return cortex_a55;
#endif
}

}  // namespace ago::partition

namespace ago {
using partition::apple_m1;
using partition::cortex_a53;
using partition::cortex_a55;
using partition::cortex_a72;
using partition::cortex_a76;
using partition::cortex_a78;
using partition::cortex_x1;
using partition::device;
using partition::neoverse_n1;
using partition::neoverse_v1;
using partition::xeon;
using partition::zen_4;
using partition::zen_5;
}  // namespace ago
