// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The version of ago; the build reads it from here.
#pragma once

#include <ago/requirements.hpp>

#include <compare>

namespace ago {

/// Semantic versioning.
struct version_number {
  int major, minor, patch;
  constexpr auto operator<=>(version_number const&) const = default;
};

inline constexpr version_number version{.major = 0, .minor = 2, .patch = 0};

}  // namespace ago
