// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions are declared that compute one constant from others.
#pragma once

#include <ago/requirements.hpp>

/// With optimisation, g++ evaluates calls with constant arguments in the bodies of constexpr functions even if these
/// are evaluated themselves, that is, twice; in those of consteval functions it does not. Clang evaluates the latter
/// twice.
#ifdef __clang__
#define AGO_CONSTEVAL constexpr
#else
#define AGO_CONSTEVAL consteval
#endif
