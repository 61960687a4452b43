// Instruction sets as values: every stage of the pipeline names its target by one of these.
#pragma once

#include <cstdint>

namespace ago {

/// An instruction set that kernels are generated for. A template argument everywhere, never a bare macro, so that
/// translation units built with different flags do not share a symbol.
enum class isa : std::uint8_t { scalar, sse2, sse42, avx2, avx512, neon };

/// Floats in one vector register.
constexpr int lanes(isa target) {
  switch (target) {
    case isa::scalar: return 1;
    case isa::avx2: return 8;
    case isa::avx512: return 16;
    default: return 4;
  }
}

/// Vector registers that a register tile may use.
constexpr int vector_registers(isa target) { return target == isa::avx512 || target == isa::neon ? 32 : 16; }

constexpr char const* name_of(isa target) {
  switch (target) {
    case isa::scalar: return "scalar";
    case isa::sse2: return "sse2";
    case isa::sse42: return "sse4.2";
    case isa::avx2: return "avx2+fma";
    case isa::avx512: return "avx512";
    case isa::neon: return "neon64";
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
  if (native_isa == isa::neon || target == isa::neon) return target == native_isa || target == isa::scalar;
  return target <= native_isa;
}

}  // namespace ago
