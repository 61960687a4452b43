// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks compiler, flags and processor before any other header is read.
#pragma once

// After #error compilers read on and print hundreds of lines; a missing include file stops them.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "ago: C++20 is needed; compile with -std=c++20"
#include <ago stops here>
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ago: big-endian processors are not supported"
#include <ago stops here>
#elif defined(__arm__)
#error "ago: 32-bit Arm is not supported; compile for 64-bit Arm (aarch64)"
#include <ago stops here>
// Without exact rounding, exp, log, sin, the rounding functions and the treatment of NaN would be silently wrong.
#elif defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "ago: results are wrong under -ffast-math, -Ofast and similar flags; add -fno-fast-math where ago is included"
#include <ago stops here>
#endif

#include <ago/namespaces.hpp>
