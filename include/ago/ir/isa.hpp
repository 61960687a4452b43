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

constexpr bool is_emulated(isa target) { return target == isa::emulated128 || target == isa::emulated512; }

/// Floats in one vector register.
constexpr int lanes(isa target) {
  switch (target) {
    case isa::scalar: return 1;
    case isa::avx2: return 8;
    case isa::avx512:
    case isa::emulated512: return 16;
    case isa::sse2:
    case isa::sse42:
    case isa::neon:
    case isa::emulated128: return 4;
  }
  no_case_for_this_value();
}

/// Vector registers that a register tile may use.
constexpr int vector_registers(isa target) {
  switch (target) {
    case isa::scalar:
    case isa::sse2:
    case isa::sse42:
    case isa::avx2: return 16;
    case isa::avx512:
    case isa::neon:
    case isa::emulated128:
    case isa::emulated512: return 32;
  }
  no_case_for_this_value();
}

/// Does `target` multiply a register by one lane of another?
constexpr bool has_lane_fma(isa target) { return target == isa::neon || target == isa::emulated128; }

/// Are its inner loops scheduled by hand? emulated128 uses the same functions without a fixed order.
constexpr bool is_scheduled_by_hand(isa target) { return has_lane_fma(target); }

constexpr char const* name_of(isa target) {
  switch (target) {
    case isa::scalar: return "scalar";
    case isa::sse2: return "sse2";
    case isa::sse42: return "sse4.2";
    case isa::avx2: return "avx2+fma";
    case isa::avx512: return "avx512";
    case isa::neon: return "neon64";
    case isa::emulated128: return "emulated128";
    case isa::emulated512: return "emulated512";
  }
  return "?";
}

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

/// The instruction set of the same processor with registers half as long; the same if kernels have none.
constexpr isa narrower(isa target) { return target == isa::avx512 ? isa::avx2 : target; }

/// Does it broadcast two adjacent floats to a register of at least four pairs in one instruction?
constexpr bool has_pairs(isa target) {
  return target == isa::avx2 || target == isa::avx512 || target == isa::emulated512;
}

}  // namespace ago::ir

namespace ago {
using ir::available;
using ir::isa;
using ir::name_of;
using ir::native_isa;
}  // namespace ago
