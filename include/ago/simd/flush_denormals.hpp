// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Denormal numbers as zero.
#pragma once

#include <ago/requirements.hpp>

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace ago::simd {

/// While it lives, this thread computes with zero in place of denormal operands and results, on x86 and aarch64. Each
/// denormal takes Intel's processors a hundred cycles and more, and gradients that vanish are denormal before they are
/// zero: a step of SC-RNN took ten times as long.
class flush_denormals {
 public:
  flush_denormals() noexcept : before_(mode()) { set(before_ | flushes); }
  ~flush_denormals() { set(before_); }
  flush_denormals(flush_denormals const&) = delete;
  flush_denormals& operator=(flush_denormals const&) = delete;

#if defined(__SSE__)
  static constexpr bool available = true;

 private:
  static constexpr std::uint64_t flushes = 0x8040;  // FTZ and DAZ of MXCSR
  static std::uint64_t mode() noexcept { return _mm_getcsr(); }
  static void set(std::uint64_t mode) noexcept { _mm_setcsr(unsigned(mode)); }
#elif defined(__aarch64__)
  static constexpr bool available = true;

 private:
  static constexpr std::uint64_t flushes = 1 << 24;  // FZ of FPCR
  static std::uint64_t mode() noexcept {
    std::uint64_t r;
    asm volatile("mrs %0, fpcr" : "=r"(r));
    return r;
  }
  static void set(std::uint64_t mode) noexcept { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  static constexpr bool available = false;

 private:
  static constexpr std::uint64_t flushes = 0;
  static std::uint64_t mode() noexcept { return 0; }
  static void set(std::uint64_t) noexcept {}
#endif

  std::uint64_t before_;
};

}  // namespace ago::simd
