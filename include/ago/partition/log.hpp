// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Natural logarithm of loop extents, in integers: the same bits on every compiler, with any flags, at compile time and
// run time.
#pragma once

#include <ago/requirements.hpp>

#include <bit>
#include <cstdint>

namespace ago::partition {

/// ln(n) in units of 2^-32, for 1 <= n < 2^31; error below 1e-9. Integer arithmetic only, so contraction to FMA or
/// -ffast-math cannot change it; std::log is not a constant expression on clang.
constexpr std::uint64_t fixed_log(std::uint32_t n) {
  using whole = std::int64_t;
  constexpr whole one = whole(1) << 32, ln2_48 = 0xb17217f7d1cf;  // ln 2 in units of 2^-48
  int const floor = std::bit_width(n) - 1;
  // The nearest power of two: n / power lies in [1/sqrt 2, sqrt 2), and |z| < 0.1716, z = (n - power) / (n + power).
  int const exponent = floor + (std::uint64_t(n) * n >> (2 * floor + 1) != 0);
  whole const power = whole(1) << exponent;
  whole const twice_z = (whole(n) - power) * (2 * one) / (whole(n) + power), y = twice_z * twice_z >> 34;  // y = z^2
  // ln(n / power) = 2 artanh z = 2 z (1 + y/3 + y^2/5 + ...)
  whole const series =
      y * (one / 3 + (y * (one / 5 + (y * (one / 7 + (y * (one / 9 + (y * (one / 11) >> 32)) >> 32)) >> 32)) >> 32)) >>
      32;
  return std::uint64_t((exponent * ln2_48 >> 16) + twice_z + (twice_z * series >> 32));
}

}  // namespace ago::partition
