// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of the standard library in a user's operator.
// expect: ago: a map's lambda works on SIMD registers: call math::exp\(x\) and the like instead of std::exp\(x\)
// flags: -DFUNCTION=0
// flags: -DFUNCTION=1
// flags: -DFUNCTION=2
// flags: -DFUNCTION=3
// flags: -DFUNCTION=4
#include <ago/ago.hpp>

#include <algorithm>
#include <cmath>
#include <complex>

using namespace ago;

template <int Function>
constexpr auto user = [](auto x) {
  if constexpr (Function == 0) return std::exp(x);
  else if constexpr (Function == 1) return std::sqrt(x);
  else if constexpr (Function == 2) return std::abs(x);
  else if constexpr (Function == 3) return std::max(x, decltype(x)(0.f));
  else if constexpr (Function == 4) return std::pow(x, 2.f);
  else return math::exp(x);
};
#ifdef AGO_POSITIVE
#define FUNCTION -1
#endif
inline constexpr auto net = input{.c = 3} | linear{3} | map{user<FUNCTION>};
static_assert(model<net>::steps == 1);
