// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instruction sets as values, by which every stage of the pipeline identifies its target.
#pragma once

#include <ago/ir/enumerators.hpp>

#include <cstdint>

namespace ago::ir {

/// An instruction set that kernels are generated for. It is always a template argument, never a bare macro, so that
/// translation units built with different flags do not share a symbol. The emulated ones run the code for other
/// machines' registers (emulated128: for neon's) on any machine, as plain loops over floats.
enum class isa : std::uint8_t { scalar, sse2, sse42, avx2, avx512, neon, emulated128, emulated512 };

/// What the library knows of an instruction set, apart from its operations, which are in a file of `simd/`.
struct isa_facts {
  isa which{};
  char const* name{};
  int lanes{};      ///< floats in one vector register
  int registers{};  ///< vector registers that a register tile may use
  bool lane_fma{};  ///< it multiplies a register by one lane of another
  bool pairs{};     ///< it broadcasts two adjacent floats to a register of at least four pairs in one instruction
  bool emulated{};
  bool streams{};           ///< it has stores that pass by the caches; registers fill whole lines of these
  isa narrower = which;     ///< that of the same processor with registers half as long; itself if kernels have none
  isa of_four = which;      ///< with registers of four floats, for short runs; itself if there are no longer ones
  int for_product{};        ///< registers that a multiply-add needs besides its operands and its sum
  bool broadcasts_apart{};  ///< a number to multiply by is broadcast by an instruction that multiply-adds wait for
};
inline constexpr isa_facts isa_table[] = {
    {isa::scalar, "scalar", 1, 16},
    {.which = isa::sse2, .name = "sse2", .lanes = 4, .registers = 16, .streams = true, .for_product = 1},
    {.which = isa::sse42, .name = "sse4.2", .lanes = 4, .registers = 16, .streams = true, .for_product = 1},
    {.which = isa::avx2,
     .name = "avx2+fma",
     .lanes = 8,
     .registers = 16,
     .pairs = true,
     .streams = true,
     .of_four = isa::sse2,
     .broadcasts_apart = true},
    {.which = isa::avx512,
     .name = "avx512",
     .lanes = 16,
     .registers = 32,
     .pairs = true,
     .streams = true,
     .narrower = isa::avx2,
     .of_four = isa::sse2},
    {.which = isa::neon, .name = "neon64", .lanes = 4, .registers = 32, .lane_fma = true},
    {.which = isa::emulated128, .name = "emulated128", .lanes = 4, .registers = 32, .lane_fma = true, .emulated = true},
    {.which = isa::emulated512,
     .name = "emulated512",
     .lanes = 16,
     .registers = 32,
     .pairs = true,
     .emulated = true,
     .streams = true,
     .of_four = isa::emulated128},
};
static_assert(in_order(isa_table, &isa_facts::which) && has_enumerators<isa, lines_of(isa_table)>());

constexpr int lanes(isa target) { return isa_table[int(target)].lanes; }
constexpr int vector_registers(isa target) { return isa_table[int(target)].registers; }
constexpr bool has_lane_fma(isa target) { return isa_table[int(target)].lane_fma; }
constexpr bool has_pairs(isa target) { return isa_table[int(target)].pairs; }
constexpr bool has_streaming_stores(isa target) { return isa_table[int(target)].streams; }
constexpr bool is_emulated(isa target) { return isa_table[int(target)].emulated; }
constexpr isa narrower(isa target) { return isa_table[int(target)].narrower; }
constexpr isa of_four(isa target) { return isa_table[int(target)].of_four; }
constexpr int registers_for_product(isa target) { return isa_table[int(target)].for_product; }
constexpr bool broadcasts_apart(isa target) { return isa_table[int(target)].broadcasts_apart; }
constexpr char const* name_of(isa target) { return isa_table[int(target)].name; }

/// Are its inner loops scheduled by hand? emulated128 uses the same functions without a fixed order.
constexpr bool is_scheduled_by_hand(isa target) { return has_lane_fma(target); }

/// The widest instruction set that this translation unit is compiled for.
inline constexpr isa native_isa =
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
    isa::avx512;
#elif defined(__AVX2__) && defined(__FMA__)
    isa::avx2;
#elif defined(__SSE4_2__)
    isa::sse42;
#elif defined(__SSE2__)
    isa::sse2;
#elif defined(__aarch64__)
    isa::neon;
#else
    isa::scalar;
#endif

/// Can kernels for `target` be instantiated in this translation unit?
constexpr bool available(isa target) {
  switch (target) {
    case isa::scalar:
    case isa::emulated128:
    case isa::emulated512: return true;
    case isa::neon: return native_isa == isa::neon;
    case isa::sse2:
    case isa::sse42:
    case isa::avx2:
    case isa::avx512: return native_isa != isa::neon && target <= native_isa;  // each includes those before it
  }
  no_case_for_this_value();
}

}  // namespace ago::ir

namespace ago {
using ir::available;
using ir::isa;
using ir::name_of;
using ir::native_isa;
}  // namespace ago
