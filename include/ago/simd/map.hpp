// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls a user's lambda with the kernel's type of register.
#pragma once

#include <ago/ir/user_function.hpp>
#include <ago/simd/math.hpp>
#include <ago/simd/standard_functions.hpp>

namespace ago::simd {

template <class F, isa I>
AGO_INLINE bool map_register([[maybe_unused]] isa target, [[maybe_unused]] void* register_,
                             [[maybe_unused]] float alpha, [[maybe_unused]] float beta) {
  if constexpr (available(I)) {
    if (target != I) return false;
    auto& x = *static_cast<vec<I>*>(register_);
    if constexpr (requires { F{}(x, x, x); }) x = F{}(x, vec<I>(alpha), vec<I>(beta));
    else if constexpr (requires { F{}(x, x); }) x = F{}(x, vec<I>(alpha));
    else x = F{}(x);
    return true;
  } else {
    return false;
  }
}

}  // namespace ago::simd

template <class F>
AGO_INLINE void ago::ir::user_code<F>::apply(isa target, void* x, float alpha, float beta) {
  using simd::map_register;
  using enum isa;
  (void)(map_register<F, avx512>(target, x, alpha, beta) || map_register<F, avx2>(target, x, alpha, beta) ||
         map_register<F, sse42>(target, x, alpha, beta) || map_register<F, sse2>(target, x, alpha, beta) ||
         map_register<F, neon>(target, x, alpha, beta) || map_register<F, scalar>(target, x, alpha, beta) ||
         map_register<F, emulated128>(target, x, alpha, beta) || map_register<F, emulated512>(target, x, alpha, beta));
}
