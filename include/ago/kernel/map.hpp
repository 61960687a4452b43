// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a user's lambda on whatever register the kernel works with.
#pragma once

#include <ago/graph/user_function.hpp>
#include <ago/kernel/math.hpp>

#include <utility>

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
}  // namespace detail

template <class F>
AGO_INLINE void user_code<F>::apply(isa target, void* register_, float alpha, float beta) {
  using enum isa;
  auto const on = [&]<isa... I>(std::integer_sequence<isa, I...>) __attribute__((always_inline)) {
    (void)(detail::map_register<F, I>(target, register_, alpha, beta) || ...);
  };
  on(std::integer_sequence<isa, avx512, avx2, sse42, sse2, neon, scalar, emulated128, emulated512>{});
}

}  // namespace ago
