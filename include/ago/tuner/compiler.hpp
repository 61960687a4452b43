// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How this translation unit was compiled, for logs and banners.
#pragma once

#include <ago/requirements.hpp>

#include <string>

namespace ago::tuner {

inline std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

/// Flags as the build system defines them in AGO_TUNER_FLAGS; otherwise what the compiler reveals.
inline std::string compiler_flags() {
#if defined(AGO_TUNER_FLAGS)
  return AGO_TUNER_FLAGS;
#elif defined(__OPTIMIZE__)
  return "optimised";
#else
  return "not optimised";
#endif
}

}  // namespace ago::tuner
