// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Number formats of files, and their conversion: floats of every width become float32, integers int64.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ago::onnx {

/// The layout of a float with fewer bits than float32: sign, exponent, mantissa.
struct small_float {
  enum class special { infinities, one_nan, negative_zero_nan };

  int exponent, mantissa, bias;
  special top;  ///< how infinities and NaN are encoded
};

inline constexpr small_float half{5, 10, 15, small_float::special::infinities};
inline constexpr small_float bfloat16{8, 7, 127, small_float::special::infinities};
inline constexpr small_float float8_e4m3{4, 3, 7, small_float::special::one_nan};
inline constexpr small_float float8_e4m3_uz{4, 3, 8, small_float::special::negative_zero_nan};
inline constexpr small_float float8_e5m2{5, 2, 15, small_float::special::infinities};
inline constexpr small_float float8_e5m2_uz{5, 2, 16, small_float::special::negative_zero_nan};

/// Exact: every such number is representable as float32.
inline float widen(small_float f, std::uint32_t bits) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  std::uint32_t const sign = bits >> (f.exponent + f.mantissa) & 1;
  std::uint32_t const highest = (1u << f.exponent) - 1, full = (1u << f.mantissa) - 1;
  std::uint32_t const exponent = bits >> f.mantissa & highest, mantissa = bits & full;
  if (f.top == small_float::special::infinities && exponent == highest) {
    return mantissa ? nan : sign ? -infinity : infinity;
  }
  if (f.top == small_float::special::one_nan && exponent == highest && mantissa == full) return nan;
  if (f.top == small_float::special::negative_zero_nan && sign && exponent == 0 && mantissa == 0) return nan;
  if (exponent == 0) {
    float const size = std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa);
    return sign ? -size : size;
  }
  auto const wide = static_cast<std::uint32_t>(static_cast<int>(exponent) - f.bias + 127);
  return std::bit_cast<float>(sign << 31 | wide << 23 | mantissa << (23 - f.mantissa));
}

/// Rounds; numbers beyond float32 become infinite.
inline float narrow(double x) {
  if (std::fabs(x) > static_cast<double>(std::numeric_limits<float>::max()) && std::isfinite(x)) {
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(std::copysign(1.0, x)));
  }
  return static_cast<float>(x);
}

/// A number as bytes in little-endian order (`big`: in big-endian order), whatever this machine's order is.
template <class T>
T from_bytes(char const* bytes, bool big = false) {
  char ordered[sizeof(T)];
  if (big == (std::endian::native == std::endian::big)) {
    std::memcpy(ordered, bytes, sizeof(T));
  } else {
    for (std::size_t i = 0; i < sizeof(T); ++i) ordered[i] = bytes[sizeof(T) - 1 - i];
  }
  T x;
  std::memcpy(&x, ordered, sizeof(T));
  return x;
}

}  // namespace ago::onnx
