// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peak of one core: multiply-adds without memory accesses.
#pragma once

#include <ago/simd/simd.hpp>

namespace bench {

/// Keeps the compiler from removing the computation of `sums`.
template <int N>
void use(ago::simd::vec<ago::native_isa> (&sums)[N]) {
  float lanes[ago::ir::lanes(ago::native_isa)];
  for (int i = 1; i < N; ++i) sums[0] = sums[0] + sums[i];
  sums[0].store(lanes);
  float volatile sink = 0;
  for (float const x : lanes) sink = sink + x;
}

/// Runs independent chains of fused multiply-adds on the widest registers of this translation unit. Returns the number
/// of floating-point operations, two for each multiply-add. With the default number of rounds it takes about 0.6 ms.
inline double peak_loop(long rounds = 400'000) {
  using vec = ago::simd::vec<ago::native_isa>;
  constexpr int chains = 12;  // at least latency 4-5 x 2 units; fits 16 registers together with the two factors
  // Not benchmark::DoNotOptimize: with "+m,r" of release 1.7, g++ 12 loses the value.
  float const volatile half = .5f, one = 1.f;
  vec const scale(half), shift(one);
  vec sum[chains];
  for (int i = 0; i < chains; ++i) sum[i] = vec(float(i));
#pragma GCC unroll 1
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sum[i] = fma(sum[i], scale, shift);
  }
  use(sum);
  return 2. * chains * vec::size * rounds;
}

}  // namespace bench
