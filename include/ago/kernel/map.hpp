// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a user's lambda on whatever register the kernel works with.
#pragma once

#include <ago/graph/user_function.hpp>
#include <ago/kernel/math.hpp>

namespace ago {

namespace detail {
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

/// For that of these instruction sets which is `target`.
template <class F, isa... Sets>
AGO_INLINE void map_one_of(isa target, void* register_, float alpha, float beta) {
  (void)(map_register<F, Sets>(target, register_, alpha, beta) || ...);
}
}  // namespace detail

template <class F>
AGO_INLINE void user_code<F>::apply(isa target, void* register_, float alpha, float beta) {
  using enum isa;
  detail::map_one_of<F, avx512, avx2, sse42, sse2, neon, scalar, emulated128, emulated512>(target, register_, alpha,
                                                                                           beta);
}

}  // namespace ago
