// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose index is a constant.
#pragma once

#include <ago/simd/instructions.hpp>

#include <utility>

namespace ago::simd {

/// f<0>(), ..., f<N - 1>()
template <int N, class F>
AGO_INLINE void unrolled(F f) {
  [&]<int... K>(std::integer_sequence<int, K...>)
      AGO_INLINE_LAMBDA { (f.template operator()<K>(), ...); }(std::make_integer_sequence<int, N>());
}

}  // namespace ago::simd
