// Runs a user's lambda on whatever register the kernel works with.
#pragma once

#include <ago/graph/user_function.hpp>
#include <ago/kernel/simd.hpp>

namespace ago {

namespace detail {
template <class F, isa I>
AGO_INLINE bool map_register([[maybe_unused]] isa target, [[maybe_unused]] void* register_) {
  if constexpr (available(I)) {
    if (target != I) return false;
    auto& x = *static_cast<vec<I>*>(register_);
    x = F{}(x);
    return true;
  } else {
    return false;
  }
}
}  // namespace detail

template <class F>
AGO_INLINE void user_code<F>::apply(isa target, void* register_) {
  using enum isa;
  (void)(detail::map_register<F, avx512>(target, register_) || detail::map_register<F, avx2>(target, register_) ||
         detail::map_register<F, sse42>(target, register_) || detail::map_register<F, sse2>(target, register_) ||
         detail::map_register<F, neon>(target, register_) || detail::map_register<F, scalar>(target, register_) ||
         detail::map_register<F, emulated128>(target, register_) ||
         detail::map_register<F, emulated512>(target, register_));
}

}  // namespace ago
